"""`slurmwright schema`: prints the schema and nothing else."""

import json

from click.testing import CliRunner

from slurmwright.cli.schema import schema
from slurmwright.model.schema import cluster_schema


def test_the_schema_is_printed_as_json() -> None:
    done = CliRunner().invoke(schema)
    assert done.exit_code == 0
    assert json.loads(done.stdout) == cluster_schema()
