"""A small cluster whose hosts refuse every connection, with its files rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.model.load import load_cluster
from slurmwright.render import render

CLUSTER = """\
name: tiny
slurm: {release: "24.11"}
control:
  controllers: [{host: ctl1, address: 127.0.0.2}, ctl2]
  state_dir: /shared/state
  database: {host: db1, address: 127.0.0.5}
  login: [login1]
nodes:
  - {hosts: "gpu[1-2]", type: dgx-h100, address: "127.0.0.[3-4]"}
  - {hosts: "c[1-2]", type: cpu}
node_types:
  cpu:
    cpu: {sockets: 2, cores_per_socket: 64, threads_per_core: 2, numa_per_socket: 1, numbering: contiguous}
    memory: {nominal_gib: 512}
partitions:
  - {name: train-h, nodes: {type: dgx-h100}, default: true}
"""


@pytest.fixture
def cluster_folder(tmp_path: Path) -> Path:
    """cluster.yaml and what it renders."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "cluster.yaml").write_text(CLUSTER)
    render(load_cluster(folder), {}).write(folder / "rendered")
    return folder
