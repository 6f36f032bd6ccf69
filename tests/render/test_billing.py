"""TRESBillingWeights as they stand in slurm.conf, and what a job bills by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.core.errors import InputError
from slurmwright.model.load import load_cluster
from slurmwright.render.bundle import render

_YAML = """
name: pod1
slurm: {{release: "24.11"}}
control: {{controllers: [ctl1], database: db1}}
nodes:
  - {{hosts: "a[1-2]", type: dgx-a100-80gb}}
  - {{hosts: "h[1-2]", type: dgx-h100}}
partitions:
  - {{name: all, nodes: all}}
  - {{name: own, nodes: {{type: dgx-h100}}, options: {{TRESBillingWeights: "CPU=1"}}}}
{more}
"""


def _lines(folder: Path, more: str = "") -> dict[str, str]:
    (folder / "cluster.yaml").write_text(_YAML.format(more=more), encoding="utf-8")
    bundle = render(load_cluster(folder), {})
    conf = bundle.find("/etc/slurm/slurm.conf")
    assert conf is not None
    return {line.split()[0].partition("=")[2]: line for line in conf.text.splitlines() if line}


def _weights(line: str) -> str:
    return line.partition("TRESBillingWeights=")[2].split(" ")[0].strip('"')


def test_of_several_types_the_smallest_share_counts(tmp_path: Path) -> None:
    # 800/256 CPUs of a DGX A100 and 800/224 of a DGX H100; 800*1024/1992000 MiB and a little less.
    weights = dict(pair.split("=") for pair in _weights(_lines(tmp_path)["all"]).split(","))
    assert weights["CPU"] == "3.125"
    assert float(weights["Mem"].removesuffix("G")) <= 0.411
    assert weights["GRES/gpu"] == "100"


def test_a_partition_may_say_its_own_weights(tmp_path: Path) -> None:
    assert _weights(_lines(tmp_path)["own"]) == "CPU=1"


def test_the_words_of_billing_become_slurms_names(tmp_path: Path) -> None:
    more = 'accounting: {billing: {gpu: 1.5, "gpu:h100": 2, cpu: 0.25, mem_gb: 0.5}}'
    assert _weights(_lines(tmp_path, more)["all"]) == "GRES/gpu=1.5,GRES/gpu:h100=2,CPU=0.25,Mem=0.5G"


@pytest.mark.parametrize("more", ["accounting: false", "accounting: {billing: false}"])
def test_nothing_is_weighted_where_nothing_is_billed(tmp_path: Path, more: str) -> None:
    lines = _lines(tmp_path, more)
    assert "TRESBillingWeights" not in lines["all"]
    assert "MAX_TRES" not in lines


def test_the_largest_share_is_billed(tmp_path: Path) -> None:
    assert _lines(tmp_path)["MAX_TRES"] == "PriorityFlags=MAX_TRES"


@pytest.mark.parametrize("billing", ["{gpus: 1}", "{gpu: -1}", "{gpu: 1e9}", '{"gpu: x": 1}'])
def test_a_weight_that_slurm_would_not_take_is_refused(tmp_path: Path, billing: str) -> None:
    with pytest.raises(InputError, match="expected"):
        _lines(tmp_path, f"accounting: {{billing: {billing}}}")
