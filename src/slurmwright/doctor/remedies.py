"""Findings to what may be done at once: one fixed command for a few causes, never made of what a host sent.

None of them ends a running job: slurmd may be restarted under jobs, which live on in their step daemons
(Slurm, Upgrade Guide). Whatever needs a decision, a file or a reboot stays with the admin.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from slurmwright.core.finding import Finding
from slurmwright.core.hosts import expand
from slurmwright.discover.ssh import HostError, Reader
from slurmwright.doctor.scan import printable

_RESTART = "systemctl restart slurmd"
_DEVICES = f"nvidia-modprobe -u -c=0 && {_RESTART}"
#: Kind of finding → command; in the order in which they are carried out.
COMMANDS = {
    "DR040": "chronyc -a makestep",
    "DR071": "modprobe nvidia_peermem",
    "DR088": "chmod 0666 /dev/nvidia[0-9]*",
    "DR003": _DEVICES,
    "DR004": _DEVICES,
    "DR031": _RESTART,
    "DR056": _RESTART,
    "DR063": _RESTART,
}
_DONE = "@@slurmwright mended"


@dataclass(frozen=True)
class Remedy:
    """One command on one host; `error` says how it ended where it was not well."""

    host: str
    command: str
    error: str = ""


def remedies(findings: Sequence[Finding], known: Collection[str]) -> tuple[Remedy, ...]:
    """What --fix would do on hosts of the inventory; each command once for a host, in the table's order."""
    order = list(COMMANDS)
    found = sorted((one for one in findings if one.rule in COMMANDS), key=lambda one: order.index(one.rule))
    pairs = [
        (host, COMMANDS[one.rule]) for one in found if one.host for host in expand(one.host) if host in known
    ]
    return tuple(Remedy(host, command) for host, command in dict.fromkeys(pairs))


def carry_out(
    planned: Sequence[Remedy], reader: Reader, at_once: int, ended: Callable[[Remedy], None]
) -> tuple[Remedy, ...]:
    """Run them, hosts side by side, one after the other on a host; what fails on a host ends it there."""
    by_host: dict[str, list[Remedy]] = {}
    for one in planned:
        by_host.setdefault(one.host, []).append(one)

    def on_host(own: list[Remedy]) -> list[Remedy]:
        done: list[Remedy] = []
        for one in own:
            before = done and done[-1].error
            error = "not tried, as the one before it failed" if before else _run(one, reader)
            done.append(Remedy(one.host, one.command, error))
            ended(done[-1])
        return done

    with ThreadPoolExecutor(max_workers=max(1, min(at_once, len(by_host)))) as pool:
        return tuple(one for own in pool.map(on_host, by_host.values()) for one in own)


def _run(one: Remedy, reader: Reader) -> str:
    lines = [
        'if [ "$(id -u)" = 0 ]; then as=; else as="sudo -n"; fi',
        f"if $as sh -c '{one.command}' </dev/null 2>&1; then echo '{_DONE}'; fi",
    ]
    try:
        text = reader.read(one.host, "\n".join(lines) + "\n")
    except HostError as error:
        return printable(str(error))
    said = [line for line in text.split("\n") if line.strip()]
    if said[-1:] == [_DONE]:
        return ""
    return printable(said[-1]) if said else "it failed and said nothing"
