"""Values as they must be written so that Slurm reads them back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.conf import parse
from slurmwright.conf.writing import check_line, lead, line_break, pair_text, value_text
from slurmwright.core.errors import InputError

WRITABLE = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters='"') | st.just("\t"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", "A=x"),
        ("", 'A=""'),
        ("x y", 'A="x y"'),
        ("x#y", "A=x\\#y"),
        ("C:\\x y", 'A="C:\\\\x y"'),
        ("gpu:h100:8", "A=gpu:h100:8"),
    ],
)
def test_value_is_quoted_and_escaped_only_where_slurm_needs_it(value: str, expected: str) -> None:
    assert pair_text("A", value) == expected


def test_quotes_that_were_there_stay() -> None:
    assert value_text("A", "x", True) == '"x"'


@settings(max_examples=200, deadline=None)
@given(WRITABLE, st.booleans())
def test_written_value_reads_back(value: str, quoted: bool) -> None:
    doc = parse(f"A={value_text('A', value, quoted)}\n")
    pair = doc.get("A")
    assert doc.problems == ()
    assert pair is not None
    assert pair.value == value


@pytest.mark.parametrize("value", ["a\nNodeName=evil", "a\rb", "a\0b", 'say "hi"', "\x1b[0m", "a\x0bb"])
def test_value_that_would_inject_or_cannot_be_escaped_is_refused(value: str) -> None:
    with pytest.raises(InputError, match="the value of A"):
        pair_text("A", value)


@pytest.mark.parametrize("key", ["", "A B", "A=", "#A", "A\n", "é"])
def test_key_that_slurm_cannot_read_is_refused(key: str) -> None:
    with pytest.raises(InputError, match="is not a key"):
        pair_text(key, "1")


@pytest.mark.parametrize("line", ["A=1\nB=2", "A=1 \\", "A=1\r", "A=\0"])
def test_line_that_is_not_one_line_is_refused(line: str) -> None:
    with pytest.raises(InputError, match="is not one line"):
        check_line(line)


@pytest.mark.parametrize(
    ("text", "expected"), [("", "\n"), ("A", "\n"), ("A\r\nB\n", "\r\n"), ("\nA\r\n", "\n")]
)
def test_line_end_is_that_of_the_first_line(text: str, expected: str) -> None:
    assert line_break(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", ""), ("A=1\n", ""), ("A=1", "\n"), ("A=1 \\\n", "\n"), ("A=1 \\", "\n\n"), ("# \\\n", "")],
)
def test_lead_ends_an_open_line(text: str, expected: str) -> None:
    assert lead(text, "\n") == expected
