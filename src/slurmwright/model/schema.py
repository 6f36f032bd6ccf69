"""Turns the models into a JSON Schema of cluster.yaml as people write it, short forms included.

Editors with a YAML language server take it: `# yaml-language-server: $schema=cluster.schema.json`. It knows
less than the loader (no option tables, no host ranges): what it refuses the loader refuses too.
"""

from __future__ import annotations

from typing import Any

from slurmwright.catalogue.node_types import NodeType
from slurmwright.model.cluster import Cluster

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TEXT = {"type": "string"}
_SCALAR = {"type": ["string", "number", "boolean"]}


def cluster_schema() -> dict[str, Any]:
    """The schema as plain data, ready for `json.dumps`."""
    schema = Cluster.model_json_schema()
    definitions: dict[str, Any] = schema["$defs"]
    own = NodeType.model_json_schema()
    definitions.update(own.pop("$defs"))
    definitions["NodeType"] = _own_type(own)
    top = schema["properties"]
    _allow_names(definitions["Control"]["properties"])
    for owner, key, short_form in (
        (definitions["Partition"]["properties"], "nodes", {"const": "all"}),
        (top, "accounting", {"type": "boolean"}),
    ):
        owner[key] = _either(owner[key], short_form)
    top["topology"]["anyOf"].append({"enum": ["tree", "block", "flat"]})
    for key in ("max_time", "default_time"):
        times = definitions["Partition"]["properties"][key]
        times["anyOf"] = [_TEXT, {"type": "integer"}]
    top["node_types"]["additionalProperties"] = {"$ref": "#/$defs/NodeType"}
    top["overrides"] = {**_overrides(), "description": top["overrides"]["description"]}
    schema["required"] = [key for key in schema["required"] if key != "node_types"]
    return {
        "$schema": DIALECT,
        "title": "slurmwright cluster.yaml",
        **_plain(schema),
        "description": "One cluster, as slurmwright takes it",
    }


def _own_type(own: dict[str, Any]) -> dict[str, Any]:
    """A type of the file: its name is the key above it, and a base may be named."""
    own["properties"].pop("name")
    own["properties"]["extends"] = {**_TEXT, "description": "the node type that this one changes"}
    own.pop("required")
    return own


def _allow_names(control: dict[str, Any]) -> None:
    server = {"$ref": "#/$defs/Server"}
    listed = {"type": "array", "items": {"anyOf": [_TEXT, server]}}
    for role in ("controllers", "login"):
        control[role] = {"description": control[role]["description"], "anyOf": [_TEXT, listed]}
    control["database"] = {"description": control["database"]["description"], "anyOf": [_TEXT, server]}


def _either(long: dict[str, Any], short_form: dict[str, Any]) -> dict[str, Any]:
    return {"description": long["description"], "anyOf": [short_form, {"$ref": long["$ref"]}]}


def _overrides() -> dict[str, Any]:
    setting = {
        "anyOf": [
            {**_SCALAR, "type": [*_SCALAR["type"], "null"]},
            {"type": "array", "items": _SCALAR},
            {"type": "object", "additionalProperties": _SCALAR},
        ]
    }
    return {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": setting}}


def _plain(value: Any) -> Any:
    """Texts on one line, and without pydantic's titles and defaults, which say nothing to one who edits."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return " ".join(value.split())
    if not isinstance(value, dict):
        return value
    return {
        key: {name: _plain(item) for name, item in inner.items()}
        if key in ("properties", "$defs")
        else _plain(inner)
        for key, inner in value.items()
        if key not in ("title", "default")
    }
