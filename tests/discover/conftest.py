"""A real sshd of our own: its own port, keys, known_hosts and ssh_config, all below tmp_path."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Server:
    """Where it listens and the files a client needs."""

    port: int
    folder: Path

    def config(self, host: str, *lines: str, known: str = "known_hosts", port: int | None = None) -> str:
        """One block of an ssh_config."""
        own = (
            f"HostName 127.0.0.1\n Port {port or self.port}\n User {pwd.getpwuid(os.geteuid()).pw_name}\n"
            f" IdentityFile {self.folder}/client\n IdentitiesOnly yes\n"
            f" UserKnownHostsFile {self.folder}/{known}\n GlobalKnownHostsFile /dev/null\n"
        )
        return f"Host {host}\n " + own + "".join(f" {line}\n" for line in lines)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _key(path: Path, passphrase: str = "") -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", str(path)], check=True)


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    program = shutil.which("sshd", path="/usr/sbin:/usr/bin")
    if program is None:
        reason = "no sshd here: .ci/setup.sh installs openssh-server"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    folder = tmp_path_factory.mktemp("sshd")
    for name in ("host", "client", "stranger"):
        _key(folder / name)
    _key(folder / "locked", "a passphrase")
    shutil.copy(folder / "client.pub", folder / "authorized_keys")
    port = free_port()
    known = (folder / "host.pub").read_text()
    other = (folder / "stranger.pub").read_text()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {known}")
    (folder / "wrong_hosts").write_text(f"[127.0.0.1]:{port} {other}")
    (folder / "no_hosts").write_text("")
    (folder / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder}/host\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nPasswordAuthentication yes\n"
        "PermitRootLogin yes\nMaxStartups 200\nPrintMotd no\nAllowTcpForwarding yes\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    server = subprocess.Popen(
        [str(program), "-D", "-e", "-f", str(folder / "sshd_config")],
        stdout=subprocess.DEVNULL,
        stderr=(folder / "log").open("w"),
    )
    try:
        _wait(port, server, folder)
        yield Server(port, folder)
    finally:
        server.terminate()
        server.wait()


def _wait(port: int, server: subprocess.Popen[bytes], folder: Path) -> None:
    for _ in range(200):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError(f"sshd does not listen: {(folder / 'log').read_text()}")
