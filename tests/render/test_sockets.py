"""Where numa_node_as_socket stands: for all nodes before 25.11, on the lines that need it from then on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES
from slurmwright.model.cluster import Cluster

Make = Callable[..., Cluster]
NODES = "{hosts: a1, type: dgx-a100-80gb}\n{hosts: h1, type: dgx-h100}"


@pytest.mark.parametrize("release", SERIES)
def test_each_release_gets_the_switch_in_the_one_place_it_knows(
    make: Make, text_of: Callable[..., str], release: str
) -> None:
    lines = text_of(make(NODES, release=release), "slurm.conf").splitlines()
    with_switch = [line.partition(" ")[0] for line in lines if "numa_node_as_socket" in line]
    per_node = release >= "25.11"
    assert with_switch == (["NodeName=a1"] if per_node else ["SlurmdParameters=numa_node_as_socket"])
    a100, h100 = (line for line in lines if line.startswith("NodeName="))
    assert "SocketsPerBoard=8 CoresPerSocket=16 ThreadsPerCore=2" in a100
    assert "SocketsPerBoard=2 CoresPerSocket=56 ThreadsPerCore=2" in h100


@pytest.mark.parametrize("release", SERIES)
def test_without_a_split_package_there_is_no_switch(
    make: Make, text_of: Callable[..., str], release: str
) -> None:
    assert "numa_node_as_socket" not in text_of(make(release=release), "slurm.conf")


@pytest.mark.parametrize("value", ["allow_ecores", "[allow_ecores]", "null"])
def test_an_override_cannot_take_the_switch_away(make: Make, text_of: Callable[..., str], value: str) -> None:
    cluster = make(NODES, more=f"overrides: {{slurm.conf: {{slurmdparameters: {value}}}}}")
    with pytest.raises(InputError, match="would replace numa_node_as_socket, which dgx-a100-80gb cannot do"):
        text_of(cluster, "slurm.conf")


def test_an_override_can_add_to_the_switch(make: Make, text_of: Callable[..., str]) -> None:
    cluster = make(NODES, more="overrides: {slurm.conf: {SlurmdParameters: {allow_ecores: true}}}")
    assert "SlurmdParameters=numa_node_as_socket,allow_ecores\n" in text_of(cluster, "slurm.conf")
