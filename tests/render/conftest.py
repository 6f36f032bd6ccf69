"""Clusters and facts to render, built from the few words in which a test differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from slurmwright.core.bundle import Bundle
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import CpuFact, GpuFact, HostFacts, MemoryFact, NumaFact
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.render import render

#: A type of our own whose numbers are easy to follow: two packages of four cores, two GPUs on each.
SMALL = """\
  small:
    cpu: {sockets: 2, cores_per_socket: 4, threads_per_core: 2, numa_per_socket: 1, numbering: contiguous}
    memory: {real_memory_mb: 64000}
    gpu: {model: h100, count: 4}
    gpus: [{index: 0, numa: 0}, {index: 1, numa: 0}, {index: 2, numa: 1}, {index: 3, numa: 1}]
"""

Make = Callable[..., Cluster]


@pytest.fixture(scope="session")
def make() -> Make:
    def cluster(
        nodes: str = '{hosts: "n[1-4]", type: small}',
        release: str = "24.11",
        types: str = "",
        control: str = "{controllers: [ctl1]}",
        partitions: str = "{name: p, nodes: all, default: true}",
        more: str = "",
    ) -> Cluster:
        lines = [
            "name: test",
            f'slurm: {{release: "{release}", nvml: true}}',
            f"control: {control}",
            "nodes:",
            *(f"  - {line}" for line in nodes.splitlines()),
            "partitions:",
            *(f"  - {line}" for line in partitions.splitlines()),
            "node_types:",
            SMALL + types,
            more,
        ]
        return cluster_from(parse_yaml("\n".join(lines) + "\n", "cluster.yaml"))

    return cluster


@pytest.fixture(scope="session")
def seen() -> Callable[..., HostFacts]:
    """Facts of one host: NUMA nodes as (id, package, cpus), GPUs as (minor, numa)."""

    def facts(
        host: str,
        numa: list[tuple[int, int, str]] | None = None,
        gpus: list[tuple[int, int | None]] | None = None,
        memory: int | None = None,
        threads: int = 2,
    ) -> HostFacts:
        return HostFacts(
            format="slurmwright/facts/1",
            host=host,
            cpu=CpuFact(
                threads_per_core=threads,
                numa=tuple(NumaFact(id=n, socket=socket, cpus=cpus) for n, socket, cpus in numa),
            )
            if numa
            else None,
            memory=MemoryFact(real_memory_mb=memory) if memory else None,
            gpus=tuple(
                GpuFact(pci=f"0000:{at + 1:02x}:00.0", minor=minor, numa=node)
                for at, (minor, node) in enumerate(gpus)
            )
            if gpus is not None
            else None,
        )

    return facts


@pytest.fixture(scope="session")
def text_of() -> Callable[..., str]:
    """The text of one rendered file of a cluster."""

    def text(cluster: Cluster, name: str, facts: Mapping[str, HostFacts] | None = None) -> str:
        bundle: Bundle = render(cluster, facts or {})
        file = bundle.find(f"/etc/slurm/{name}")
        assert file is not None
        return file.text

    return text
