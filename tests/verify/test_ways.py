"""Commands for another host, as its shell gets them."""

from __future__ import annotations

import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.run import Local
from slurmwright.verify.ways import Through, over_ssh

SHELL = Through(("sh", "-c"), Local())
texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=10)


@settings(max_examples=30)
@given(st.lists(texts, min_size=1, max_size=4))
def test_words_reach_the_other_side_as_they_are(words: list[str]) -> None:
    done = SHELL.run(["printf", "%s|", *words])
    assert done.out == "".join(f"{word}|" for word in words)


def test_input_and_environment_travel_with_the_command() -> None:
    assert SHELL.run(["sh", "-c", 'cat; printf %s "$WORD"'], stdin="a", env={"WORD": "b c"}).out == "ab c"


def test_ssh_never_asks() -> None:
    assert "BatchMode=yes" in shlex.join(over_ssh("login1").prefix)
