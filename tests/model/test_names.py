"""Names and values that may stand in Slurm's files, and those that would write lines of their own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.model import names


@pytest.mark.parametrize(
    "value", ["a", "/usr/bin/mail", "CPU=1.0,Mem=0.25G", "https://h:9200/x?a=1&b=2", "a b"]
)
def test_plain_values_are_taken(value: str) -> None:
    assert names.bad_value(value) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a\nNodeName=x", "not printable ASCII"),
        ("a\rb", "not printable ASCII"),
        ("größe", "not printable ASCII"),
        ("a\x00", "not printable ASCII"),
        ('a" NodeName="x', 'holds "'),
        ("a # b", "holds #"),
        ("a\\", "holds \\"),
        ("a;b", "holds ;"),
        ("a`b`", "holds `"),
        ("$(b)", "holds $("),
        ("a|b", "holds |"),
        ("a>b", "holds >"),
        ("a&b", "holds &"),
        ("https://x/y;z", "holds ;"),
        ("", "is empty"),
        ("  ", "is empty"),
    ],
)
def test_values_that_would_leave_their_place_are_refused(value: str, words: str) -> None:
    assert words in (names.bad_value(value) or "")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=12))
def test_a_value_that_is_taken_is_one_printable_line_without_marks(value: str) -> None:
    if names.bad_value(value) is None:
        assert value.isascii()
        assert value.isprintable()
        assert not set(value) & set('"#\\;`|<>')


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="aZ0._-/+: ,=\n;", max_size=10))
def test_a_name_that_is_taken_is_one_path_part_and_one_word(name: str) -> None:
    for judge in (
        names.bad_cluster_name,
        names.bad_partition,
        lambda n: names.bad_word("feature", n),
        names.bad_host,
    ):
        if judge(name) is None:
            assert not set(name) & set("/ ,=\n;")
            assert ".." not in name
            assert name
            assert not name.startswith((".", "-"))


@pytest.mark.parametrize("folder", ["/etc/slurm", "/var/spool/slurm-1/state.d"])
def test_absolute_folders_are_taken(folder: str) -> None:
    assert names.bad_folder(folder) is None


@pytest.mark.parametrize("folder", ["", "etc", "/", "/a/../b", "/a/./b", "/a//b", "/a b", "/a;b", "/a/"])
def test_other_folders_are_refused(folder: str) -> None:
    assert "expected an absolute path" in (names.bad_folder(folder) or "")
