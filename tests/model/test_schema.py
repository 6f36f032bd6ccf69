"""The JSON Schema for editors: it takes what the loader takes, and knows every key."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from slurmwright.catalogue.node_types import NodeType
from slurmwright.model import cluster
from slurmwright.model.schema import cluster_schema

INVENTORIES = Path(__file__).parents[2] / "inventories"
EXAMPLES = ["dgx-h100-64n", "dgx-a100-20n", "lab-1node"]


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = cluster_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def example(name: str) -> Any:
    return yaml.safe_load((INVENTORIES / name / "cluster.yaml").read_text())


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_valid(validator: Any, name: str) -> None:
    validator.validate(example(name))


def test_every_short_form_is_valid(validator: Any) -> None:
    validator.validate(
        {
            "name": "x",
            "slurm": {"release": 24.11},
            "control": {"controllers": "c[1-2]", "database": {"host": "d"}, "login": ["a", {"host": "b"}]},
            "nodes": [{"hosts": ["a", "b"], "type": "t", "features": "f", "options": {"CoreSpecCount": 2}}],
            "node_types": {"t": {"extends": "dgx-h100", "cpu": {"numa_per_socket": 2}}},
            "partitions": [{"name": "p", "nodes": {"feature": "f"}, "max_time": 60}],
            "accounting": True,
            "overrides": {"slurm.conf": {"A": None, "B": [1, "x"], "C": {"x": True, "y": 1}}},
        }
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("nme",), "x"),
        (("partitions", 0, "nodes"), "some"),
        (("partitions", 0, "stat"), "UP"),
        (("nodes", 0, "weight"), -1),
        (("nodes", 0, "autodetect"), "rsmi"),
        (("control", "controllers"), 5),
        (("node_types",), {"x": {"name": "y"}}),
        (("fabric",), {"kind": "token-ring"}),
    ],
)
def test_a_wrong_file_is_not_valid(validator: Any, path: tuple[str | int, ...], value: object) -> None:
    raw = example("lab-1node")
    at = raw
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    assert not validator.is_valid(raw)


def test_required_keys_are_required(validator: Any) -> None:
    raw = example("lab-1node")
    del raw["partitions"]
    assert not validator.is_valid(raw)


def test_every_key_of_the_file_has_a_description() -> None:
    definitions = cluster_schema()["$defs"]
    for model in (cluster.Slurm, cluster.Control, cluster.NodeGroup, cluster.Partition, cluster.Racks):
        properties = definitions[model.__name__]["properties"]
        assert set(properties) == set(model.model_fields)
        assert all(entry.get("description") for entry in properties.values()), model.__name__
    assert set(definitions["NodeType"]["properties"]) == set(NodeType.model_fields) - {"name"} | {"extends"}
