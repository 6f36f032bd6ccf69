"""A sandbox is a machine of its own, and nothing of it is left however the program that holds it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from slurmwright.core.errors import SlurmwrightError
from slurmwright.rehearse.sandbox import Sandbox

#: Holds a sandbox in which a process runs; prints where it is, keeps it when told so, then waits.
_PROGRAM = """
import os, sys, time
from slurmwright.rehearse.sandbox import Sandbox
with Sandbox() as sandbox:
    sandbox.script("sleep 1000 >/dev/null 2>&1 &")
    print(sandbox.pid, sandbox.folder, os.readlink(f"/proc/{sandbox.pid}/ns/pid"), flush=True)
    if sys.argv[1] == "keep":
        sandbox.keep()
    elif sys.argv[1] == "raise":
        raise KeyError("of the program")
    else:
        time.sleep(1000)
"""


def members(namespace: str) -> list[int]:
    """The processes of a PID namespace."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(folder / "ns/pid") == namespace:
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def namespace_of(sandbox: Sandbox) -> str:
    return os.readlink(f"/proc/{sandbox.pid}/ns/pid")


def eventually(look: Callable[[], bool]) -> bool:
    for _ in range(300):
        if look():
            return True
        time.sleep(0.1)
    return False


def held_by_a_program(what: str) -> tuple[subprocess.Popen[str], int, Path, str]:
    """A running _PROGRAM and its sandbox's first process, folder and PID namespace."""
    # A run in the background is started with SIGINT ignored; a person's Ctrl-C is not.
    command = ["env", "--default-signal=INT", sys.executable, "-c", _PROGRAM, what]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout is not None
    pid, folder, namespace = program.stdout.readline().split()
    assert len(members(namespace)) >= 2 or what == "raise"
    return program, int(pid), Path(folder), namespace


def gone(folder: Path, namespace: str) -> bool:
    return (
        not members(namespace) and not folder.exists() and str(folder) not in Path("/proc/mounts").read_text()
    )


def test_an_ordinary_user_is_told_to_use_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda tool: f"/usr/bin/{tool}")
    with pytest.raises(SlurmwrightError, match="run it with sudo"), Sandbox():
        pass


@pytest.mark.parametrize(("tool", "package"), [("ip", "iproute2"), ("nsenter", "util-linux")])
def test_a_missing_program_names_its_package(
    tool: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == tool else f"/usr/bin/{name}")
    with pytest.raises(SlurmwrightError, match=rf"'{tool}' is missing.*apt-get install {package}"), Sandbox():
        pass


@pytest.mark.rehearsal
def test_a_command_inside_gives_its_output_and_exit_code() -> None:
    with Sandbox() as sandbox:
        result = sandbox.run(["sh", "-c", "cat; echo no >&2; exit 3"], stdin="yes")
    assert (result.code, result.out, result.err) == (3, "yes", "no\n")


@pytest.mark.rehearsal
def test_nothing_of_the_callers_environment_leaks_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_CONF", "/elsewhere/slurm.conf")
    with Sandbox() as sandbox:
        assert sorted(line.split("=")[0] for line in sandbox.run(["env"]).out.splitlines()) == [
            "HOME",
            "LC_ALL",
            "PATH",
        ]


@pytest.mark.rehearsal
def test_the_inside_has_its_own_processes_network_and_host_name() -> None:
    before = os.uname().nodename
    with Sandbox() as sandbox:
        assert sandbox.run(["sh", "-c", "cat /proc/1/comm; echo /proc/[0-9]*"]).out.split()[1] == "/proc/1"
        links = sandbox.run(["ip", "-brief", "link"]).out
        assert [line.split()[0] for line in links.splitlines()] == ["lo"]
        sandbox.script("hostname elsewhere")
        assert sandbox.run(["hostname"]).out == "elsewhere\n"
        assert os.uname().nodename == before


@pytest.mark.rehearsal
def test_a_file_inside_is_reached_from_outside_and_seen_by_no_other_program() -> None:
    with Sandbox() as sandbox:
        sandbox.script(f"echo hello > {sandbox.folder}/file")
        assert sandbox.path(f"{sandbox.folder}/file").read_text() == "hello\n"
        assert not (Path(sandbox.folder) / "file").exists()


@pytest.mark.rehearsal
def test_a_script_stops_at_its_first_failure_and_says_it() -> None:
    with Sandbox() as sandbox:
        with pytest.raises(SlurmwrightError, match=r"could not be set up: .*nowhere"):
            sandbox.script(f"ls /nowhere\ntouch {sandbox.folder}/late")
        assert not sandbox.path(f"{sandbox.folder}/late").exists()


@pytest.mark.rehearsal
def test_everything_is_gone_after_close() -> None:
    with Sandbox() as sandbox:
        sandbox.script("setsid sleep 1000 >/dev/null 2>&1 &")
        folder, namespace = Path(sandbox.folder), namespace_of(sandbox)
        assert folder.is_dir()
        assert len(members(namespace)) == 2
    assert gone(folder, namespace)


@pytest.mark.rehearsal
def test_closing_twice_is_harmless() -> None:
    with Sandbox() as sandbox:
        sandbox.close()


@pytest.mark.rehearsal
@pytest.mark.parametrize("error", [SlurmwrightError, KeyboardInterrupt])
def test_everything_is_gone_when_setting_up_fails(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Path, str]] = []

    def fail(sandbox: Sandbox, text: str) -> str:
        seen.append((Path(sandbox.folder), namespace_of(sandbox)))
        raise error

    monkeypatch.setattr(Sandbox, "script", fail)
    with pytest.raises(error), Sandbox():
        pass
    assert gone(*seen[0])


@pytest.mark.rehearsal
def test_everything_is_gone_after_an_exception() -> None:
    program, _, folder, namespace = held_by_a_program("raise")
    _, errors = program.communicate(timeout=30)
    assert "of the program" in errors
    assert gone(folder, namespace)


@pytest.mark.rehearsal
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_everything_is_gone_after_a_signal_to_the_program_that_holds_it(number: signal.Signals) -> None:
    program, _, folder, namespace = held_by_a_program("wait")
    program.send_signal(number)
    program.communicate(timeout=30)
    assert eventually(lambda: gone(folder, namespace))


@pytest.mark.rehearsal
def test_a_kept_sandbox_outlives_its_program_until_it_is_told_to_end() -> None:
    program, pid, folder, namespace = held_by_a_program("keep")
    program.communicate(timeout=30)
    assert program.returncode == 0
    try:
        assert len(members(namespace)) == 2
        os.kill(pid, signal.SIGTERM)
        assert eventually(lambda: gone(folder, namespace))
    finally:
        if members(namespace):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.rehearsal
def test_the_line_for_a_person_leads_inside() -> None:
    with Sandbox() as sandbox:
        sandbox.script(f"echo here > '{sandbox.folder}/a mark'")
        line = sandbox.enter_command(["cat", f"{sandbox.folder}/a mark"])
        shown = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert shown.stdout == "here\n"
