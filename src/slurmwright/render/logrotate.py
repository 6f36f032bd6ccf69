"""slurm.conf's log files to logrotate's rules: the daemons open a new log on SIGUSR2 and drop no connection.

The names are those of Debian's packages, whose own files they replace: two rules for one log are an error to
logrotate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from slurmwright.core.bundle import BundleFile
from slurmwright.model.cluster import Cluster
from slurmwright.render.plain import Block, plain_file

_RULES = (
    "weekly",
    "maxsize 200M",
    "rotate 8",
    "compress",
    "delaycompress",
    "missingok",
    "notifempty",
    "nocreate",
)


def logrotate_files(
    cluster: Cluster, nodes: Sequence[str], settings: Mapping[str, str], database: Mapping[str, str]
) -> Iterator[BundleFile]:
    """One file for each daemon that logs to a file."""
    control = cluster.control
    of_database = [control.database.host] if control.database else []
    for daemon, log, hosts in (
        ("slurmctld", settings.get("SlurmctldLogFile"), [server.host for server in control.controllers]),
        ("slurmd", settings.get("SlurmdLogFile"), list(nodes)),
        ("slurmdbd", database.get("LogFile"), of_database),
    ):
        if log and "%" not in log:
            yield logrotate_file(cluster, daemon, log, hosts)


def logrotate_file(cluster: Cluster, daemon: str, log: str, hosts: Sequence[str]) -> BundleFile:
    """The rule for one daemon's log. The signal goes to the daemon alone, not to slurmstepd or jobs."""
    signal = f"systemctl kill --kill-who=main --signal=SIGUSR2 {daemon}.service >/dev/null 2>&1 || true"
    rules = (*_RULES, "postrotate", f"    {signal}", "endscript")
    lines = (f"{log} {{", *(f"    {rule}" for rule in rules), "}")
    reason = f"On SIGUSR2 {daemon} goes on in a new file; it neither restarts nor reads its configuration."
    return plain_file(cluster.name, f"/etc/logrotate.d/{daemon}", hosts, Block(reason, lines))
