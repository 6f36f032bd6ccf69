"""Lost and withheld GPUs, MIG instances, shares and reserved cores under real Slurm."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from slurmwright.core.bundle import read_bundle
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

_ODD = """\
name: odd
slurm: {release: "24.11", nvml: true}
control: {controllers: [ctl1]}
nodes:
  - hosts: s[1-2]
    type: dgx-h100
    shards_per_gpu: 4
    exceptions: {s2: {gpus_withheld: [5], gpus_missing: [0]}}
  - {hosts: m1, type: dgx-h100, mps_per_gpu: 100}
  - {hosts: g1, type: dgx-a100-80gb, autodetect: nvml, mig: [{gpus: [0, 3], profiles: [3g.40gb, 4g.40gb]}]}
  - {hosts: r1, type: dgx-h100, options: {RestrictedCoresPerGPU: 4, CoreSpecCount: 2, MemSpecLimit: 10000}}
partitions:
  - {name: all, nodes: all, default: true}
"""
_MIG = """\
name: mig
slurm: {release: "24.11"}
control: {controllers: [ctl1]}
nodes:
  - {hosts: m1, type: dgx-h100, mig: [{gpus: [1], profiles: {3g.40gb: 2}, caps: [[147, 148], [156, 157]]}]}
partitions:
  - {name: all, nodes: all, default: true}
"""


def _run(root: Path, folder: Path, text: str, series: str, edit: tuple[str, str] | None = None) -> Rehearsal:
    (folder / "cluster.yaml").write_text(text, encoding="utf-8")
    cluster = load_cluster(folder, Release(series))
    render(cluster, {}).write(folder / "bundle")
    if edit:
        path = folder / "bundle/etc/slurm/gres.conf"
        changed, times = re.subn(*edit, path.read_text(encoding="utf-8"))
        assert times
        path.write_text(changed, encoding="utf-8")
    files, edited = read_bundle(folder / "bundle")
    expected = expected_nodes(cluster, {})
    return rehearse(files, edited, expected, SlurmRoot(root), slurm_version(root), lambda *_: None)


@pytest.mark.parametrize("series", ["24.11", "26.05"])
def test_every_odd_node_rehearses_clean(slurm_root: RootOf, tmp_path: Path, series: str) -> None:
    result = _run(slurm_root(series), tmp_path, _ODD, series)
    assert result.passed, [v for v in result.scenarios if v.failed]
    evidence = " ".join(line for verdict in result.scenarios for line in verdict.evidence)
    for words in (
        "s1: dgx-h100: Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 CPUs=224 Gres=gpu:h100:8,shard:32",
        "s2: 6 plain one-GPU jobs hold GPUs 0 to 5, one each; one more waits",
        "Gres=gpu:h100:8,mps:800",
        "g1: 10 plain one-GPU jobs hold GPUs 0 to 9, one each; one more waits",
        "one job holds 5 nodes with 40 GPUs",
    ):
        assert words in evidence


#: 24.11.5 refuses a job of all GPUs of such a node: "Requested node configuration is not available".
@pytest.mark.parametrize(
    ("series", "failed"),
    [
        ("22.05", ["gpu-locality"]),
        ("24.11", ["gpu-locality", "whole-cluster"]),
        ("26.05", ["gpu-locality"]),
    ],
)
def test_an_instance_on_the_wrong_socket_is_found(
    slurm_root: RootOf, tmp_path: Path, series: str, failed: list[str]
) -> None:
    swap = (r"(MultipleFiles=\S+) Cores=0-55", r"\1 Cores=56-111")
    result = _run(slurm_root(series), tmp_path, _MIG, series, swap)
    assert [v.name for v in result.scenarios if v.failed] == failed
    lines, *jobs = next(v for v in result.scenarios if v.name == "gpu-locality").evidence
    one, two = (f"/dev/nvidia1 (MIG 3g.40gb, cap {cap})" for cap in (147, 156))
    assert lines.startswith(
        f"m1: {one}, {two} with Cores=56-111 in gres.conf; by the dgx-h100 map it sits on"
    )
    for job, index, device in zip(jobs, (7, 8), (one, two), strict=True):
        place = f"a job with GPU index {index} ({device}, NUMA node 0, cores 0-55) got core"
        assert job.startswith(f"m1: {place} ")


@pytest.mark.parametrize("series", ["22.05", "26.05"])
def test_a_gpu_left_out_of_gres_conf_is_found(slurm_root: RootOf, tmp_path: Path, series: str) -> None:
    result = _run(slurm_root(series), tmp_path, _MIG, series, (r"nvidia\[4-7\]", "nvidia[4-6]"))
    assert "registered" in [v.name for v in result.scenarios if v.failed]


_FOUND = """\
name: found
slurm: {release: "22.05", nvml: true}
control: {controllers: [ctl1]}
nodes:
  - {hosts: a1, type: dgx-h100, autodetect: nvml, mig: [{gpus: [1], profiles: {3g.40gb: 2}}]}
  - {hosts: b1, type: dgx-a100-80gb, autodetect: nvml, mig: [{gpus: [0, 3], profiles: [3g.40gb, 4g.40gb]}]}
partitions:
  - {name: all, nodes: all, default: true}
"""


def test_instances_that_nvml_finds_rehearse_clean_on_the_oldest_release(
    slurm_root: RootOf, tmp_path: Path
) -> None:
    result = _run(slurm_root("22.05"), tmp_path, _FOUND, "22.05")
    assert result.passed, [v for v in result.scenarios if v.failed]
