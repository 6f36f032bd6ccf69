"""Whatever value is written, the loader of cluster.yaml reads the same."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.importing.yaml_text import Flow, Noted, yaml_text
from slurmwright.model.yaml_source import parse_yaml

TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
SCALAR = st.one_of(TEXT, st.integers(-(10**9), 10**12), st.booleans(), st.none())
KEY = st.text("abcXYZ019_.-", min_size=1, max_size=8)
ROW = st.dictionaries(KEY, SCALAR, min_size=1, max_size=3)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        KEY,
        st.one_of(SCALAR, ROW, st.lists(SCALAR, max_size=3), st.lists(ROW, min_size=1, max_size=3)),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_written_is_read(data: dict[str, object]) -> None:
    source = parse_yaml(yaml_text(data), "x.yaml")
    assert source.problems == ()
    assert source.data == data


def test_notes_stand_behind_scalars_and_above_entries_of_lists() -> None:
    data = {"a": Noted(1, "one:1"), "b": [Noted({"c": 2}, "two:2"), Noted(Flow({"d": "x y"}), "three:3")]}
    lines = [" ".join(line.split()) for line in yaml_text(data).splitlines()]
    assert lines == ["a: 1 # one:1", "b:", "# two:2", "- c: 2", "- {d: x y} # three:3"]


def test_a_note_never_leaves_its_line() -> None:
    assert yaml_text({"a": Noted(1, "x\ny: 2")}).count("\n") == 1
