"""What Slurm's line reader makes of comments, backslashes and line ends.

These readings were confirmed with s_p_parse_file of the real 22.05.8, 24.11.5 and 26.05.5 libraries.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.conf.logical import continues, logical_lines


def texts(text: str) -> list[tuple[int, str]]:
    return [(found.line, found.text) for found in logical_lines(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1\nB=2", [(1, "A=1\n"), (2, "B=2")]),
        ("A=1 # why\n", [(1, "A=1 ")]),
        ('A="x # y"\n', [(1, 'A="x ')]),
        ('A="x \\# y"\n', [(1, 'A="x # y"\n')]),
        ("A=x\\\\#y\n", [(1, "A=x\\")]),
        ("A=C:\\dir\n", [(1, "A=C:dir\n")]),
        ("A=1 \\\n  B=2\nC=3\n", [(1, "A=1   B=2\n"), (3, "C=3\n")]),
        ("A=1 \\\r\nB=2\r\n", [(1, "A=1 B=2\r\n")]),
        ("A=1 \\ \t\nB=2\n", [(1, "A=1 B=2\n")]),
        ("A=1 \\ # why\nB=2\n", [(1, "A=1 B=2\n")]),
        ("A=1 \\\\\nB=2\n", [(1, "A=1 \\\n"), (2, "B=2\n")]),
        ("A=1 \\\\\\\nB=2\n", [(1, "A=1 \\B=2\n")]),
        ("# why \\\nB=2\n", [(1, ""), (2, "B=2\n")]),
        ("A=1 \\\n# why\nB=2\n", [(1, "A=1 "), (3, "B=2\n")]),
        ("A=1 \\\n\nB=2\n", [(1, "A=1 \n"), (3, "B=2\n")]),
        ("A=1 \\", [(1, "A=1 ")]),
        ("A=1\0B=2\nC=3\n", [(1, "A=1"), (2, "C=3\n")]),
        ("A=1\rB=2\n", [(1, "A=1\rB=2\n")]),
        ("A=1\x85\u2028B=2\n", [(1, "A=1\x85\u2028B=2\n")]),
    ],
)
def test_line_is_read_as_slurm_reads_it(text: str, expected: list[tuple[int, str]]) -> None:
    assert texts(text) == expected


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='A=1 "\\#\n\r\t\0x', max_size=60))
def test_lines_cover_the_text_and_every_character_knows_its_place(text: str) -> None:
    at = 0
    for found in logical_lines(text):
        assert found.start == at
        assert found.line == text.count("\n", 0, at) + 1
        for char, start, end in zip(found.text, found.starts, found.ends, strict=True):
            assert text[start:end] in (char, "\\" + char)
        at = found.end
    assert at == len(text)


@pytest.mark.parametrize(
    ("line", "expected"), [("A=1 \\\n", True), ("A=1 \\\\\n", False), ("A=1 # \\\n", False), ("", False)]
)
def test_continues_tells_whether_the_next_line_belongs_to_this_one(line: str, expected: bool) -> None:
    assert continues(line, 0, len(line)) is expected
