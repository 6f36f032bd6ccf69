"""The first cluster.yaml: it loads as answered, or the answer that does not fit is named."""

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.node_types import node_type_names
from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES
from slurmwright.model.cluster import Cluster
from slurmwright.model.draft import Answers, draft
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml

GOOD = Answers("pod1", "dgx-h100", "gpu[001-064]", "24.11")


def load(text: str) -> Cluster:
    return cluster_from(parse_yaml(text, "cluster.yaml"))


def test_a_draft_says_what_was_answered() -> None:
    cluster = load(draft(GOOD))
    assert cluster.name == "pod1"
    assert len(cluster.nodes[0].hosts) == 64
    assert cluster.nodes[0].address == ()
    assert cluster.partitions[0].nodes.all


def test_comments_stand_in_one_column() -> None:
    marked = [line for line in draft(GOOD).splitlines() if "  # " in line and not line.startswith("#")]
    assert len(marked) > 8
    assert {line.rindex("  # ") for line in marked} == {38}


def test_what_stands_in_comments_can_be_switched_on() -> None:
    switched = re.sub(r"^( +)# (\w+: )", r"\1\2", draft(GOOD), flags=re.MULTILINE)
    cluster = load(switched)
    assert cluster.accounting.enabled
    assert cluster.nodes[0].address[63] == "10.20.1.64"
    assert cluster.nodes[0].features == ("air-cooled",)


def test_two_controllers_get_a_shared_state_folder() -> None:
    answers = Answers("p", "dgx-h100", "g1", "25.11", ("c1", "c2"), "10.0.0.1")
    cluster = load(draft(answers))
    assert [server.host for server in cluster.control.controllers] == ["c1", "c2"]
    assert cluster.control.state_dir == "/shared/slurm/state"
    assert cluster.nodes[0].address == ("10.0.0.1",)


@pytest.mark.parametrize("node_type", node_type_names())
def test_every_type_of_the_catalogue_can_be_drafted(node_type: str) -> None:
    assert list(load(draft(Answers("p", node_type, "g1", SERIES[0]))).node_types) == [node_type]


def test_every_answer_that_does_not_fit_is_named_with_its_option() -> None:
    with pytest.raises(InputError) as caught:
        draft(Answers("Pod1", "dgx-h1000", "gpu[1-2", "24.12", ("c 1",), "10.0.0.[1-"))
    assert sorted(str(problem).split(":")[0] for problem in caught.value.problems) == [
        "--address",
        "--controller",
        "--hosts",
        "--name",
        "--release",
        "--type",
    ]


def test_addresses_are_counted_against_hosts() -> None:
    with pytest.raises(InputError) as caught:
        draft(Answers("p", "dgx-h100", "g[1-3]", "24.11", address="10.0.0.[1-2]"))
    assert str(caught.value) == (
        "--address: address names 2 addresses but hosts names 3 hosts; expected one address per host"
    )


_any = st.text(alphabet="ab1:-[]{}\"'#&*, \n.yesno%\\", max_size=10)


@settings(max_examples=100, deadline=None)
@given(name=_any, node_type=_any, hosts=_any, release=_any, controller=_any, address=_any)
def test_no_answer_writes_a_line_of_its_own(
    name: str, node_type: str, hosts: str, release: str, controller: str, address: str
) -> None:
    with contextlib.suppress(InputError):
        answers = Answers(name, node_type, hosts, release, (controller,), address)
        assert load(draft(answers)).name == name


def test_a_name_that_yaml_would_read_as_something_else_is_kept(tmp_path: Path) -> None:
    assert load(draft(Answers("on", "dgx-h100", "g1", "24.11"))).name == "on"
    assert load(draft(Answers("010", "dgx-h100", "g1", "24.11"))).name == "010"
