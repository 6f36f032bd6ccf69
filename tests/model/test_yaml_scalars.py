"""Unquoted scalars: what is taken, and that nothing is taken on which YAML 1.1 and 1.2 disagree."""

import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.model.yaml_scalars import read_plain

#: The core schema of YAML 1.2, as its specification prints it (10.3.2).
_CORE = (
    (r"null|Null|NULL|~|", type(None)),
    (r"true|True|TRUE|false|False|FALSE", bool),
    (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", int),
    (r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", float),
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("gpu[001-064]", "gpu[001-064]"),
        ("10.20.1.[1-64]", "10.20.1.[1-64]"),
        ("7-00:00:00", "7-00:00:00"),
        ("0000:87:00.0", "0000:87:00.0"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("400", 400),
        ("-1", -1),
        ("0x10", 16),
        ("24.11", 24.11),
        ("nofoo", "nofoo"),
    ],
)
def test_what_both_versions_read_alike_is_taken(text: str, value: object) -> None:
    assert read_plain(text) == (value, None)


@pytest.mark.parametrize(
    "text",
    [
        "0000:47:00.0",
        "2:32:2",
        "1:00:00",
        "010",
        "08",
        "1_000",
        "0b11",
        "0o17",
        "1e3",
        "2026-11-30",
        "=",
        "<<",
    ],
)
def test_what_they_read_differently_must_be_quoted(text: str) -> None:
    value, why = read_plain(text)
    assert value == text
    assert why is not None
    assert why.endswith(f'put it in quotes: "{text}"')


@pytest.mark.parametrize(
    ("text", "meant"), [("on", "true"), ("Yes", "true"), ("no", "false"), ("OFF", "false")]
)
def test_a_word_that_may_be_a_truth_value_names_both_ways_out(text: str, meant: str) -> None:
    assert read_plain(text) == (
        text,
        f'unquoted {text} is {meant} to some YAML readers and text to others; write "{text}" or {meant}',
    )


@settings(max_examples=400, deadline=None)
@given(st.from_regex(r"[-+0-9a-fA-FxoyYnNstrul:._~]{1,12}", fullmatch=True))
def test_whatever_is_taken_means_the_same_in_yaml_1_1_and_1_2(text: str) -> None:
    value, why = read_plain(text)
    if why is not None:
        return
    loader = yaml.SafeLoader("")
    tag = loader.resolve(yaml.ScalarNode, text, (True, False))
    old = loader.construct_object(yaml.ScalarNode(tag, text))
    new = next((kind for pattern, kind in _CORE if re.fullmatch(pattern, text)), str)
    if isinstance(value, str) and not isinstance(old, str):
        assert len(text) > 18 or "inf" in text.lower() or "nan" in text.lower()
    else:
        assert type(value) is new
        assert value == old
