"""A draft loads, says what the hosts show, and groups those that are alike."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.cpu_list import fold_cpus
from slurmwright.core.errors import InputError
from slurmwright.discover.draft import draft_cluster
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import CpuFact, GpuFact, HostFacts, MemoryFact, NumaFact, check_facts
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.render import render

DGX_B200 = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")


def _host(
    host: str,
    buses: tuple[str, ...] = DGX_B200,
    model: str = "NVIDIA B200",
    cores: int = 56,
    step: bool = False,
) -> HostFacts:
    total = 2 * cores
    nodes = [
        range(at, 2 * total, 2)
        if step
        else [*range(at * cores, (at + 1) * cores), *range(total + at * cores, total + (at + 1) * cores)]
        for at in range(2)
    ]
    return HostFacts(
        format="slurmwright/facts/1",
        host=host,
        cpu=CpuFact(
            threads_per_core=2,
            numa=tuple(NumaFact(id=at, socket=at, cpus=fold_cpus(cpus)) for at, cpus in enumerate(nodes)),
        ),
        memory=MemoryFact(real_memory_mb=2063892),
        gpus=tuple(
            GpuFact(pci=f"0000:{bus}:00.0", minor=at, numa=2 * at // len(buses), model=model)
            for at, bus in enumerate(buses)
        ),
    )


def _loaded(facts: dict[str, HostFacts]) -> Cluster:
    return cluster_from(parse_yaml(draft_cluster(facts), "cluster.yaml"))


def test_hosts_like_a_type_of_the_catalogue_get_that_type() -> None:
    facts = {host: _host(host) for host in ("gpu1", "gpu2", "gpu3")}
    cluster = _loaded(facts)
    (group,) = cluster.nodes
    assert (group.hosts, group.type) == (("gpu1", "gpu2", "gpu3"), "dgx-b200")
    check_facts(cluster, facts)
    assert render(cluster, facts).files


def test_hosts_like_no_type_get_one_of_their_own_that_says_what_was_seen() -> None:
    facts = {"n1": _host("n1", ("0a", "0b"), "NVIDIA H100 80GB HBM3", 24, True)}
    cluster = _loaded(facts)
    (group,) = cluster.nodes
    kind = cluster.node_types[group.type]
    assert (kind.cpu.sockets, kind.cpu.cores_per_socket, kind.cpu.numbering) == (2, 24, "interleaved")
    assert [(gpu.pci, gpu.numa) for gpu in kind.gpus] == [("0000:0a:00.0", 0), ("0000:0b:00.0", 1)]
    check_facts(cluster, facts)
    assert render(cluster, facts).files


def test_unlike_hosts_are_in_groups_and_partitions_of_their_own() -> None:
    facts = {"a1": _host("a1"), "b1": _host("b1", ("0a",)), "a2": _host("a2"), "c1": _host("c1", ())}
    cluster = _loaded(facts)
    assert [group.hosts for group in cluster.nodes] == [("a1", "a2"), ("b1",), ("c1",)]
    assert len(cluster.partitions) == 3
    check_facts(cluster, facts)


def test_a_gpu_that_the_catalogue_does_not_know_is_named_in_a_comment() -> None:
    text = draft_cluster({"n1": _host("n1", ("0a",), "NVIDIA X1")})
    assert '# "NVIDIA X1" is no one model of the catalogue' in text


def test_no_facts_of_cpus_is_an_error() -> None:
    with pytest.raises(InputError, match="discover the hosts first"):
        draft_cluster({"n1": HostFacts(format="slurmwright/facts/1", host="n1")})


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([f"n{at}" for at in range(6)]),
        st.tuples(
            st.sampled_from([(), ("0a",), DGX_B200[:4], DGX_B200]), st.sampled_from([8, 56]), st.booleans()
        ),
        min_size=1,
    )
)
def test_every_draft_loads_and_agrees_with_its_hosts(
    drawn: dict[str, tuple[tuple[str, ...], int, bool]],
) -> None:
    facts = {host: _host(host, buses, cores=cores, step=step) for host, (buses, cores, step) in drawn.items()}
    cluster = _loaded(facts)
    check_facts(cluster, facts)
    assert sorted(host for group in cluster.nodes for host in group.hosts) == sorted(facts)
