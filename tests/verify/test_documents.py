"""Pieces of many probes in one stream, to the documents that they are of."""

from __future__ import annotations

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.verify.documents import read_documents


def pieces(task: str, data: object, size: int, tag: str = "t") -> list[str]:
    text = json.dumps(data)
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    return [*(f"@probe {tag} {task} + {piece}" for piece in cut), f"@probe {tag} {task} ."]


values = st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.text(max_size=30)), max_size=5)


@settings(max_examples=60)
@given(st.lists(values, max_size=5), st.integers(1, 40), st.randoms())
def test_documents_survive_being_cut_and_mixed(
    datas: list[dict[str, object]], size: int, mixer: random.Random
) -> None:
    datas = [{key: value for key, value in data.items() if key not in ("env", "host")} for data in datas]
    left = [pieces(f"h/1.0.{at}/9", data, size) for at, data in enumerate(datas)]
    lines = []
    while any(left):
        lines.append(mixer.choice([one for one in left if one]).pop(0))
    found = {one.task: one.data for one in read_documents("\n".join(lines))}
    assert found == {f"h/1.0.{at}/9": data for at, data in enumerate(datas)}


@settings(max_examples=60)
@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert read_documents(text) == ()


@settings(max_examples=60)
@given(st.text(max_size=20), st.sampled_from(["+", ".", "?", "+ [1]", "+ {"]))
def test_broken_pieces_are_no_document(text: str, kind: str) -> None:
    assert read_documents(f"@probe t h {kind} {text}\n@probe t h .") in (
        (),
        read_documents(f"@probe t h {kind}"),
    )


def test_what_a_prolog_prints_is_passed_over() -> None:
    lines = pieces("h/1.0.0/9", {"host": "h"}, 5)
    noise = "Welcome!\r\n@probe\n" + "\r\n".join(lines) + "\nbye"
    assert [one.node for one in read_documents(noise)] == ["h"]


def test_a_document_without_its_end_is_none() -> None:
    assert read_documents("\n".join(pieces("h/1.0.0/9", {"host": "h"}, 5)[:-1])) == ()


def test_the_node_is_what_slurm_calls_it() -> None:
    data = {"host": "h.example.com", "env": {"SLURMD_NODENAME": "gpu1", "SLURM_PROCID": "5"}}
    (one,) = read_documents("\n".join(pieces("h/1.0.5/9", data, 50)))
    assert (one.node, one.rank) == ("gpu1", 5)
