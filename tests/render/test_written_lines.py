"""Device lines that a person wrote are refused where facts contradict them, and only there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts
from slurmwright.render import render

NUMA = [(0, 0, "0-3,8-11"), (1, 1, "4-7,12-15")]


def _written(make: Callable[..., Cluster], lines: str, gres: str = "gpu:4") -> Cluster:
    return make(
        nodes=f'{{hosts: "n[1-4]", type: small, as_written: {{gres: "{gres}", gres_conf: [{lines}]}}}}'
    )


def _facts(seen: Callable[..., HostFacts], minors: tuple[int, ...] = (0, 1, 2, 3)) -> dict[str, HostFacts]:
    gpus = [(minor, at // 2) for at, minor in enumerate(minors)]
    return {host: seen(host, numa=NUMA, gpus=gpus) for host in ("n1", "n2")}


def test_lines_that_facts_agree_with_are_written(
    make: Callable[..., Cluster], seen: Callable[..., HostFacts]
) -> None:
    lines = (
        '{Name: gpu, File: "/dev/nvidia[0-1]", Cores: 0-3}, {Name: gpu, File: "/dev/nvidia[2-3]", Cores: 4-7}'
    )
    assert render(_written(make, lines), _facts(seen)).files


def test_a_device_that_the_host_does_not_have_is_refused(
    make: Callable[..., Cluster], seen: Callable[..., HostFacts]
) -> None:
    cluster = _written(make, '{Name: gpu, File: "/dev/nvidia[0-4]"}')
    with pytest.raises(InputError) as caught:
        render(cluster, _facts(seen))
    (problem,) = caught.value.problems
    assert problem.where == ("nodes", 0, "as_written", "gres_conf", 0, "File")
    assert "names /dev/nvidia4, but the host's device minors are 0,1,2,3 (facts of n[1-2])" in problem.message


def test_cores_far_from_the_gpu_are_refused_by_the_minors_of_the_facts(
    make: Callable[..., Cluster], seen: Callable[..., HostFacts]
) -> None:
    lines = (
        '{Name: gpu, File: "/dev/nvidia[0-1]", Cores: 0-3}, {Name: gpu, File: "/dev/nvidia[2-3]", Cores: 4-7}'
    )
    with pytest.raises(
        InputError, match="gives /dev/nvidia0 the cores 0-3, none of which is on its NUMA node 1"
    ):
        render(_written(make, lines), _facts(seen, (2, 3, 0, 1)))


def test_more_gpus_than_the_host_has_are_refused(
    make: Callable[..., Cluster], seen: Callable[..., HostFacts]
) -> None:
    with pytest.raises(InputError, match=r"gres says gpu:h100:8, but the host has 4 GPUs"):
        render(_written(make, "{Name: gpu, File: /dev/nvidia0}", "gpu:h100:8"), _facts(seen))


def test_without_facts_the_lines_are_taken_on_trust(make: Callable[..., Cluster]) -> None:
    lines = (
        '{Name: gpu, File: "/dev/nvidia[0-1]", Cores: 4-7}, {Name: gpu, File: "/dev/nvidia[2-3]", Cores: 0-3}'
    )
    assert render(_written(make, lines), {}).files
