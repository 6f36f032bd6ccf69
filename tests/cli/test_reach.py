"""Files and commands through `ssh` and the shell of the other side, as they were given."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path

import pytest

from slurmwright.cli.reach import OverSsh
from slurmwright.core.run import Local

#: As sshd does it: the words after the host go to the account's shell as one line.
SSH = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\n[ -n "$LOST" ] && exit 255\nexec sh -c "$*"\n'


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OverSsh:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "ssh").write_text(SSH, encoding="utf-8")
    (bin_folder / "sudo").write_text('#!/bin/sh\nshift 2\nexec "$@"\n', encoding="utf-8")
    for tool in bin_folder.iterdir():
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}:{os.environ['PATH']}")
    return OverSsh({}, Local())


def test_a_file_arrives_whole_with_its_mode_and_nothing_beside_it(hosts: OverSsh, tmp_path: Path) -> None:
    path = tmp_path / "etc" / ".slurm.conf.new"
    text = "# 'quotes' \"double\" $HOME `id` \\ é\n\nNodeName=n1\n"
    owner = pwd.getpwuid(os.getuid()).pw_name
    group = grp.getgrgid(os.getgid()).gr_name
    for _ in range(2):
        done = hosts.put("n1", str(path), text, owner=owner, group=group, mode="0640")
        assert done.ok, done.err
        assert path.read_text(encoding="utf-8") == text
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert list(path.parent.iterdir()) == [path]


def test_a_file_of_an_owner_that_the_host_does_not_know_is_not_left_half_done(
    hosts: OverSsh, tmp_path: Path
) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text("former\n", encoding="utf-8")
    done = hosts.put("n1", str(path), "new\n", owner="nobody-here", group="nobody-here", mode="0644")
    assert not done.ok
    assert path.read_text(encoding="utf-8") == "former\n"
    assert [one.name for one in tmp_path.iterdir() if one.name != "bin"] == ["slurm.conf"]


def test_words_reach_the_command_as_they_were_given(hosts: OverSsh) -> None:
    done = hosts.run("n1", ["printf", "%s|", "a b", "$HOME", "it's", ""])
    assert done.out == "a b|$HOME|it's||"


def test_a_host_that_is_not_reached_ends_as_ssh_does(hosts: OverSsh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOST", "1")
    assert hosts.run("n1", ["true"]).code == 255
