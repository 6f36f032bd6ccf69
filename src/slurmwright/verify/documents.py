"""Turns what many tasks printed into one stream back into the documents of their probes.

A document comes as lines `@probe TAG TASK + PIECE` and ends with `@probe TAG TASK .`; lines of tasks may be
mixed, and what else a job or a prolog printed is passed over. A document without its end is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MARK = "@probe"


@dataclass(frozen=True)
class Document:
    """One probe: the tag that the job gave it, the task that printed it, and what it says."""

    tag: str
    task: str
    data: dict[str, Any]

    @property
    def node(self) -> str:
        """Slurm's name of the node, which may differ from the host's own."""
        return str(self.data.get("env", {}).get("SLURMD_NODENAME") or self.data.get("host", "").split(".")[0])

    @property
    def rank(self) -> int:
        """The task's number in its step; 0 where there is none."""
        text = str(self.data.get("env", {}).get("SLURM_PROCID", ""))
        return int(text) if text.isascii() and text.isdigit() else 0


def read_documents(text: str) -> tuple[Document, ...]:
    """All whole documents, by node and task."""
    found = list(_documents(text))
    return tuple(sorted(found, key=lambda one: (one.tag, one.node, one.rank, one.task)))


def _documents(text: str) -> Iterator[Document]:
    pieces: dict[tuple[str, str], list[str]] = {}
    for line in text.splitlines():
        words = line.rstrip("\r").split(" ", 4)
        if len(words) < 4 or words[0] != MARK:
            continue
        key = words[1], words[2]
        if words[3] == "+" and len(words) == 5:
            pieces.setdefault(key, []).append(words[4])
        elif words[3] == ".":
            data = _parsed("".join(pieces.pop(key, [])))
            if data is not None:
                yield Document(*key, data)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) and isinstance(data.get("env", {}), dict) else None
