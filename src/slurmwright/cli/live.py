"""An inventory and what its hosts hold to the former side of a plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import click

from slurmwright.apply.hosts import Hosts, on_each
from slurmwright.apply.live import read_live
from slurmwright.core.bundle import INDEX, Bundle, read_bundle
from slurmwright.core.hosts import fold
from slurmwright.model.cluster import Cluster
from slurmwright.plan.drift import Drift, drift_of

#: Who is at home answers sooner; a laptop without a way to the cluster does not wait longer.
_PROBE_S = 10.0


@dataclass(frozen=True)
class Former:
    """The former side of a plan. `unread` are hosts of which nothing is known, with the reason; `drift` is
    what somebody edited on the hosts."""

    bundle: Bundle
    unread: dict[str, str] = field(default_factory=dict)
    drift: tuple[Drift, ...] = ()


def reachable(hosts: Hosts, cluster: Cluster) -> str:
    """Why no controller answers; "" where one does."""
    names = [server.host for server in cluster.control.controllers]
    said = on_each(names, lambda host: hosts.run(host, ["true"], limit_s=_PROBE_S))
    if any(done.ok for done in said.values()):
        return ""
    return "; ".join(f"{host}: {done.last_line}" for host, done in said.items())


def former_of(hosts: Hosts, inventory: Path, new: Bundle) -> Former:
    """What the hosts hold now; raises SlurmwrightError where no slurm.conf could be read."""
    pushed = pushed_last(inventory)
    live = read_live(hosts, new, pushed)
    for host, why in live.unread.items():
        click.echo(f"{host}: {why}; the plan leaves it as it is", err=True)
    return Former(live.bundle, dict(live.unread), drift_of(live.bundle, new, pushed))


def pushed_last(inventory: Path) -> Bundle | None:
    """`rendered` beside cluster.yaml, where it is: the best that is known of what was pushed last."""
    folder = (inventory if inventory.is_dir() else inventory.parent) / "rendered"
    return read_bundle(folder)[0] if (folder / INDEX).exists() else None


def say_unread(former: Former) -> None:
    """Who is not part of the plan, once more where the plan ends."""
    if former.unread:
        click.echo(f"not read: {fold(former.unread)}; run plan again when they answer", err=True)
