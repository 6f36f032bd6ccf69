"""What --fix does: shown and confirmed first, only fixed commands, and exit code 3 where one fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slurmwright.catalogue.findings import kinds_by_name
from slurmwright.cli.doctor import doctor
from slurmwright.core.finding import Finding, Severity
from slurmwright.doctor.remedies import COMMANDS, remedies

from .test_live import CLUSTER, Fleet

CLOSED = "crw-rw---- 1 root root 195, 0 Nov  1 10:00 /dev/nvidia0\n"


class Mending(Fleet):
    """Hosts that take commands; `answer` is what they print."""

    answer = "@@slurmwright mended\n"

    def __init__(self) -> None:
        super().__init__({"n1": {"devices": CLOSED}, "n2": {}})
        self.ran: list[tuple[str, str]] = []

    def read(self, host: str, script: str) -> str:
        if "chmod" in script and "@@slurmwright begin" not in script:
            self.ran.append((host, script))
            return self.answer
        return super().read(host, script)


def _call(monkeypatch: pytest.MonkeyPatch, folder: Path, fleet: Fleet, *words: str, said: str = "") -> Result:
    (folder / "cluster.yaml").write_text(CLUSTER)
    monkeypatch.setattr("slurmwright.discover.ssh.SshReader", lambda *_: fleet)
    return CliRunner().invoke(doctor, ["-i", str(folder), "n[1-2]", "--fix", *words], input=said)


def test_a_command_is_shown_with_its_hosts_and_run_after_a_yes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fleet = Mending()
    done = _call(monkeypatch, tmp_path, fleet, said="y\n")
    assert "n1: chmod 0666 /dev/nvidia[0-9]*" in done.stderr
    assert [host for host, _ in fleet.ran] == ["n1"]
    assert "1 of 1 commands went well" in done.stderr


def test_without_a_yes_nothing_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fleet = Mending()
    done = _call(monkeypatch, tmp_path, fleet, said="n\n")
    assert (fleet.ran, "nothing was changed" in str(done.exception)) == ([], True)


def test_a_command_that_fails_is_told_with_its_last_word_and_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fleet = Mending()
    fleet.answer = "sudo: a password is required\x1b[2J\n"
    done = _call(monkeypatch, tmp_path, fleet, "--yes")
    assert (done.exit_code, "a password is required" in done.stderr, "\x1b" in done.stderr) == (
        3,
        True,
        False,
    )


def test_captured_output_cannot_be_mended(tmp_path: Path) -> None:
    done = CliRunner().invoke(doctor, ["--from", str(tmp_path), "--fix"])
    assert (done.exit_code, "--inventory" in done.output) == (2, True)


def test_every_command_is_for_a_kind_of_finding_and_is_quoted_whole() -> None:
    assert all(rule.lower() in kinds_by_name() and "'" not in command for rule, command in COMMANDS.items())


def test_a_host_gets_each_command_once_whatever_its_findings() -> None:
    found = [Finding(rule, "x", Severity.ERROR, rule, host="n[1-2]") for rule in ("DR063", "DR031", "DR001")]
    assert [(one.host, one.command) for one in remedies(found, ["n1", "n2"])] == [
        ("n1", "systemctl restart slurmd"),
        ("n2", "systemctl restart slurmd"),
    ]


def test_a_host_that_is_not_in_the_inventory_gets_no_command() -> None:
    assert remedies([Finding("DR063", "x", Severity.ERROR, "x", host="elsewhere")], ["n1"]) == ()
