"""Real machines' own hwloc exports drive a rehearsal: real slurmd sees them; a wrong type is found out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from slurmwright.core.release import Release
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import expected_nodes
from slurmwright.rehearse.machine import SlurmRoot
from slurmwright.rehearse.processes import rehearse
from slurmwright.rehearse.roots import slurm_version
from slurmwright.rehearse.values import Rehearsal, Verdict
from slurmwright.render import render
from slurmwright.topology.host_maps import load_maps

pytestmark = pytest.mark.rehearsal
RootOf = Callable[[str], Path]
CLUSTER = """\
name: mapped
slurm: {{release: "{series}"}}
control: {{controllers: [ctl1]}}
node_types: {{p4d-smt-off: {{extends: aws-p4d.24xlarge, cpu: {{threads_per_core: 1}}}}}}
nodes: [{{hosts: "g[1-2]", type: {type}}}]
partitions: [{{name: all, nodes: all, default: true}}]
"""
P4D, B200 = "aws-p4d.24xl", "aws-p6-b200.48xl"


def _capture(field_data: Path, name: str) -> str:
    return (field_data / "captures/nodes" / f"{name}.hwloc.xml.txt").read_text(encoding="utf-8")


def _rehearse(root: Path, folder: Path, series: str, type_name: str, export: str) -> Rehearsal:
    (folder / "cluster.yaml").write_text(CLUSTER.format(series=series, type=type_name), encoding="utf-8")
    (folder / "facts").mkdir()
    for host in ("g1", "g2"):
        (folder / f"facts/{host}.hwloc.xml").write_text(export, encoding="utf-8")
    cluster = load_cluster(folder, Release(series))
    maps = load_maps(folder, ["g1", "g2"], {})
    expected = expected_nodes(cluster, {}, maps)
    assert expected["g1"].hwloc_xml
    return rehearse(render(cluster, {}), (), expected, SlurmRoot(root), slurm_version(root), lambda *_: None)


def _verdict(result: Rehearsal, name: str) -> Verdict:
    return next(verdict for verdict in result.scenarios if verdict.name == name)


@pytest.mark.parametrize("series", ["22.05", "24.11", "26.05"])
@pytest.mark.parametrize(
    ("capture", "type_name", "seen"),
    [
        (P4D, "p4d-smt-off", "CPUs=48 SocketsPerBoard=2 CoresPerSocket=24 ThreadsPerCore=1"),
        (B200, "aws-p6-b200.48xlarge", "CPUs=192 SocketsPerBoard=2 CoresPerSocket=48 ThreadsPerCore=2"),
    ],
)
def test_real_slurmd_sees_the_export(
    slurm_root: RootOf, field_data: Path, tmp_path: Path, capture: str, type_name: str, seen: str, series: str
) -> None:
    result = _rehearse(slurm_root(series), tmp_path, series, type_name, _capture(field_data, capture))
    assert result.passed, [v for v in result.scenarios if not v.passed]
    assert f"g1: slurmd -C prints {seen}" in _verdict(result, "registered").evidence
    assert "8 one-GPU jobs ran on the cores of their GPU's socket" in " ".join(
        _verdict(result, "gpu-locality").evidence
    )


def test_an_instance_with_smt_off_fails_registered_with_both_numbers(
    slurm_root: RootOf, field_data: Path, tmp_path: Path
) -> None:
    result = _rehearse(slurm_root("24.11"), tmp_path, "24.11", "aws-p4d.24xlarge", _capture(field_data, P4D))
    verdict = _verdict(result, "registered")
    assert not verdict.passed
    said = " ".join(verdict.evidence)
    assert "CoresPerSocket=24 ThreadsPerCore=2 CPUs=96" in said
    assert "hwloc XML) has Sockets=2 CoresPerSocket=24 ThreadsPerCore=1 CPUs=48" in said


def test_a_gpu_on_the_other_package_fails_gpu_locality_with_both_sides(
    slurm_root: RootOf, field_data: Path, tmp_path: Path
) -> None:
    text = _capture(field_data, B200)
    first, fifth = 'pci_busid="0000:51:00.0"', 'pci_busid="0000:75:00.0"'
    assert text.count(first) == text.count(fifth) == 1
    export = text.replace(first, "@").replace(fifth, first).replace("@", fifth)
    result = _rehearse(slurm_root("24.11"), tmp_path, "24.11", "aws-p6-b200.48xlarge", export)
    assert [finding.name for finding in result.findings] == ["gpu-locality"]
    said = " ".join(_verdict(result, "gpu-locality").evidence)
    assert "/dev/nvidia0 with Cores=0-47 in gres.conf" in said
    assert "it sits on NUMA node 1 with cores 48-95" in said
