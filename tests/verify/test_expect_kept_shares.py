"""Shares that an imported group has by `as_written` are expected of its nodes."""

from __future__ import annotations

import pytest

from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.verify.expect import expected_nodes

TEXT = """\
name: c
slurm: {{release: "24.11"}}
control: {{controllers: [h]}}
nodes:
  - hosts: n1
    type: t
    as_written: {{real_memory_mb: 64000, gpu_type: v100, gres: "{gres}"}}
node_types:
  t:
    cpu: {{sockets: 1, cores_per_socket: 8, threads_per_core: 1, numa_per_socket: 1, numbering: contiguous}}
    gpu: {{count: 2}}
partitions: [{{name: p, nodes: all}}]
"""


@pytest.mark.parametrize(
    ("gres", "shared"),
    [
        ("gpu:v100:2,mps:v100:200", ("mps", 200)),
        ("gpu:v100:2,shard:8", ("shard", 8)),
        ("gpu:v100:2", None),
    ],
)
def test_kept_shares_are_expected(gres: str, shared: tuple[str, int] | None) -> None:
    node = expected_nodes(cluster_from(parse_yaml(TEXT.format(gres=gres), "cluster.yaml")), {})["n1"]
    assert node.shared == shared
    assert [gpu.type for gpu in node.gpus] == ["v100", "v100"]
