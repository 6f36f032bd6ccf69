"""Says once what holds for many nodes: equal texts become one line with the folded names before it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from slurmwright.core.hosts import fold

_WORD = re.compile(r"\w(?:[\w.\-]*\w)?", re.ASCII)
#: Stands for the node's own name while texts are compared; no Slurm text holds it.
_SELF = "\0"


def by_text(rows: Iterable[tuple[str, str]], names: Collection[str]) -> tuple[str, ...]:
    """(host, text) rows → `gpu[001-064]: text`, in the order of their first row.

    `names` are all host names: where a text names the row's host, or exactly one host, it is grouped with the
    same text about other hosts.
    """
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for host, text in rows:
        about = [word for word in _WORD.findall(text) if word in names]
        subject = host if host in about or len(set(about)) != 1 else about[0]
        key = _replaced(text, subject)
        groups.setdefault((key, "" if subject == host else host), []).append((subject, text))
    return tuple(_line(members, teller, key) for (key, teller), members in groups.items())


def _replaced(text: str, name: str) -> str:
    return _WORD.sub(lambda word: _SELF if word[0] == name else word[0], text)


def _line(members: list[tuple[str, str]], teller: str, key: str) -> str:
    subjects = fold(subject for subject, _ in members)
    text = members[0][1] if len(members) == 1 else key.replace(_SELF, subjects)
    return f"{teller or subjects}: {text}"
