"""Imported clusters of different style rehearse clean on their release, in real slurmctld and slurmd."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from slurmwright.core.release import Release
from slurmwright.importing.command import import_folder
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.rehearse.expect import expected_nodes, expected_units
from slurmwright.rehearse.machine import SlurmRoot
from slurmwright.rehearse.processes import rehearse
from slurmwright.rehearse.roots import slurm_version
from slurmwright.render import render

INDEX = Path(__file__).parents[1] / "data/imported/index.yaml"
ENTRIES = yaml.safe_load(INDEX.read_text(encoding="utf-8"))


@pytest.mark.rehearsal
@pytest.mark.parametrize("name", ENTRIES)
def test_an_imported_cluster_rehearses_clean(
    other_style: Callable[[str], tuple[Path, str]], slurm_root: Callable[[str], Path], name: str
) -> None:
    path, series = other_style(name)
    root = slurm_root(series)
    cluster = cluster_from(parse_yaml(import_folder(path, Release(series)).text, "cluster.yaml"))
    result = rehearse(
        render(cluster, {}),
        (),
        expected_nodes(cluster, {}),
        SlurmRoot(root),
        slurm_version(root),
        lambda *_: None,
        jobs=ENTRIES[name].get("jobs", False),
        units=expected_units(cluster),
    )
    assert [verdict for verdict in result.scenarios if verdict.failed] == []
    passed = {verdict.name for verdict in result.scenarios if verdict.passed}
    assert passed >= {"registered", "logs-clean"}
