"""Times `slurmwright discover` of 64 sshd on this machine beside `ansible -m setup` of the same hosts.

python benchmarks/discover.py [HOSTS]. Each host is an sshd of its own, on a port of its own, with keys that
are made for the run; both get the same ssh_config and the same number of connections at one time.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

HOSTS = 64
RUNS = 2


def ports(count: int) -> list[int]:
    """Free ones, all different."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in found]


@contextmanager
def servers(folder: Path, count: int) -> Iterator[None]:
    """So many sshd, and folder/ssh_config for b001 and on."""
    program = shutil.which("sshd", path="/usr/sbin:/usr/bin") or sys.exit("no sshd; install openssh-server")
    for name in ("host", "client"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    public = (folder / "host.pub").read_text()
    config, known, running = [], [], []
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    for at, port in enumerate(ports(count), 1):
        text = (
            f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder}/host\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {folder}/client.pub\nStrictModes no\nPermitRootLogin yes\n"
            "Subsystem sftp internal-sftp\n"
        )
        own = folder / f"sshd_{at}"
        own.write_text(text)
        running.append(subprocess.Popen([program, "-D", "-f", own], stderr=subprocess.DEVNULL))
        known.append(f"[127.0.0.1]:{port} {public}")
        config.append(f"Host b{at:03d}\n HostName 127.0.0.1\n Port {port}\n")
    config.append(
        f"Host *\n User {getpass.getuser()}\n IdentityFile {folder}/client\n IdentitiesOnly yes\n"
        f" UserKnownHostsFile {folder}/known_hosts\n GlobalKnownHostsFile /dev/null\n"
    )
    (folder / "ssh_config").write_text("".join(config))
    (folder / "known_hosts").write_text("".join(known))
    time.sleep(2)
    try:
        yield
    finally:
        for one in running:
            one.terminate()
        for one in running:
            one.wait()


def measure(command: list[str], **more: str) -> tuple[float, float]:
    """Seconds by the clock and CPU seconds of the program and its children here (not of the hosts)."""
    start, before = time.perf_counter(), os.times()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **more}, check=False)
    seconds, after = time.perf_counter() - start, os.times()
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, cpu


def main() -> None:
    """One row for each program, the best of a few runs."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else HOSTS
    with tempfile.TemporaryDirectory() as name, servers(Path(name), count):
        folder = Path(name)
        hosts = f"b[001-{count:03d}]"
        ours = [sys.executable, "-m", "slurmwright.cli.main", "discover", "-i", name, hosts]
        ours += ["--ssh-config", f"{name}/ssh_config", "--at-once", str(count)]
        inventory = folder / "hosts.ini"
        python = "ansible_python_interpreter=/usr/bin/python3"
        inventory.write_text("".join(f"b{at:03d} {python}\n" for at in range(1, count + 1)))
        theirs = [str(Path(sys.executable).parent / "ansible"), "all", "-i", str(inventory), "-m", "setup"]
        theirs += ["-f", str(count)]
        arguments = {"ANSIBLE_SSH_ARGS": f"-F {name}/ssh_config", "ANSIBLE_LOCALHOST_WARNING": "false"}
        print(f"{'':>22} hosts  seconds    CPU s")
        for told, command, more in (
            ("slurmwright discover", ours, {}),
            ("ansible -m setup", theirs, arguments),
        ):
            seconds, cpu = min(measure(command, **more) for _ in range(RUNS))
            print(f"{told:>22} {count:>5} {seconds:>8.1f} {cpu:>8.1f}")


if __name__ == "__main__":
    main()
