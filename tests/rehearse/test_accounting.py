"""The scenario `accounting` against real slurmdbd and MariaDB: a GPU that is not counted is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from slurmwright.core.bundle import Bundle
from slurmwright.core.release import Release
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import expected_nodes
from slurmwright.rehearse.machine import SlurmRoot
from slurmwright.rehearse.processes import rehearse
from slurmwright.rehearse.roots import slurm_version
from slurmwright.rehearse.values import Rehearsal
from slurmwright.render import render

pytestmark = pytest.mark.rehearsal
RootOf = Callable[[str], Path]
SERIES = "24.11"
_YAML = """
name: pod1
slurm: {release: "24.11"}
control: {controllers: [ctl1], database: db1}
nodes: [{hosts: "a[1-2]", type: dgx-a100-80gb}]
partitions: [{name: all, nodes: all}]
"""


def _rehearse(root: Path, folder: Path, edit: Callable[[str], str]) -> Rehearsal:
    (folder / "cluster.yaml").write_text(_YAML, encoding="utf-8")
    cluster = load_cluster(folder, Release(SERIES))
    bundle = render(cluster, {})
    files = tuple(
        replace(f, text=edit(f.text)) if f.path.endswith("/slurm.conf") else f for f in bundle.files
    )
    bundle = Bundle(bundle.cluster, bundle.release, files)
    expected = expected_nodes(cluster, {})
    return rehearse(bundle, (), expected, SlurmRoot(root), slurm_version(root), lambda *_: None)


def test_a_gpu_that_is_not_tracked_is_found(slurm_root: RootOf, tmp_path: Path) -> None:
    def untracked(text: str) -> str:
        lines = [line for line in text.splitlines() if not line.startswith("AccountingStorageTRES")]
        return "\n".join(line.replace(",GRES/gpu=100", "") for line in lines) + "\n"

    result = _rehearse(slurm_root(SERIES), tmp_path, untracked)
    verdict = next(one for one in result.scenarios if one.name == "accounting")
    assert verdict.failed
    assert "without gres/gpu=1" in verdict.evidence[0]


def test_the_password_of_the_rehearsal_is_in_no_report(slurm_root: RootOf, tmp_path: Path) -> None:
    result = _rehearse(slurm_root(SERIES), tmp_path, lambda text: text)
    verdict = next(one for one in result.scenarios if one.name == "accounting")
    assert verdict.passed, verdict.evidence
    filled = [one for one in result.adapted if one.key == "StoragePass"]
    assert [(one.old, one.new) for one in filled] == [
        ("@SLURMWRIGHT_STORAGE_PASSWORD@", "a password of the rehearsal's own")
    ]
