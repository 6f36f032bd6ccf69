"""Facts to the hosts whose pyxis was built for another Slurm than cluster.yaml names.

None of their jobs would start, for plugstack.conf requires it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slurmwright.core.hosts import fold
from slurmwright.core.spank_plugin import same_series
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts


@dataclass(frozen=True)
class PluginBuild:
    """One plugin as hosts have it; `built` is such as 24.11.5."""

    path: str
    built: str
    hosts: str


def plugin_builds(facts: Mapping[str, HostFacts]) -> tuple[PluginBuild, ...]:
    """Every plugin that discovery read, with its hosts."""
    found: dict[tuple[str, str], list[str]] = {}
    for host, fact in sorted(facts.items()):
        if fact.system and fact.system.pyxis and fact.system.pyxis_slurm:
            found.setdefault((fact.system.pyxis, fact.system.pyxis_slurm), []).append(host)
    return tuple(PluginBuild(path, built, fold(hosts)) for (path, built), hosts in sorted(found.items()))


def misfits(cluster: Cluster, facts: Mapping[str, HostFacts]) -> tuple[str, ...]:
    """A sentence for each plugin that the cluster's Slurm would refuse."""
    runs = str(cluster.slurm.release)
    if cluster.containers is None:
        return ()
    return tuple(
        f"{one.hosts}: {one.path} was built for Slurm {one.built}, and cluster.yaml says "
        f"{runs}, which refuses it; "
        "bring a pyxis built for it in the same push (pyxis_packages), or no job step starts there"
        for one in plugin_builds(facts)
        if not same_series(one.built, runs)
    )
