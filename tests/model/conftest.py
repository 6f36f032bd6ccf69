"""A small good cluster.yaml, and functions that load a changed copy of it."""

from collections.abc import Callable

import pytest

from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml

GOOD = """\
name: pod1
slurm: {release: "24.11"}
control: {controllers: [ctl1]}
nodes:
  - hosts: gpu[01-04]
    type: dgx-h100
    features: [big]
partitions:
  - name: train
    nodes: all
    default: true
"""

Change = Callable[[str, str], list[str]]


@pytest.fixture
def good() -> str:
    return GOOD


@pytest.fixture
def load() -> Callable[[str], Cluster]:
    def loaded(text: str) -> Cluster:
        return cluster_from(parse_yaml(text, "cluster.yaml"))

    return loaded


@pytest.fixture
def faults_of(load: Callable[[str], Cluster]) -> Callable[[str], list[str]]:
    """The error lines of a text; an empty list when it loads."""

    def lines(text: str) -> list[str]:
        try:
            load(text)
        except InputError as error:
            return str(error).splitlines()
        return []

    return lines


@pytest.fixture
def change(faults_of: Callable[[str], list[str]]) -> Change:
    """The error lines of the good file after one piece of it was replaced."""

    def lines(old: str, new: str) -> list[str]:
        assert GOOD.count(old) == 1, f"'{old}' must stand once in the good file"
        return faults_of(GOOD.replace(old, new))

    return lines
