"""Starts, stops and asks virtual machines; nothing of them outlives this program unless they are kept.

A small keeper process starts every QEMU and ends them all, and removes their folder, when this program goes
away, however it dies; the kernel ends them with the keeper.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.run import Local, Result
from slurmwright.rehearse.machines.image import Image
from slurmwright.rehearse.machines.qemu import PROGRAM, Guest, command_line

#: Answers each line of JSON with one. At the end of its input it ends everything, unless told to keep it.
_KEEPER = """
import json, os, shutil, signal, subprocess, sys
running = {}
def end(*_):
    for one in running.values():
        one.kill()
    for one in running.values():
        one.wait()
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, signal.SIG_IGN)
for line in sys.stdin:
    verb, name, argv, log = json.loads(line)
    answer = True
    if verb == "start":
        with open(log, "a") as out:
            argv = ["setpriv", "--pdeathsig", "KILL", *argv]
            running[name] = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    elif verb == "stop":
        running[name].kill()
        running[name].wait()
    elif verb == "alive":
        answer = running[name].poll() is None
    elif verb == "keep":
        print("true", flush=True)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        while True:
            signal.pause()
    print(json.dumps(answer), flush=True)
end()
"""
#: Seconds; an emulated guest on a busy machine takes minutes.
BOOT_LIMIT_S = 900
_SSH_OPTIONS = (
    *("-F", "none", "-q", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "ConnectTimeout=30"),
    *("-o", "GlobalKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes", "-o", "ControlPersist=60"),
    *("-o", "ControlMaster=auto", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=6"),
)


@dataclass(frozen=True)
class Access:
    """How to log in on the guests: the throw-away key, and the host keys that must answer."""

    key: Path
    known_hosts: Path
    sockets: Path

    def ssh(self, port: int) -> list[str]:
        """The command that logs in on a guest."""
        return [
            *("ssh", *_SSH_OPTIONS, "-o", f"UserKnownHostsFile={self.known_hosts}"),
            *("-o", f"ControlPath={self.sockets}/%p", "-i", str(self.key), "-p", str(port), "root@127.0.0.1"),
        ]

    def shown(self, port: int) -> str:
        """The line for a person."""
        return f"ssh -i {self.key} -o UserKnownHostsFile={self.known_hosts} -p {port} root@127.0.0.1"


class Guests:
    """Use as a context manager. `folder` holds all there is of the guests; it goes with them."""

    def __init__(self) -> None:
        self._local = Local()
        self._keeper: subprocess.Popen[str] | None = None
        self._kept = False
        self.folder = Path()
        self.guests: Mapping[str, Guest] = {}
        self.access = Access(Path(), Path(), Path())

    def __enter__(self) -> Guests:
        for tool, package in (
            (PROGRAM, "qemu-system-x86"),
            ("qemu-img", "qemu-utils"),
            ("ssh", "openssh-client"),
        ):
            if shutil.which(tool) is None:
                raise SlurmwrightError(f"'{tool}' is missing; install it: apt-get install {package}")
        self.folder = Path(tempfile.mkdtemp(prefix="slurmwright-"))
        self.access = Access(self.folder / "key", self.folder / "known_hosts", self.folder)
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-c", _KEEPER, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        if self._keeper is None or self._kept:
            return
        assert self._keeper.stdin is not None  # noqa: S101 - it is a pipe
        self._keeper.stdin.close()
        try:
            self._keeper.wait(30)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        """Ending this process ends all guests and removes their folder."""
        return self._keeper.pid if self._keeper else 0

    def keep(self) -> None:
        """Leave the guests up when this program ends."""
        self._tell("keep")
        self._kept = True

    def make_disk(self, guest: Guest, image: Image) -> None:
        """A fresh disk over the image, which stays as it is."""
        argv = [
            "qemu-img",
            "create",
            "-q",
            "-f",
            "qcow2",
            "-F",
            "raw",
            "-b",
            str(image.disk),
            str(guest.disk),
        ]
        done = self._local.run(argv)
        if not done.ok:
            raise SlurmwrightError(f"no disk for {guest.name}: {done.last_line}")

    def start(self, guest: Guest, image: Image, kvm: bool, kernel_options: str = "") -> None:
        """Switch a guest on."""
        argv = command_line(guest, image.kernel, image.initrd, kvm, kernel_options)
        self._tell("start", guest.name, argv, str(guest.folder / "qemu.log"))

    def cut_power(self, name: str) -> None:
        """Switch a guest off as a power failure does."""
        self._tell("stop", name)

    def wait_for_ssh(self, names: Sequence[str], progress: Callable[[int], None]) -> None:
        """Return when all of them let us in; SlurmwrightError has the console of one that does not."""
        end = time.monotonic() + BOOT_LIMIT_S
        for done, name in enumerate(names):
            progress(done)
            while not self.ssh(name, ["true"], limit_s=60).ok:
                guest = self.guests[name]
                if not self._tell("alive", name):
                    raise SlurmwrightError(f"QEMU of {name} ended: {_last_line(guest.folder / 'qemu.log')}")
                if time.monotonic() > end:
                    raise SlurmwrightError(
                        f"{name} does not answer after {BOOT_LIMIT_S} s; the last line of its console: "
                        f"{_last_line(guest.console)}"
                    )
                time.sleep(1)
        progress(len(names))

    def ssh(self, name: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 120) -> Result:
        """Run a command as root on a guest; its words reach the guest's shell as they are."""
        return self._local.run(
            [*self.access.ssh(self.guests[name].ssh_port), "--", *argv], stdin=stdin, limit_s=limit_s
        )

    def _tell(self, verb: str, name: str = "", argv: Sequence[str] = (), log: str = "") -> Any:
        assert self._keeper is not None  # noqa: S101 - inside the context
        assert self._keeper.stdin is not None  # noqa: S101 - it is a pipe
        assert self._keeper.stdout is not None  # noqa: S101 - it is a pipe
        self._keeper.stdin.write(json.dumps([verb, name, list(argv), log]) + "\n")
        self._keeper.stdin.flush()
        answer = self._keeper.stdout.readline()
        if not answer:
            raise SlurmwrightError("the process that keeps the guests has ended")
        return json.loads(answer)


def _last_line(path: Path) -> str:
    try:
        lines = [line.strip() for line in path.read_text(errors="replace").splitlines() if line.strip()]
    except OSError:
        lines = []
    return lines[-1] if lines else "nothing"
