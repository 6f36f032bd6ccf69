"""A cluster to the way in which its hosts are reached: over SSH, at their addresses, as root or with sudo."""

from __future__ import annotations

from collections.abc import Sequence

from slurmwright.apply import placing
from slurmwright.apply.hosts import Hosts
from slurmwright.core.run import Local, Result, Runner
from slurmwright.model.cluster import Cluster
from slurmwright.verify.ways import over_ssh

#: A host where root is not let in, and sudo asks for no password.
_AS_ROOT = 'if [ "$(id -u)" = 0 ]; then exec "$@"; else exec sudo -n -- "$@"; fi'


class OverSsh:
    """Hosts as `ssh` reaches them; nothing is asked, so that nothing waits for an answer."""

    def __init__(self, addresses: dict[str, str], runner: Runner) -> None:
        self._addresses, self._runner = addresses, runner

    def run(self, host: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 60) -> Result:
        way = over_ssh(self._addresses.get(host, host), self._runner)
        return way.run(["sh", "-c", _AS_ROOT, "sh", *argv], stdin=stdin, limit_s=limit_s)

    def put(self, host: str, path: str, text: str, *, owner: str, group: str, mode: str) -> Result:
        return placing.put(self.run, host, path, text, owner=owner, group=group, mode=mode)


def addresses_of(cluster: Cluster) -> dict[str, str]:
    """host → where it is reached, for servers and nodes with an address."""
    control = cluster.control
    found = {
        host: address
        for group in cluster.nodes
        if group.address
        for host, address in zip(group.hosts, group.address, strict=True)
    }
    database = (control.database,) if control.database else ()
    for server in (*control.controllers, *database, *control.login):
        if server.address:
            found[server.host] = server.address
    return found


def hosts_of(cluster: Cluster) -> Hosts:
    """Every host of the cluster."""
    return OverSsh(addresses_of(cluster), Local())
