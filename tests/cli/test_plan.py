"""`slurmwright plan` from the outside: its sides, its forms, its exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from slurmwright.core.bundle import read_bundle
from slurmwright.core.hosts import expand

EXAMPLE = Path(__file__).parents[2] / "inventories" / "lab-1node"


#: Stands for ssh: a host is a folder below $HOSTS, and what is run there finds its own /etc.
SSH = """\
#!/bin/sh
while [ "$1" != -- ]; do host=$1; shift; done
[ -d "$HOSTS/$host" ] || { echo "ssh: $host: no route to host" >&2; exit 255; }
sed "s#/etc/#$HOSTS/$host/etc/#g" | sh -s | sed "s#$HOSTS/$host/etc/#/etc/#g"
"""


def slurmwright(*words: str | Path, hosts: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "slurmwright.cli.main", *map(str, words)]
    environ = dict(os.environ)
    if hosts is not None:
        environ |= {"HOSTS": str(hosts), "PATH": f"{hosts}/bin:{environ['PATH']}"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environ)


@pytest.fixture
def hosts(inventory: Path, tmp_path: Path) -> Path:
    """The hosts of the inventory as folders, each holding what was rendered for it."""
    folder = tmp_path / "hosts"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/ssh").write_text(SSH, encoding="utf-8")
    (folder / "bin/ssh").chmod(0o755)
    # Owners are compared too, and only root can give files away.
    bundle, _ = read_bundle(inventory / "rendered")
    for file in bundle.files:
        for host in expand(file.hosts):
            place = folder / host / file.path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(file.text, encoding="utf-8")
            place.chmod(int(file.mode, 8))
    return folder


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    folder = tmp_path / "lab"
    shutil.copytree(EXAMPLE, folder)
    return folder


def edit(inventory: Path) -> None:
    file = inventory / "cluster.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text + "\noverrides:\n  slurm.conf: {KillWait: 60}\n", encoding="utf-8")


def test_nothing_to_do_is_exit_0(inventory: Path) -> None:
    done = slurmwright("plan", "--no-live", "-i", inventory)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("nothing to do\n")


def test_a_change_is_exit_1_and_ends_in_the_line_to_quote(inventory: Path) -> None:
    edit(inventory)
    done = slurmwright("plan", "--no-live", "-i", inventory)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "slurm.conf"
    assert lines[1] == "  + KillWait: 60"
    assert "hosts contacted" in lines[-2]
    assert lines[-1].endswith("1 hosts contacted")


def test_json_is_the_plan_and_output_writes_the_same(inventory: Path, tmp_path: Path) -> None:
    edit(inventory)
    done = slurmwright("plan", "--no-live", "-i", inventory, "--format", "json", "-o", tmp_path / "plan.json")
    document = json.loads(done.stdout)
    assert document["format"] == "slurmwright/plan/1"
    assert [change["subject"] for change in document["changes"]] == ["KillWait"]
    assert json.loads((tmp_path / "plan.json").read_text(encoding="utf-8")) == document


def test_an_edited_bundle_is_compared_as_it_is_and_named(inventory: Path) -> None:
    file = inventory / "rendered/etc/slurm/slurm.conf"
    file.write_text(file.read_text(encoding="utf-8") + "KillWait=99\n", encoding="utf-8")
    done = slurmwright("plan", "--no-live", "-i", inventory)
    assert done.returncode == 1
    assert "  - KillWait: 99" in done.stdout
    assert "etc/slurm/slurm.conf was edited" in done.stderr


def test_a_commit_is_rendered_as_it_was(inventory: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", inventory, *who, *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    edit(inventory)
    done = slurmwright("plan", "--no-live", "-i", inventory, "--against-git", "HEAD")
    assert done.returncode == 1
    assert "  + KillWait: 60" in done.stdout
    assert (
        slurmwright("plan", "--no-live", "-i", inventory / "cluster.yaml", "--against-git", "HEAD").returncode
        == 1
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--against-git", "nosuch"), "git has no inventory of revision 'nosuch'"),
        (("--against-git", "--help"), "is no revision of git"),
        (("--against", "/nonexistent"), "is missing; expected a folder that `slurmwright render` wrote"),
        (("--against", "x", "--against-git", "y"), "exclude each other"),
    ],
)
def test_what_cannot_be_compared_is_exit_2(inventory: Path, words: tuple[str, ...], message: str) -> None:
    done = slurmwright("plan", "-i", inventory, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_plan_that_was_edited_is_not_rehearsed(inventory: Path, tmp_path: Path) -> None:
    edit(inventory)
    path = tmp_path / "plan.json"
    slurmwright("plan", "--no-live", "-i", inventory, "-o", path)
    path.write_text(path.read_text(encoding="utf-8").replace("KillWait", "MinJobAge", 1), encoding="utf-8")
    done = slurmwright("rehearse", "-i", inventory, "--plan", path)
    assert done.returncode == 2
    assert "make the plan again" in done.stderr


def test_a_plan_is_rehearsed_by_itself(inventory: Path) -> None:
    done = slurmwright("rehearse", "-i", inventory, "--plan", "p.json", "--keep")
    assert done.returncode == 2
    assert "--plan goes with" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="files on hosts belong to root")
def test_without_a_word_the_hosts_are_read(inventory: Path, hosts: Path) -> None:
    done = slurmwright("plan", "-i", inventory, hosts=hosts)
    assert (done.returncode, done.stderr) == (0, "")
    edit(inventory)
    done = slurmwright("plan", "-i", inventory, hosts=hosts)
    assert done.returncode == 1
    assert "  + KillWait: 60" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="files on hosts belong to root")
def test_a_hand_edit_on_a_host_is_shown_with_its_lines_and_its_meaning(inventory: Path, hosts: Path) -> None:
    bundle, _ = read_bundle(inventory / "rendered")
    main = next(file for file in bundle.files if file.path.endswith("/slurm.conf"))
    held = hosts / expand(main.hosts)[0] / main.path.lstrip("/")
    held.write_text(main.text + "KillWait=99\n", encoding="utf-8")
    done = slurmwright("plan", "-i", inventory, hosts=hosts)
    assert done.returncode == 1
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[0] == "edited on hosts, not pushed from here"
    assert lines[2:4] == ["+KillWait=99", "KillWait: not said → 99"]
    assert "- KillWait: 99" in lines
    document = json.loads(slurmwright("plan", "-i", inventory, "--format", "json", hosts=hosts).stdout)
    assert [drift["lines"] for drift in document["drift"]] == [["+KillWait=99"]]


def test_where_no_controller_answers_what_was_rendered_last_counts_and_it_is_said(
    inventory: Path, hosts: Path
) -> None:
    for host in list(hosts.iterdir()):
        if host.name != "bin":
            shutil.rmtree(host)
    done = slurmwright("plan", "-i", inventory, hosts=hosts)
    assert done.returncode == 0
    assert "no route to host); compared with what was rendered last" in done.stderr
    done = slurmwright("plan", "-i", inventory, "--live", hosts=hosts)
    assert done.returncode == 2
    assert "no host gives its slurm.conf" in done.stderr
