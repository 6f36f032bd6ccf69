"""What render refuses names the line of cluster.yaml that it is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.core.errors import InputError, Problem
from slurmwright.model.load import lines_of, load_cluster
from slurmwright.render import render

CLUSTER = """\
name: odd
slurm: {release: "24.11"}
control: {controllers: [ctl1], database: ctl1}
nodes:
  - {hosts: "a[1-2]", type: dgx-h100}
  - hosts: b1
    type: TYPE
    options: {MemSpecLimit: COUNT}
partitions: [{name: all, nodes: all, default: true}]
overrides:
  slurm.conf:
    MessageTimeout: 20
    AccountingStoragePort: PORT
"""


def _refused(folder: Path, kind: str, count: int = 1, port: int = 6819) -> str:
    text = CLUSTER.replace("TYPE", kind).replace("COUNT", str(count)).replace("PORT", str(port))
    (folder / "cluster.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error, lines_of(folder):
        render(load_cluster(folder), {})
    return str(error.value).replace(f"{folder}/", "")


def test_a_type_that_lacks_a_fact_has_the_line_that_names_it(tmp_path: Path) -> None:
    assert _refused(tmp_path, "aws-p6e-gb200").startswith(
        "cluster.yaml:7:11: node type 'aws-p6e-gb200': NUMA nodes of its GPUs not known"
    )


def test_a_reservation_that_leaves_nothing_has_the_line_of_the_option(tmp_path: Path) -> None:
    assert _refused(tmp_path, "dgx-h100", count=9_000_000).startswith(
        "cluster.yaml:8:14: b1: MemSpecLimit=9000000 leaves nothing of RealMemory="
    )


def test_an_override_that_makes_files_disagree_has_its_line(tmp_path: Path) -> None:
    assert _refused(tmp_path, "dgx-h100", port=7000).startswith(
        "cluster.yaml:13:28: overrides: slurm.conf: AccountingStoragePort: slurmctld and slurmdbd do not meet"
    )


def test_what_has_a_file_or_no_place_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER, encoding="utf-8")
    with pytest.raises(InputError) as error, lines_of(tmp_path):
        raise InputError([Problem("slurm.conf", 3, 0, "one"), Problem("", 0, 0, "two")])
    assert str(error.value) == "two\nslurm.conf:3: one"


def test_a_place_that_is_not_in_the_file_is_the_nearest_above_it(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER, encoding="utf-8")
    with pytest.raises(InputError) as error, lines_of(tmp_path):
        raise InputError([Problem("", 0, 0, "three", ("nodes", 0, "options"))])
    assert str(error.value).endswith("cluster.yaml:5:5: three")
