"""What each host shows of itself: one test for each check and host, one command for each host."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest

from slurmwright.model.cluster import Cluster
from slurmwright.verify import judge_hosts as judge
from slurmwright.verify.documents import read_documents
from slurmwright.verify.expect import ExpectedNode
from slurmwright.verify.scripts import host_script
from slurmwright.verify.suite.conftest import name_of
from slurmwright.verify.suite.through_testinfra import OnHost
from slurmwright.verify.values import Point

CHECKS = (
    *(judge.CLOCK, judge.DAEMONS, judge.DELEGATION, judge.UNIT_MEMLOCK, judge.CGROUP),
    *(judge.DEVICES, judge.EARLY, judge.DRIVER, judge.MINORS),
)
_SEEN: dict[str, dict[str, Any]] = {}


@pytest.fixture
def document(host: Any, cluster: Cluster) -> dict[str, Any]:
    """What the host says; asked once."""
    name = name_of(host)
    if name not in _SEEN:
        before = time.time()
        argv = ["sh", "-s", "--", "--lines", "hosts", "--config", cluster.slurm.config_dir]
        done = OnHost(host).run(argv, stdin=host_script(), limit_s=60)
        found = read_documents(done.out)
        told = float(found[0].data["time"]) if found else before
        skew = min(told - before + 1, 0.0) or max(told - time.time() - 1, 0.0)
        _SEEN[name] = {**found[0].data, "skew": skew} if found else {"failed": done.last_line}
    if "failed" in _SEEN[name]:
        pytest.fail(f"the host does not answer: {_SEEN[name]['failed']}", pytrace=False)
    return _SEEN[name]


@pytest.mark.parametrize("check", CHECKS)
def test_host(document: dict[str, Any], host: Any, shapes: Mapping[str, ExpectedNode], check: str) -> None:
    """A check that does not belong to the host, or that it cannot tell, is skipped."""
    points = [one for one in judge.judge_hosts(shapes, {name_of(host): document}) if one.check == check]
    bad = [one.fault for one in points if one.fault]
    if bad:
        pytest.fail("\n".join(bad), pytrace=False)
    if not any(_passed(one) for one in points):
        pytest.skip("; ".join(one.skipped for one in points) or "this host has nothing of the kind")


def _passed(point: Point) -> bool:
    return not point.fault and not point.skipped
