"""Edits of the clusters that rehearsals draw, with all that a cluster.yaml can say: what comes out loads.

An edit may be refused: blocks want to be full, a rack names hosts one by one. It is never wrong in silence.
"""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES
from slurmwright.model.cluster import Cluster
from slurmwright.model.edit import add, change, remove, replace
from slurmwright.model.edit.words import cluster_of

DRAWN = Path(__file__).parents[2] / "rehearse" / "test_drawn_clusters.py"
FILE = "cluster.yaml"


@pytest.fixture(scope="module")
def drawn() -> ModuleType:
    """The strategies of the rehearsals."""
    spec = importlib.util.spec_from_file_location("drawn_clusters", DRAWN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["drawn_clusters"] = module
    spec.loader.exec_module(module)
    return module


def hosts_of(cluster: Cluster) -> list[str]:
    return [host for group in cluster.nodes for host in group.hosts]


def test_edits_of_any_cluster_load_again_and_undo_each_other(drawn: ModuleType) -> None:
    outcomes: Counter[str] = Counter()

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(SERIES).flatmap(drawn.inventories), st.data())
    def draw(inventory: Any, data: Any) -> None:
        text = drawn._yaml(inventory.cluster)
        try:
            cluster = cluster_of(text, FILE)
        except InputError:
            outcomes["not drawn well"] += 1
            return
        every = hosts_of(cluster)
        host = data.draw(st.sampled_from(every))
        group = next(one for one in cluster.nodes if host in one.hosts)
        where = ["10.250.0.1"] if group.address else []
        try:
            added = add(text, FILE, ["zz-new1"], host, where)
        except InputError:
            outcomes["add refused"] += 1
        else:
            outcomes["added"] += 1
            assert sorted(hosts_of(added.cluster)) == sorted([*every, "zz-new1"])
            assert remove(added.text, FILE, ["zz-new1"]).cluster == cluster
        swapped = replace(text, FILE, host, "zz-new2")
        assert replace(swapped.text, FILE, "zz-new2", host).cluster.partitions == cluster.partitions
        try:
            left = remove(text, FILE, [host])
        except InputError:
            outcomes["remove refused"] += 1
        else:
            outcomes["removed"] += 1
            assert hosts_of(left.cluster) == [one for one in every if one != host]
        try:
            weighed = change(text, FILE, [host], {"weight": "77"})
        except InputError:
            outcomes["change refused"] += 1
        else:
            assert [one.hosts for one in weighed.cluster.nodes if one.weight == 77] == [(host,)]
            assert hosts_of(weighed.cluster) == every

    draw()
    assert outcomes["added"]
    assert outcomes["removed"]
