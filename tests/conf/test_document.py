"""A document gives its text back, answers look-ups, and an edit leaves all else alone."""

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from slurmwright.conf import RECORD_KEYS, Document, Statement, parse
from slurmwright.core.errors import InputError

KEYS = st.sampled_from(["Port", "port", "ClusterName", "NodeName", "Gres", "PartitionName", "A.b"])
WORDS = st.text(alphabet='abc019:=/[],-é"', min_size=1, max_size=6)
VALUES = st.one_of(WORDS, st.sampled_from(['""', '"x y"', '"x \\# y"', "a\\#b", "a\\\\", '"open', "x#y"]))
GAPS = st.sampled_from([" ", "  ", "\t", " \\\n", " \\\r\n  ", "\\\n ", " \\ # c\n", "\\ "])
PAIRS = st.builds(
    lambda key, op, value: key + op + value, KEYS, st.sampled_from(["=", " = ", "+=", "= "]), VALUES
)
ENDS = st.sampled_from(["\n", "\n", "\r\n", " # why\n", "# why\n", " \\\n\n", " words\n", "\\\\\n", "\0x\n"])
LINES = st.one_of(
    st.builds(
        lambda pairs, gap, end: gap.join(pairs) + end, st.lists(PAIRS, min_size=1, max_size=4), GAPS, ENDS
    ),
    st.sampled_from(
        ["\n", "# c\n", "  \n", "Include x\n", " Include x\n", "words\n", "A=\n", "Include y # z\n"]
    ),
)
CONFIGS = st.builds(
    lambda lines, last: "".join(lines) + last,
    st.lists(LINES, max_size=6),
    st.sampled_from(["", "", "A=1", "A=1 \\", "Include z", "# c"]),
)
NEW_VALUES = st.sampled_from(["9", "", "x y", "a#b", "a\\", "tab\there"])


def values(doc: Document) -> list[list[tuple[str, str]]]:
    return [[(p.key, p.value) for p in s.pairs] for s in doc.statements]


def untouched_lines_remain(before: str, after: str, start: int, end: int) -> bool:
    """Is everything outside the statement at start:end the same, byte for byte?"""
    return after.startswith(before[:start]) and after.endswith(before[end:])


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=80), st.text(alphabet='aA=1 "\\#\n\r\0', max_size=60), CONFIGS))
def test_any_text_comes_back_and_every_span_lies_in_it(text: str) -> None:
    doc = parse(text, "f")
    assert doc.text == text
    at = 0
    for statement in doc.statements:
        assert at <= statement.start < statement.end <= len(text)
        assert statement.line == text.count("\n", 0, statement.start) + 1
        inner = statement.start
        for pair in statement.pairs:
            assert inner <= pair.start < pair.value_start < pair.end <= statement.end
            assert pair.line == text.count("\n", 0, pair.start) + 1
            assert pair.column == pair.start - text.rfind("\n", 0, pair.start)
            inner = pair.end
        at = statement.end


def edited(doc: Document, statement: Statement, edit: Callable[[], Document]) -> Document | None:
    """The edited document; None where the line was refused, which only an open quote on it may cause."""
    try:
        return edit()
    except InputError:
        assert any(p.value.startswith('"') for p in statement.pairs)
        return None


@settings(max_examples=300, deadline=None)
@given(CONFIGS, NEW_VALUES)
def test_set_then_get_gives_the_value_and_all_else_stays(text: str, value: str) -> None:
    before = parse(text)
    found = before.get("Port")
    after = before.set("Port", value)
    pair = after.get("port")
    assert pair is not None
    assert pair.value == value
    if found is None:
        assert after.text.startswith(text)
        assert values(after) == [*values(before), [("Port", value)]]
    else:
        assert untouched_lines_remain(text, after.text, found.value_start, found.end)


@settings(max_examples=300, deadline=None)
@given(CONFIGS, NEW_VALUES, st.data())
def test_set_on_changes_one_pair_of_one_line(text: str, value: str, data: st.DataObject) -> None:
    before = parse(text)
    readable = [i for i, s in enumerate(before.statements) if s.pairs]
    assume(readable)
    at = data.draw(st.sampled_from(readable))
    statement = before.statements[at]
    key = data.draw(st.sampled_from(["Weight", *(p.key for p in statement.pairs)]))
    found = statement.get(key)
    expected = values(before)
    if found is None:
        expected[at].append((key, value))
    else:
        expected[at] = [(p.key, value if p is found else p.value) for p in statement.pairs]
    after = edited(before, statement, lambda: before.set_on(statement, key, value))
    if after is not None:
        assert values(after) == expected
        assert untouched_lines_remain(text, after.text, statement.start, statement.end)


@settings(max_examples=300, deadline=None)
@given(CONFIGS, st.data())
def test_unset_on_takes_one_key_off_one_line(text: str, data: st.DataObject) -> None:
    before = parse(text)
    readable = [i for i, s in enumerate(before.statements) if s.pairs]
    assume(readable)
    at = data.draw(st.sampled_from(readable))
    statement = before.statements[at]
    key = data.draw(st.sampled_from([p.key for p in statement.pairs]))
    expected = values(before)
    expected[at] = [(p.key, p.value) for p in statement.pairs if p.key.lower() != key.lower()]
    after = edited(before, statement, lambda: before.unset_on(statement, key))
    if after is not None:
        assert [pairs for pairs in values(after) if pairs] == [pairs for pairs in expected if pairs]
        assert untouched_lines_remain(text, after.text, statement.start, statement.end)


@settings(max_examples=200, deadline=None)
@given(CONFIGS, st.data())
def test_removing_a_statement_leaves_the_others_as_they_were(text: str, data: st.DataObject) -> None:
    before = parse(text)
    assume(before.statements)
    at = data.draw(st.integers(0, len(before.statements) - 1))
    statement = before.statements[at]
    after = before.remove_statement(statement)
    assert after.text == text[: statement.start] + text[statement.end :]
    assert values(after) == values(before)[:at] + values(before)[at + 1 :]


def test_get_takes_the_last_line_confirmed_with_slurmctld() -> None:
    doc = parse("SlurmctldTimeout=111\nslurmctldtimeout=222\nX=1 SlurmctldTimeout=3\n")
    pair = doc.get("SlurmctldTimeout")
    assert pair is not None
    assert (pair.value, pair.line) == ("222", 2)
    assert doc.get("Missing") is None


@pytest.mark.parametrize("key", sorted(RECORD_KEYS))
def test_key_of_a_record_is_never_global(key: str) -> None:
    doc = parse(f"{key}=a X=1\n{key.upper()}=b\n")
    assert doc.get(key) is None
    assert [s.pairs[0].value for s in doc.lines(key)] == ["a", "b"]
    assert doc.problems == ()
