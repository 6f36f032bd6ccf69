"""cgroup.conf: confinement is on in every release, and can be added to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slurmwright.conf import parse
from slurmwright.core.release import SERIES
from slurmwright.model.cluster import Cluster


@pytest.mark.parametrize("release", SERIES)
def test_gpus_cores_and_memory_are_confined(
    make: Callable[..., Cluster], text_of: Callable[..., str], release: str
) -> None:
    doc = parse(text_of(make(release=release), "cgroup.conf"), "cgroup.conf")
    assert {pair.key: pair.value for statement in doc.statements for pair in statement.pairs} == {
        "CgroupPlugin": "autodetect",
        "ConstrainDevices": "yes",
        "ConstrainCores": "yes",
        "ConstrainRAMSpace": "yes",
    }


def test_an_override_is_written(make: Callable[..., Cluster], text_of: Callable[..., str]) -> None:
    cluster = make(more="overrides: {cgroup.conf: {ConstrainSwapSpace: true}}")
    assert "ConstrainSwapSpace=yes\n" in text_of(cluster, "cgroup.conf")
