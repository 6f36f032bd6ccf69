"""The cluster whose hosts are tested, and one verification from its login host that all tests share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.hosts import expand
from slurmwright.core.resources import share
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import load_facts
from slurmwright.model.load import load_cluster
from slurmwright.topology.host_maps import load_maps
from slurmwright.verify.expect import ExpectedNode, expected_nodes
from slurmwright.verify.run import verify
from slurmwright.verify.suite.through_testinfra import OnHost
from slurmwright.verify.values import Report
from slurmwright.verify.wanted import Wanted


def pytest_configure(config: pytest.Config) -> None:
    """Ansible must find the plugin that reads cluster.yaml."""
    config.addinivalue_line("filterwarnings", "ignore::DeprecationWarning")
    if "ANSIBLE_CONFIG" not in os.environ:
        os.environ["ANSIBLE_CONFIG"] = str(share("ansible.cfg"))
        os.environ.setdefault("ANSIBLE_INVENTORY_PLUGINS", str(share("ansible") / "inventory_plugins"))


def _where(config: pytest.Config) -> Path:
    named = config.getoption("ansible_inventory", default=None)
    if not named:
        raise pytest.UsageError("name the cluster: --ansible-inventory=DIR/cluster.yaml")
    return Path(str(named))


@cache
def _cluster(where: Path) -> tuple[Cluster, Mapping[str, ExpectedNode]]:
    cluster, facts = load_cluster(where), load_facts(where)
    hosts = [host for group in cluster.nodes for host in group.hosts]
    return cluster, expected_nodes(cluster, facts, load_maps(where, hosts, facts))


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """What cluster.yaml says."""
    return _cluster(_where(request.config))[0]


@pytest.fixture(scope="session")
def shapes(request: pytest.FixtureRequest) -> Mapping[str, ExpectedNode]:
    """What each node must show."""
    return _cluster(_where(request.config))[1]


@pytest.fixture(scope="session")
def reports() -> dict[str, Report | str]:
    """Host where jobs were submitted → what came of them."""
    return {}


@pytest.fixture
def report(
    host: Any,
    cluster: Cluster,
    shapes: Mapping[str, ExpectedNode],
    reports: dict[str, Report | str],
    request: pytest.FixtureRequest,
) -> Report:
    """The verification that runs once, from the first host of the run on which jobs are submitted."""
    name = name_of(host)
    submit = [server.host for server in (*cluster.control.login, *cluster.control.controllers)]
    if name not in submit and host.backend.get_connection_type() != "local":
        pytest.skip("jobs are submitted from login hosts and controllers")
    if any(other != name for other in reports):
        pytest.skip(f"jobs were submitted from {next(iter(reports))}")
    if name not in reports:
        reports[name] = _verify(cluster, shapes, host, request.config)
    found = reports[name]
    if isinstance(found, str):
        pytest.fail(found)
    return found


def _verify(
    cluster: Cluster, shapes: Mapping[str, ExpectedNode], host: Any, config: pytest.Config
) -> Report | str:
    def given(name: str) -> str:
        return str(config.getoption(f"slurm_{name}", default=""))

    wanted = Wanted(
        expand(given("nodes")) if given("nodes") else (),
        given("partition"),
        given("account"),
        given("qos"),
        given("reservation"),
        int(given("timeout") or 60),
        config_dir=cluster.slurm.config_dir,
    )
    try:
        return verify(cluster.name, shapes, wanted, OnHost(host))
    except SlurmwrightError as error:
        return str(error)


def name_of(host: Any) -> str:
    """The host's name in the inventory."""
    return str(host.backend.get_hostname())
