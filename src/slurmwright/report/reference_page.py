"""Turns the JSON Schema of cluster.yaml into docs/reference-cluster-yaml.md: every key with what it takes.

`python -m slurmwright.report.reference_page docs/reference-cluster-yaml.md` writes the page anew.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from slurmwright.model.schema import cluster_schema

Schema = Mapping[str, Any]
_HEAD = """\
# cluster.yaml, every key

Made from the schema that `slurmwright schema` prints; how to begin is in the [quick start](quick-start.md).
Words in *italics* are chapters of this page. Unknown keys are refused.
"""
_ACRONYMS = {"Nv": "NVLink", **{word.title(): word for word in ("CPU", "GPU", "MIG", "NIC")}}
_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "value": "value",
}


def page(schema: Schema) -> str:
    """One chapter for the file and one for each mapping in it, in the order in which they are met."""
    chapters = [_chapter("The file", schema)]
    chapters += [_chapter(title(name), schema["$defs"][name]) for name in _names(schema)]
    return _HEAD + "".join(chapters)


def title(name: str) -> str:
    """`NodeGroup` → `Node group`."""
    first, *words = re.findall(r"[A-Z][a-z]+", name.removesuffix("Link"))
    return " ".join([_ACRONYMS.get(first, first), *(word.lower() for word in words)])


def _names(schema: Schema) -> list[str]:
    """Definitions in the order in which a reader meets them."""
    found = list(dict.fromkeys(_refs(schema["properties"])))
    for name in found:
        found += [inner for inner in dict.fromkeys(_refs(schema["$defs"][name])) if inner not in found]
    return found


def _refs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"].rpartition("/")[2]
        for inner in value.values():
            yield from _refs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _refs(inner)


def _chapter(heading: str, schema: Schema) -> str:
    required = schema.get("required", ())
    rows = "".join(_row(key, entry, key in required) for key, entry in schema["properties"].items())
    return f"\n## {heading}\n\n{_plain(schema['description'].rstrip('.'))}.\n\n{rows}"


def _row(key: str, entry: Schema, required: bool) -> str:
    takes = _takes(entry) + (", required" if required else "")
    said = entry.get("description")
    return f"- `{key}` ({takes})" + (f": {_plain(said)}" if said else "") + "\n"


def _takes(entry: Schema) -> str:
    if "$ref" in entry:
        return f"*{title(entry['$ref'].rpartition('/')[2])}*"
    if "const" in entry:
        return f"`{entry['const']}`"
    if "enum" in entry:
        return " or ".join(f"`{word}`" for word in entry["enum"])
    if "anyOf" in entry:
        choices = (_takes(choice) for choice in entry["anyOf"] if choice.get("type") != "null")
        return " or ".join(dict.fromkeys(choices))
    kinds = entry["type"] if isinstance(entry["type"], list) else [entry["type"]]
    if {"string", "number", "boolean"} <= set(kinds):
        kinds = ["value", *(kind for kind in kinds if kind not in _TYPES)]
    return " or ".join(_kind(kind, entry) for kind in kinds if kind != "null")


def _kind(kind: str, entry: Schema) -> str:
    if kind == "array":
        return f"list of {_takes(entry['items'])}" if "items" in entry else "list"
    if kind == "object":
        inner = entry.get("additionalProperties")
        return f"mapping to {_takes(inner)}" if isinstance(inner, dict) else "mapping"
    return _TYPES[kind]


def _plain(text: str) -> str:
    """Text in which Markdown sees no emphasis and no tag, code apart."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*_<\[])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(cluster_schema()), encoding="utf-8")
