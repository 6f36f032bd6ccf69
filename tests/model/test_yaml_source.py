"""The YAML reader: places of keys and values, and files that are refused whatever they say."""

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.model.yaml_source import MAX_BYTES, parse_yaml, read_yaml

TEXT = """\
# comment
name: "pod1"
nodes:
  - hosts: gpu[1-2]
    type:  dgx-h100
  - {hosts: x}
"""


def test_data_and_places_stand_side_by_side() -> None:
    source = parse_yaml(TEXT, "f")
    assert source.data == {
        "name": "pod1",
        "nodes": [{"hosts": "gpu[1-2]", "type": "dgx-h100"}, {"hosts": "x"}],
    }
    assert source.place(("nodes", 0, "type")) == (5, 12)
    assert source.place(("nodes", 0, "type"), key=True) == (5, 5)
    assert source.place(("nodes", 1, "hosts")) == (6, 13)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("name", "deeper"), (2, 7)),
        (("nodes", 0, "missing"), (4, 5)),
        (("nodes", "missing"), (3, 1)),
        (("missing",), (2, 1)),
    ],
)
def test_a_path_that_is_not_there_has_the_place_of_what_is_above(
    path: tuple[str | int, ...], place: tuple[int, int]
) -> None:
    assert parse_yaml(TEXT, "f").place(path) == place


def test_the_raw_text_of_a_number_is_kept() -> None:
    assert parse_yaml("release: 24.10\n", "f").raw(("release",)) == "24.10"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "f: is empty; expected a mapping of keys to values"),
        ("# only a comment\n", "f: is empty; expected a mapping of keys to values"),
        ("a: 1\n\tb: 2\n", "f:2:1: a tab indents this line; YAML takes only spaces"),
        ("a: \x00\n", "f:1:4: control character U+0000; remove it"),
        ("a: 1\rb: 2\n", "f:1:5: control character U+000D; remove it"),
        ("a: x\u2028y\n", "f:1:5: control character U+2028; remove it"),
        ("a: 1\n---\nb: 2\n", "f:2:1: a second YAML document begins here; expected one document in a file"),
        ("a: *b\n", "f:1:4: alias *b is not taken; write the value out, or use extends"),
        ("? [a]\n: b\n", "f:1:3: a key is a mapping or list; expected a word"),
        ("[" * 40, "f:1:33: nested more than 32 deep; nothing here needs that"),
        ("a: [1\n", "f:2:1: is not YAML: did not find expected ',' or ']'"),
        (
            "a: b: c\n",
            "f:1:5: is not YAML: mapping values are not allowed in this context; put a value that contains "
            "': ' in quotes, or look at the indentation",
        ),
        (
            "a: @b\n",
            "f:1:4: is not YAML: found character that cannot start any token; put a value that begins with "
            "such a character in quotes",
        ),
    ],
)
def test_text_of_which_nothing_can_be_made_is_one_line(text: str, line: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "f")
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: 2\na: 3\n", "f:3:1: key 'a' stands twice in one mapping, first in line 1; keep one"),
        ("a: &x 1\n", "f:1:4: anchor &x is not taken; write values out, or use extends"),
        ("a: !!str 1\n", "f:1:4: tag tag:yaml.org,2002:str is not taken; leave it out"),
        ("a: on\n", 'f:1:4: unquoted on is true to some YAML readers and text to others; write "on" or true'),
    ],
)
def test_what_can_still_be_read_is_noted_and_reading_goes_on(text: str, line: str) -> None:
    assert [str(problem) for problem in parse_yaml(text, "f").problems] == [line]


def test_of_a_key_that_stands_twice_the_first_counts() -> None:
    assert parse_yaml("a: 1\na: {b: on}\nc: 3\n", "f").data == {"a": 1, "c": 3}


def test_an_alias_bomb_is_refused_at_its_first_alias() -> None:
    bomb = "a: &a [x]\n" + "".join(
        f"{b}: &{b} [*{a},*{a},*{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(InputError, match=r"f:2:8: alias \*a"):
        parse_yaml(bomb, "f")


def test_a_file_too_large_is_refused_by_its_size_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    with file.open("wb") as stream:
        stream.truncate(100_000_000)
    with pytest.raises(InputError) as caught:
        read_yaml(file)
    assert str(caught.value) == (
        f"{file}: is 100000000 bytes long; expected a YAML file of at most {MAX_BYTES} bytes"
    )


def test_bytes_that_are_not_utf8_are_shown_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(InputError) as caught:
        read_yaml(file)
    assert str(caught.value) == f"{file}:2: byte 0xff is not UTF-8; save the file as UTF-8"


def test_a_missing_file_names_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_yaml(tmp_path / "f")
    assert (
        str(caught.value)
        == f"{tmp_path / 'f'}: does not exist; `slurmwright init` writes a first cluster.yaml"
    )


def test_a_pipe_or_device_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    with pytest.raises(InputError, match="is not a regular file"):
        read_yaml(tmp_path / "f")


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=120))
def test_any_bytes_are_read_or_an_input_error(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_bytes(raw)
    with contextlib.suppress(InputError):
        read_yaml(file)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab:-[]{}\"'#&*!|>%@`? \n\t0.~,", max_size=60))
def test_any_yaml_like_text_is_read_or_an_input_error(text: str) -> None:
    with contextlib.suppress(InputError):
        source = parse_yaml(text, "f")
        assert source.place(("a", 0, "b"))[0] >= 1
