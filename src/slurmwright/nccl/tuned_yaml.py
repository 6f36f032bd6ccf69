"""A cluster.yaml and measured settings to the new text of it; every other line stays as it is."""

from __future__ import annotations

from typing import Any

from slurmwright.model.edit.text import Document
from slurmwright.nccl.tune_search import Setting


def with_tuned(text: str, file: str, about: dict[str, Any], setting: Setting) -> str:
    """The entry of this node type in `nccl: tuned`, new or in the place of an older one."""
    edited = Document(text, file)
    entry = {
        "type": about["type"],
        "fabric": about["fabric"],
        "nodes": about["node_count"],
        "nccl": about["nccl"] or "not told",
        "set": {name: int(value) if value.isdigit() else value for name, value in sorted(setting.items())},
    }
    part = edited.data.get("nccl")
    if part is None:
        edited.data["nccl"] = part = {}
    rest = [one for one in part.get("tuned") or () if one.get("type") != about["type"]]
    part["tuned"] = [*rest, entry]
    return edited.text()
