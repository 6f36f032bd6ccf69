"""Runs the collecting script on one host over SSH, as OpenSSH's own configuration says, and nothing else.

ssh_config, ProxyJump, the agent and known_hosts count as for `ssh`. A host key that is not known is refused:
who accepted it blindly would write the facts of whoever answers.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import paramiko

from slurmwright.core.errors import InputError

_MOST_BYTES = 20_000_000
_MOST_HOPS = 8
#: paramiko logs tracebacks of its threads; the reason of each host is in its HostError.
logging.getLogger("paramiko").addHandler(logging.NullHandler())
logging.getLogger("paramiko").propagate = False


class HostError(Exception):
    """Why one host gave nothing; the others go on."""


class Reader(Protocol):
    """Something that runs a script on a host and gives its output; raises HostError."""

    def read(self, host: str, script: str) -> str: ...

    def stop(self) -> None:
        """End what is running, from another thread."""


@dataclass(frozen=True)
class SshOptions:
    """`user` beats ssh_config. `limit_s` is for a whole host, `connect_s` for getting in."""

    config: Path = Path("~/.ssh/config")
    user: str | None = None
    connect_s: float = 15
    limit_s: float = 180


class SshReader:
    """Over SSH. `addresses` name where a host is reached, when that is not its name."""

    def __init__(self, options: SshOptions, addresses: Mapping[str, str] | None = None) -> None:
        self._options = options
        self._addresses = dict(addresses or {})
        self._open: dict[int, list[paramiko.SSHClient]] = {}
        self._stopped = False
        self._config = _read_config(options.config)

    def read(self, host: str, script: str) -> str:
        clients: list[paramiko.SSHClient] = []
        self._open[id(clients)] = clients
        try:
            client = self._connect(host, clients, self._addresses.get(host))
            return self._run(client, script)
        except HostError:
            raise
        except Exception as error:
            raise HostError(_reason(error)) from error
        finally:
            del self._open[id(clients)]
            _close(clients)

    def stop(self) -> None:
        self._stopped = True
        for clients in list(self._open.values()):
            _close(clients)

    def _connect(
        self,
        host: str,
        clients: list[paramiko.SSHClient],
        address: str | None = None,
        through: paramiko.SSHClient | None = None,
        depth: int = 0,
    ) -> paramiko.SSHClient:
        if self._stopped:
            raise HostError("stopped")
        user, _, name = host.rpartition("@")
        name, port = _port(name)
        found = self._config.lookup(name)
        target = found.get("hostname", name)
        target = address if address and target == name else target
        number = port or int(found.get("port", 22))
        keys = [str(Path(key).expanduser()) for key in found.get("identityfile", [])]
        way = (
            self._tunnel(through, target, number)
            if through
            else self._way(found, target, number, clients, depth)
        )
        client = _client(found)
        clients.append(client)
        client.connect(
            target,
            number,
            username=user or self._options.user or found.get("user"),
            key_filename=keys or None,  # type: ignore[arg-type] # a list is taken too, as documented
            sock=way,
            timeout=self._options.connect_s,
            banner_timeout=self._options.connect_s,
            auth_timeout=self._options.connect_s,
            # Under IdentitiesOnly OpenSSH asks the agent for the named keys; paramiko offers all of them.
            allow_agent=found.get("identityagent") != "none",
            look_for_keys=not _only_files(found),
        )
        return client

    def _way(
        self, found: Mapping[str, Any], target: str, port: int, clients: list[paramiko.SSHClient], depth: int
    ) -> Any:
        jumps = found.get("proxyjump", "none")
        if jumps != "none":
            return self._tunnel(self._hop(jumps.split(","), clients, depth + 1), target, port)
        command = found.get("proxycommand", "none")
        return None if command == "none" else paramiko.ProxyCommand(command)

    def _tunnel(self, before: paramiko.SSHClient, target: str, port: int) -> paramiko.Channel:
        transport = before.get_transport()
        assert transport is not None  # noqa: S101 - it is connected
        return transport.open_channel(
            "direct-tcpip", (target, port), ("127.0.0.1", 0), timeout=self._options.connect_s
        )

    def _hop(self, jumps: list[str], clients: list[paramiko.SSHClient], depth: int) -> paramiko.SSHClient:
        """Through all of them; each hop reads ssh_config for itself."""
        if depth > _MOST_HOPS:
            raise HostError("ProxyJump goes in a circle")
        last: paramiko.SSHClient | None = None
        for jump in jumps:
            last = self._connect(jump.strip(), clients, through=last, depth=depth)
        assert last is not None  # noqa: S101 - split() gives one at least
        return last

    def _run(self, client: paramiko.SSHClient, script: str) -> str:
        """One command: sh reads the script from its input, whatever shell the account has."""
        transport = client.get_transport()
        assert transport is not None  # noqa: S101 - it is connected
        channel = transport.open_session(timeout=self._options.connect_s)
        channel.settimeout(self._options.limit_s)
        channel.exec_command("exec /bin/sh -s")
        channel.sendall(script.encode())
        channel.shutdown_write()
        end = time.monotonic() + self._options.limit_s
        parts: list[bytes] = []
        size = 0
        while True:
            channel.settimeout(max(0.1, end - time.monotonic()))
            part = channel.recv(65536)
            if not part:
                break
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                raise HostError(f"sends more than {_MOST_BYTES} bytes; that is not what the script prints")
            if time.monotonic() > end:
                raise TimeoutError
        return b"".join(parts).decode(errors="replace")


def _read_config(named: Path) -> paramiko.SSHConfig:
    """Only the usual file may be missing."""
    path = named.expanduser()
    if named == SshOptions.config and not path.exists():
        return paramiko.SSHConfig()
    try:
        return paramiko.SSHConfig.from_path(str(path))
    except OSError as error:
        raise InputError.of(f"cannot be read: {error.strerror}", str(path)) from None
    except Exception as error:
        raise InputError.of(f"is no ssh_config that paramiko reads: {error}", str(path)) from None


def _close(clients: list[paramiko.SSHClient]) -> None:
    for client in reversed(list(clients)):
        client.close()


def _client(found: Mapping[str, Any]) -> paramiko.SSHClient:
    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(paramiko.RejectPolicy())
    files = found.get("userknownhostsfile", "~/.ssh/known_hosts").split()
    for name in [*files, *found.get("globalknownhostsfile", "/etc/ssh/ssh_known_hosts").split()]:
        path = Path(name).expanduser()
        if path.is_file():
            client.load_system_host_keys(str(path))
    return client


def _only_files(found: Mapping[str, Any]) -> bool:
    return str(found.get("identitiesonly", "no")).lower() == "yes"


def _port(name: str) -> tuple[str, int | None]:
    head, colon, tail = name.rpartition(":")
    return (head, int(tail)) if colon and tail.isdecimal() and ":" not in head else (name, None)


def _reason(error: Exception) -> str:
    """In a person's words, with what to do."""
    if isinstance(error, paramiko.BadHostKeyException):
        return "its host key is not the one in known_hosts; somebody else answers, or it was installed anew"
    if isinstance(error, paramiko.PasswordRequiredException):
        return "the private key is locked by a passphrase; add it to ssh-agent"
    if isinstance(error, paramiko.BadAuthenticationType):
        ways = ", ".join(error.allowed_types)
        return f"lets nobody in by key, only by {ways}; passwords are never asked for, install a key"
    if isinstance(error, paramiko.AuthenticationException):
        return "refused the key or asks for a password; passwords are never asked for, install a key"
    text = str(error)
    if "not found in known_hosts" in text:
        return "its host key is in no known_hosts; connect once with ssh, compare the key and accept it"
    if "No authentication methods available" in text:
        return "no key and no agent to log in with; start ssh-agent or set IdentityFile"
    if isinstance(error, (TimeoutError, socket.timeout)):
        return "did not answer in time"
    return f"cannot be reached: {text or type(error).__name__}"
