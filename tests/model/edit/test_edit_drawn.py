"""Edits of drawn cluster.yaml files: each loads again, and to add hosts and remove them is to do nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.core.hosts import fold_in_order
from slurmwright.model.cluster import Cluster
from slurmwright.model.edit import add, change, remove, replace
from slurmwright.model.edit.words import cluster_of
from slurmwright.model.units import units

FILE = "cluster.yaml"
FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MAYBE = st.booleans()


@st.composite
def group(draw: st.DrawFn, at: int) -> str:
    """The lines of one group in one of the ways that people write it."""
    count = draw(st.integers(3, 9))
    hosts = [f"{'abc'[at]}{number:02}" for number in range(1, count + 1)]
    written = f'"{fold_in_order(hosts)}"' if draw(MAYBE) else fold_in_order(hosts)
    if draw(MAYBE):
        cut = draw(st.integers(1, count - 1))
        written = f'["{fold_in_order(hosts[:cut])}", "{fold_in_order(hosts[cut:])}"]'
        if draw(MAYBE):
            written = f"\n      - {fold_in_order(hosts[:cut])}\n      - {fold_in_order(hosts[cut:])}"
    lines = [f"  - hosts: {written}".replace(": \n", ":\n"), "    type: dgx-h100   # what it is"]
    if draw(MAYBE):
        lines += ["    # addresses", f"    address: 10.{at}.0.[1-{count}]"]
    if draw(MAYBE):
        size = draw(st.integers(1, 4))
        names = f', names: "{"rst"[at]}[1-{-(-count // size)}]"' if draw(MAYBE) and count > size else ""
        lines += [f"    racks: {{size: {size}{names}}}"]
    if draw(MAYBE):
        lines += ["    exceptions:", "      # by hand", f"      {hosts[1]}: {{gpus_missing: [5]}}"]
    return "\n".join(lines) + "\n" + draw(st.sampled_from(["", "\n", "  # the next\n", "\n\n# far left\n"]))


@st.composite
def text(draw: st.DrawFn) -> str:
    groups = "".join(draw(group(at)) for at in range(draw(st.integers(1, 3))))
    racked = groups.count("racks:") == groups.count("hosts:")
    topology = "topology: tree  # leaves\n" if racked and draw(MAYBE) else ""
    parts = (
        '  - {name: all, nodes: all, default: true}\n  - name: few  # two\n    nodes: {hosts: "a[01-02]"}\n'
    )
    return (
        '# ours\nname: lab\nslurm: {release: "24.11"}\n\ncontrol: {controllers: [ctl1]}\n'
        f"nodes:\n{groups}\n{topology}partitions:\n{parts}# the end\n"
    )


def comments(written: str) -> list[str]:
    return sorted(line.partition("#")[2] for line in written.splitlines() if "#" in line)


def beside(cluster: Cluster) -> dict[str, frozenset[str]]:
    if cluster.topology is None:
        return {}
    found = units(cluster.topology, cluster.nodes, cluster.node_types)
    return {host: frozenset(unit.hosts) for unit in found for host in unit.hosts}


@FEW
@given(text(), st.data())
def test_adding_and_removing_is_doing_nothing(before: str, data: Any) -> None:
    cluster = cluster_of(before, FILE)
    like = data.draw(st.sampled_from([host for one in cluster.nodes for host in one.hosts]))
    mine = next(one for one in cluster.nodes if like in one.hosts)
    hosts = [
        f"{like[0]}{len(mine.hosts) + number:02}" for number in range(1, data.draw(st.integers(1, 5)) + 1)
    ]
    added = add(before, FILE, hosts, like)
    assert {host for one in added.cluster.nodes for host in one.hosts} >= set(hosts)
    assert comments(added.text) == comments(before)
    again = remove(added.text, FILE, hosts)
    assert again.cluster == cluster
    assert comments(again.text) == comments(before)


@FEW
@given(text(), st.data())
def test_a_removed_host_leaves_the_others_as_they_were(before: str, data: Any) -> None:
    cluster = cluster_of(before, FILE)
    every = [host for one in cluster.nodes for host in one.hosts]
    gone = data.draw(st.lists(st.sampled_from(every), unique=True, min_size=1, max_size=4))
    if {"a01", "a02"} <= set(gone) or len(gone) == len(every):
        with pytest.raises(InputError, match=r"partition few|all nodes"):
            remove(before, FILE, gone)
        return
    edited = remove(before, FILE, gone)
    assert cluster_of(edited.text, FILE) == edited.cluster
    left = [host for one in edited.cluster.nodes for host in one.hosts]
    assert left == [host for host in every if host not in gone]
    former = beside(cluster)
    assert beside(edited.cluster) == {host: former[host] - set(gone) for host in former if host not in gone}


@FEW
@given(text(), st.data())
def test_a_replaced_or_changed_cluster_loads_again(before: str, data: Any) -> None:
    cluster = cluster_of(before, FILE)
    every = [host for one in cluster.nodes for host in one.hosts]
    old = data.draw(st.sampled_from(every))
    swapped = replace(before, FILE, old, "zz1")
    assert [host for one in swapped.cluster.nodes for host in one.hosts] == [
        "zz1" if host == old else host for host in every
    ]
    assert replace(swapped.text, FILE, "zz1", old).cluster.partitions == cluster.partitions
    some = data.draw(st.lists(st.sampled_from(every), unique=True, min_size=1, max_size=3))
    edited = change(before, FILE, some, {"weight": "5", "real_memory_mb": "2000000"})
    heavy = {host for one in edited.cluster.nodes if one.weight == 5 for host in one.hosts}
    marked = {
        host for one in edited.cluster.nodes for host, own in one.differing().items() if own.real_memory_mb
    }
    assert heavy == marked == set(some)
    assert beside(edited.cluster) == beside(cluster)
