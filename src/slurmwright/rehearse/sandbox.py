"""A private machine inside this one: own mounts, processes, network, host name; gone when it is closed.

The first process of the sandbox ends when its standard input closes, and the kernel then ends every process
of its PID namespace. So nothing survives this program, however it dies, and nothing needs to be cleaned by
name. All files live on a tmpfs that only the sandbox sees; the first process also removes the folder that it
was mounted on, since a killed program cannot.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.run import Local, Result

#: Reaps orphans, as the first process of a PID namespace must; ends at the end of its input, or stays after a
#: byte "k" until it is told to terminate (the kernel drops signals that such a process does not handle).
#: Plain Python, since a shell does not reap what it did not start.
_INIT = """
import ctypes, os, select, signal, sys
def end(*_):
    ctypes.CDLL(None).umount2(os.fsencode(sys.argv[1]), 2)
    try:
        os.rmdir(sys.argv[1])
    finally:
        os._exit(0)
signal.signal(signal.SIGTERM, end)
print(os.readlink("/proc/self"), flush=True)
watch = [0]
while True:
    ready = select.select(watch, [], [], 0.2)[0]
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    if ready:
        if os.read(0, 1) != b"k":
            end()
        watch = []
"""


class Sandbox:
    """Use as a context manager; `run` and `script` run inside. Needs root.

    `folder` is the path of the tmpfs inside; `path()` gives the same place as seen from outside.
    """

    def __init__(self) -> None:
        self._local = Local()
        self._init: subprocess.Popen[bytes] | None = None
        self.pid = 0
        self.folder = ""

    def __enter__(self) -> Sandbox:
        for tool in ("unshare", "nsenter", "ip", "chroot"):
            if shutil.which(tool) is None:
                package = {"ip": "iproute2", "chroot": "coreutils"}.get(tool, "util-linux")
                raise SlurmwrightError(f"'{tool}' is missing; install it: apt-get install {package}")
        if os.geteuid() != 0:
            raise SlurmwrightError(
                "a rehearsal needs root for its private mounts, device files and chroot; run it with sudo"
            )
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def _start(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="slurmwright-")
        flags = ("--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--kill-child")
        self._init = subprocess.Popen(
            ["unshare", *flags, sys.executable, "-I", "-S", "-c", _INIT, self.folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._init.stdout is not None and self._init.stderr is not None  # noqa: S101, PT018
        first = self._init.stdout.readline().strip()
        if not first.isdigit():
            why = self._init.stderr.read().decode(errors="replace").strip()
            why = why or "unshare failed"
            raise SlurmwrightError(f"this machine does not allow private namespaces: {why}")
        self.pid = int(first)
        self.script(
            f"mount -t proc proc /proc\n"
            f"mount -t tmpfs -o mode=755,size=80% slurmwright {shlex.quote(self.folder)}\n"
            "ip link set lo up\n"
        )

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End everything inside and wait until it is gone."""
        init, self._init = self._init, None
        if init is not None:
            assert init.stdin is not None  # noqa: S101
            init.stdin.close()
            try:
                init.wait(20)
            except subprocess.TimeoutExpired:
                init.kill()
            # Waits, and closes the pipes.
            init.__exit__(None, None, None)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def keep(self) -> None:
        """Let the sandbox outlive this program; only `kill` of its first process, `pid`, ends it then."""
        assert self._init is not None and self._init.stdin is not None  # noqa: S101, PT018
        self._init.stdin.write(b"k")
        self._init.stdin.flush()
        self._init = None
        self.folder = ""

    def enter_command(self, argv: Sequence[str]) -> str:
        """The line a person types to run `argv` in there."""
        return shlex.join([*self._into, *argv])

    @property
    def _into(self) -> list[str]:
        return ["nsenter", "--target", str(self.pid), "--mount", "--pid", "--net", "--uts", "--ipc", "--"]

    def path(self, inside: str) -> Path:
        """The path of a file inside as seen from outside."""
        return Path(f"/proc/{self.pid}/root{inside}")

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> Result:
        """Run a command inside. `env` replaces the environment; the default has a PATH and the C locale."""
        return self._local.run(
            [*self._into, *argv], stdin=stdin, env=env if env is not None else BASE_ENV, limit_s=limit_s
        )

    def script(self, text: str, *, limit_s: float = 120) -> str:
        """Run shell commands inside and give what they print; SlurmwrightError at the first failure.

        Nothing may be left in the background with the script's own output: it is read to its end.
        """
        result = self.run(["sh", "-eu", "-s"], stdin=text, limit_s=limit_s)
        if not result.ok:
            raise SlurmwrightError(f"the rehearsal's private machine could not be set up: {result.last_line}")
        return result.out


#: The environment of everything inside: nothing of the caller's leaks into a daemon or a job.
BASE_ENV = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
}
