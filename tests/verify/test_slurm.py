"""What sinfo prints, to the nodes that are tried and the reason for every other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.verify.slurm import choose, read_rows

from .conftest import node_of

H100 = node_of("dgx-h100-64n")


def chosen(
    text: str, partition: str = "", reserved: bool = False
) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """(partition, nodes, reasons) for the hosts gpu1 to gpu3."""
    (one,) = choose({f"gpu{n}": H100 for n in (1, 2, 3)}, read_rows(text), (), partition, reserved)
    return one.partition, one.nodes, dict(one.skipped)


def test_idle_nodes_are_tried_in_the_partition_that_has_most_of_them() -> None:
    rows = ("gpu1|idle|up|debug*", "gpu1|idle|up|train", "gpu2|idle|up|train", "gpu3|mixed|up|train")
    text = "".join(f"{row}|none\n" for row in rows)
    assert chosen(text) == ("train", ("gpu1", "gpu2"), {"gpu3": "its state is mixed"})


def test_the_default_partition_comes_first_among_equals() -> None:
    rows = [f"gpu{n}|idle|up|{p}|none" for n in (1, 2, 3) for p in ("debug", "train*")]
    assert chosen("\n".join(rows))[0] == "train"


def test_a_partition_that_is_down_leads_nowhere() -> None:
    assert chosen("gpu1|idle|down|train*|none")[2]["gpu1"] == "no partition has it"


def test_reserved_nodes_are_tried_with_a_reservation_only() -> None:
    text = "gpu1|reserved|up|train*|none"
    assert chosen(text)[2]["gpu1"] == "it is reserved; name the reservation"
    assert chosen(text, reserved=True)[1] == ("gpu1",)


def test_a_node_that_slurmctld_does_not_know_is_told() -> None:
    assert chosen("")[2]["gpu1"] == "slurmctld does not know it"


@pytest.mark.parametrize(
    ("state", "gone"),
    [
        ("down*", True),
        ("down", True),
        ("idle*", True),
        ("inval", True),
        ("unknown", True),
        ("drained*", False),
        ("drained", False),
        ("idle", False),
        ("allocated", False),
        ("idle~", False),
        ("powering_down", False),
    ],
)
def test_nodes_out_of_service_are_told_from_those_that_an_admin_took_out(state: str, gone: bool) -> None:
    (row,) = read_rows(f"gpu1|{state}|up|train*|none")
    assert row.gone is gone


@settings(max_examples=60)
@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert all(row.node is not None for row in read_rows(text))


words = st.text(
    st.characters(exclude_characters="|\n\r", exclude_categories=("C", "Z")), min_size=1, max_size=8
)


@settings(max_examples=60)
@given(words, words, st.text(st.sampled_from("ab |"), max_size=8))
def test_a_reason_may_hold_anything(node: str, state: str, reason: str) -> None:
    (row,) = read_rows(f"{node}|{state}|up|p*|{reason}")
    assert (row.node, row.state, row.partition, row.default, row.reason) == (
        node,
        state,
        "p",
        True,
        reason.strip(),
    )
