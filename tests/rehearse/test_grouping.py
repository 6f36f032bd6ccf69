"""What holds for many nodes is said once, and a name is only a name where it stands alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slurmwright.core.hosts import expand
from slurmwright.rehearse.scenarios.grouping import by_text

NAMES = {"gpu1", "gpu2", "gpu10", "ctl1"}


def test_equal_texts_are_one_line() -> None:
    assert by_text([("gpu1", "state DOWN"), ("gpu2", "state DOWN"), ("ctl1", "x")], NAMES) == (
        "gpu[1-2]: state DOWN",
        "ctl1: x",
    )


def test_a_text_that_names_its_own_node_is_grouped_with_those_of_others() -> None:
    rows = [("gpu1", "node gpu1 is low"), ("gpu2", "node gpu2 is low")]
    assert by_text(rows, NAMES) == ("gpu[1-2]: node gpu[1-2] is low",)


def test_what_one_host_says_of_others_is_grouped_and_the_teller_named() -> None:
    rows = [("ctl1", "node=gpu1: Invalid argument"), ("ctl1", "node=gpu10: Invalid argument")]
    assert by_text(rows, NAMES) == ("ctl1: node=gpu[1,10]: Invalid argument",)


def test_a_name_inside_other_words_is_left_alone() -> None:
    rows = [("gpu1", "gpu10 and gpu1_x and agpu1"), ("gpu2", "gpu10 and gpu2_x and agpu2")]
    assert by_text(rows, NAMES) == tuple(f"{host}: {text}" for host, text in rows)


def test_a_text_about_two_others_stays_as_it_is() -> None:
    text = "gpu1 differs from gpu2"
    assert by_text([("ctl1", text)], NAMES) == (f"ctl1: {text}",)


def test_words_that_look_like_a_placeholder_are_kept() -> None:
    assert by_text([("gpu1", "NODE HOST gpu1"), ("gpu2", "NODE HOST gpu2")], NAMES) == (
        "gpu[1-2]: NODE HOST gpu[1-2]",
    )


@given(
    st.lists(st.tuples(st.sampled_from(sorted(NAMES)), st.sampled_from(["low", "state DOWN", "gpu1 gpu2"])))
)
def test_every_host_stands_before_each_text_that_holds_for_it(rows: list[tuple[str, str]]) -> None:
    said = {
        text: set(expand(names)) for names, _, text in (line.partition(": ") for line in by_text(rows, NAMES))
    }
    plain = {text: {host for host, other in rows if other == text} for _, text in rows if "gpu" not in text}
    assert {text: hosts for text, hosts in said.items() if "gpu" not in text} == plain
