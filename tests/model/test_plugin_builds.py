"""Facts of pyxis' plugin against the Slurm of cluster.yaml."""

from __future__ import annotations

from collections.abc import Callable

from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import FORMAT, HostFacts, SystemFact
from slurmwright.model.plugin_builds import misfits

Load = Callable[[str], Cluster]


def facts(**built: str) -> dict[str, HostFacts]:
    return {
        host: HostFacts(format=FORMAT, host=host, system=SystemFact(pyxis="/opt/p.so", pyxis_slurm=version))
        for host, version in built.items()
    }


def test_hosts_with_a_plugin_of_another_release_are_named_together(load: Load, good: str) -> None:
    cluster = load(good + "containers: {runtime: enroot-pyxis}\n")
    (said,) = misfits(cluster, facts(gpu01="23.11.4", gpu02="23.11.4", gpu03="24.11.9"))
    assert said.startswith("gpu[01-02]: /opt/p.so was built for Slurm 23.11.4, and cluster.yaml says 24.11")


def test_without_containers_nothing_is_asked(load: Load, good: str) -> None:
    assert misfits(load(good), facts(gpu01="23.11.4")) == ()
