"""Start and stop of a daemon on one host: systemd on a cluster, a rehearsal brings its own way."""

from __future__ import annotations

from typing import Protocol

from slurmwright.apply.hosts import Hosts
from slurmwright.core.run import Result

_LIMIT_S = 180.0


class Daemons(Protocol):
    """Neither raises for a host that fails. A daemon that runs is started already, one that does not is
    stopped."""

    def start(self, host: str, daemon: str) -> Result: ...

    def stop(self, host: str, daemon: str) -> Result: ...

    def restart(self, host: str, daemon: str) -> Result: ...


class Systemd:
    """Units of systemd, which carry the daemons' names."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts

    def start(self, host: str, daemon: str) -> Result:
        # A unit that failed five times in a row would refuse a sixth start.
        script = 'systemctl reset-failed "$1" 2>/dev/null; exec systemctl start "$1"'
        return self._hosts.run(host, ["sh", "-c", script, "sh", daemon], limit_s=_LIMIT_S)

    def stop(self, host: str, daemon: str) -> Result:
        return self._hosts.run(host, ["systemctl", "stop", daemon], limit_s=_LIMIT_S)

    def restart(self, host: str, daemon: str) -> Result:
        script = 'systemctl reset-failed "$1" 2>/dev/null; exec systemctl restart "$1"'
        return self._hosts.run(host, ["sh", "-c", script, "sh", daemon], limit_s=_LIMIT_S)
