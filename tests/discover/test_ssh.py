"""Discovery over a real sshd: who is let in, who is refused and why, and that the others go on."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from slurmwright.cli.discover import discover
from slurmwright.core.errors import InputError
from slurmwright.model.facts import load_facts


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of something that takes a connection and never says a word."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen(5)
        yield int(one.getsockname()[1])


def _discover(folder: Path, config: str, hosts: str, *more: str) -> Result:
    (folder / "ssh_config").write_text(config)
    arguments = [
        "-i",
        str(folder),
        "--ssh-config",
        str(folder / "ssh_config"),
        "--format",
        "json",
        *more,
        hosts,
    ]
    return CliRunner().invoke(discover, arguments)


def _failed(result: Result) -> dict[str, str]:
    failed: dict[str, str] = json.loads(result.stdout)["failed"]
    return failed


def test_this_machine_is_read_over_ssh_and_its_facts_load(sshd: Any, tmp_path: Path) -> None:
    result = _discover(tmp_path, sshd.config("n1"), "n1")
    assert result.exit_code == 0, result.output
    facts = load_facts(tmp_path)["n1"]
    total = Path("/proc/meminfo").read_text().split()[1]
    assert facts.memory is not None
    assert facts.memory.real_memory_mb == int(total) // 1024
    assert facts.system is not None
    assert facts.system.kernel == Path("/proc/sys/kernel/osrelease").read_text().strip()


def test_a_second_run_writes_the_same_bytes(sshd: Any, tmp_path: Path) -> None:
    _discover(tmp_path, sshd.config("n1"), "n1")
    first = (tmp_path / "facts/n1.yaml").read_bytes()
    _discover(tmp_path, sshd.config("n1"), "n1")
    assert (tmp_path / "facts/n1.yaml").read_bytes() == first


def test_a_host_behind_a_jump_host_is_reached(sshd: Any, tmp_path: Path) -> None:
    config = sshd.config("jump") + sshd.config("n1", "ProxyJump jump")
    assert _discover(tmp_path, config, "n1").exit_code == 0


def test_a_host_that_cluster_yaml_does_not_have_is_read_with_a_note(sshd: Any, tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(
        'name: pod1\nslurm: {release: "24.11"}\ncontrol: {controllers: [ctl1]}\n'
        "nodes:\n  - {hosts: n1, type: dgx-h100}\npartitions:\n  - {name: p, nodes: all}\n"
    )
    result = _discover(tmp_path, sshd.config("n2"), "n2")
    assert (result.exit_code, "n2: no node of cluster.yaml yet" in result.stderr) == (0, True)


@pytest.mark.parametrize("text", ["Host n1\n Port twentytwo\n", "Match nonsense\n"])
def test_an_ssh_config_that_is_wrong_is_said_and_is_no_traceback(tmp_path: Path, text: str) -> None:
    result = _discover(tmp_path, text, "n1")
    assert result.exit_code == 2 or isinstance(result.exception, InputError)


def test_an_ssh_config_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    arguments = ["-i", str(tmp_path), "--ssh-config", str(tmp_path / "none"), "n1"]
    with pytest.raises(InputError, match="cannot be read: No such file"):
        raise CliRunner().invoke(discover, arguments).exception or AssertionError


def test_several_jump_hosts_are_gone_through_in_turn(sshd: Any, tmp_path: Path) -> None:
    config = sshd.config("j1") + sshd.config("j2") + sshd.config("n1", "ProxyJump j1,j2")
    assert _discover(tmp_path, config, "n1").exit_code == 0


def test_jump_hosts_that_need_each_other_are_an_error_of_that_host(sshd: Any, tmp_path: Path) -> None:
    config = sshd.config("n1", "ProxyJump n2") + sshd.config("n2", "ProxyJump n1")
    assert "in a circle" in _failed(_discover(tmp_path, config, "n1"))["n1"]


def test_facts_in_the_other_form_are_the_fault_of_their_host_only(sshd: Any, tmp_path: Path) -> None:
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts/n1.json").write_text("{}")
    result = _discover(tmp_path, sshd.config("n1") + sshd.config("n2"), "n1,n2")
    assert (result.exit_code, list(_failed(result))) == (1, ["n1"])
    assert (tmp_path / "facts/n2.yaml").exists()


@pytest.mark.parametrize(
    ("known", "lines", "words"),
    [
        ("no_hosts", (), "its host key is in no known_hosts"),
        ("wrong_hosts", (), "its host key is not the one in known_hosts"),
        ("no_hosts", ("StrictHostKeyChecking no",), "its host key is in no known_hosts"),
    ],
)
def test_a_host_key_is_never_accepted_blindly(
    sshd: Any, tmp_path: Path, known: str, lines: tuple[str, ...], words: str
) -> None:
    result = _discover(tmp_path, sshd.config("n1", *lines, known=known), "n1")
    assert (result.exit_code, words in _failed(result)["n1"]) == (2, True)
    assert not (tmp_path / "facts").exists()


@pytest.mark.parametrize(
    ("key", "words"), [("stranger", "passwords are never asked for"), ("locked", "add it to ssh-agent")]
)
def test_no_password_is_asked_for(sshd: Any, tmp_path: Path, key: str, words: str) -> None:
    config = sshd.config("n1").replace("/client\n", f"/{key}\n")
    result = _discover(tmp_path, config, "n1")
    assert words in _failed(result)["n1"]


def test_a_locked_key_that_the_agent_holds_lets_in(
    sshd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = tmp_path / "agent"
    running = subprocess.Popen(["ssh-agent", "-D", "-a", str(agent)], stdout=subprocess.DEVNULL)
    try:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
        while not agent.exists():
            time.sleep(0.01)
        subprocess.run(["ssh-add", "-q", f"{sshd.folder}/client"], check=True)
        config = sshd.config("n1").replace("/client\n", "/locked\n")
        assert _discover(tmp_path, config, "n1").exit_code == 0
    finally:
        running.terminate()
        running.wait()


def test_hosts_that_fail_do_not_stop_the_others(sshd: Any, tmp_path: Path, silent: int) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        config = (
            sshd.config("n1")
            + sshd.config("gone", port=closed.getsockname()[1])
            + sshd.config("slow", port=silent)
            + sshd.config("wrong", known="wrong_hosts")
        )
        result = _discover(tmp_path, config, "gone,slow,wrong,n1", "--connect-limit", "1")
    assert result.exit_code == 1
    assert list(_failed(result)) == ["gone", "slow", "wrong"]
    assert list(load_facts(tmp_path)) == ["n1"]


def test_a_host_that_says_something_else_is_reported(sshd: Any, tmp_path: Path) -> None:
    keys = sshd.folder / "authorized_keys"
    whole = keys.read_text()
    keys.write_text(f'command="echo maintenance until noon" {whole}')
    try:
        result = _discover(tmp_path, sshd.config("n1"), "n1")
    finally:
        keys.write_text(whole)
    assert "is not what the script prints" in _failed(result)["n1"]


def test_a_host_that_never_ends_is_left_after_the_limit(sshd: Any, tmp_path: Path) -> None:
    keys = sshd.folder / "authorized_keys"
    whole = keys.read_text()
    keys.write_text(f'command="sleep 60" {whole}')
    try:
        result = _discover(tmp_path, sshd.config("n1"), "n1", "--limit", "1")
    finally:
        keys.write_text(whole)
    assert "did not answer in time" in _failed(result)["n1"]
