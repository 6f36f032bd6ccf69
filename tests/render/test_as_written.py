"""`as_written`: what an imported file says and no other word can stands in the files as it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster
from slurmwright.render import render

Make = Callable[..., Cluster]
Text = Callable[..., str]
BARE = """\
  bare:
    cpu: {sockets: 2, cores_per_socket: 4, threads_per_core: 2, numa_per_socket: 1, numbering: contiguous}
    gpu: {count: 2}
"""


def group(words: str, kind: str = "bare") -> str:
    return f'{{hosts: "n[1-2]", type: {kind}, as_written: {{{words}}}}}'


def test_memory_is_written_to_the_last_megabyte(make: Make, text_of: Text) -> None:
    assert " RealMemory=63999 " in text_of(make(group("real_memory_mb: 63999", "small")), "slurm.conf")


def test_gpus_without_a_type_and_their_lines(make: Make, text_of: Text) -> None:
    lines = '[{Name: gpu, File: "/dev/nvidia[2,5]"}]'
    cluster = make(group(f'real_memory_mb: 1, gpu_type: "", gres: "gpu:2", gres_conf: {lines}'), types=BARE)
    assert " Gres=gpu:2 " in text_of(cluster, "slurm.conf")
    assert "NodeName=n[1-2] Name=gpu File=/dev/nvidia[2,5]\n" in text_of(cluster, "gres.conf")
    node_gpus = next(file.text for file in render(cluster, {}).files if file.path.endswith("node_gpus.conf"))
    assert 'gpu_minors="2 5"' in node_gpus


def test_resources_of_kept_lines_are_named_in_gres_types(make: Make, text_of: Text) -> None:
    lines = "[{Name: gpu, File: '/dev/nvidia[0-1]'}, {Name: nic, Count: 4}]"
    cluster = make(
        group(f'real_memory_mb: 1, gpu_type: "", gres: "gpu:2,nic:4", gres_conf: {lines}'), types=BARE
    )
    assert "GresTypes=gpu,nic\n" in text_of(cluster, "slurm.conf")


def test_kept_lines_that_count_otherwise_than_gres_are_refused(make: Make) -> None:
    lines = "[{Name: gpu, File: '/dev/nvidia[0-2]'}]"
    cluster = make(group(f'real_memory_mb: 1, gpu_type: "", gres: "gpu:2", gres_conf: {lines}'), types=BARE)
    with pytest.raises(InputError, match=r"slurm.conf says gpu:2, .*gres.conf gpu:3"):
        render(cluster, {})


def test_shares_are_counted_whatever_type_gres_gives_them(make: Make, text_of: Text) -> None:
    lines = '[{Name: gpu, Type: x1, File: "/dev/nvidia[0-1]"}, {Name: shard, Count: 8}]'
    words = f'real_memory_mb: 1, gpu_type: x1, gres: "gpu:x1:2,shard:x1:8", gres_conf: {lines}'
    assert "Gres=gpu:x1:2,shard:x1:8 " in text_of(make(group(words), types=BARE), "slurm.conf")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("gres: 'gpu:1', gres_conf: [{NodeName: n1, Name: gpu}]", "leave NodeName out"),
        ("gres: 'gpu:1', gres_conf: [{Name: gpu, Fle: /dev/nvidia0}]", "Fle is not a key of gres.conf"),
        ("gres: 'gpu:1', gres_conf: [{Name: gpu, File: '/dev/nvidia0 x;y'}]", "holds ;"),
        ("gres_conf: [{Name: gpu}]", "need the gres that they describe"),
        ("gres: 'gpu:1, shard:2'", "holds a blank"),
        ("gres: 'gpu:1', gres_conf: [{}]", "the line is empty"),
    ],
)
def test_what_could_not_stand_in_the_files_is_refused(make: Make, words: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(group(words, "small"))


def test_null_takes_a_partition_default_away(make: Make, text_of: Text) -> None:
    with_defaults = make(partitions="{name: p, nodes: all}")
    without = make(partitions="{name: p, nodes: all, options: {DefCpuPerGPU: null, DefMemPerGPU: null}}")
    assert "DefMemPerGPU=" in text_of(with_defaults, "slurm.conf")
    assert "PartitionName=p Nodes=ALL MaxTime=UNLIMITED State=UP\n" in text_of(without, "slurm.conf")


NAMED_TREE = """topology:
  kind: tree
  units:
    - {name: l1, nodes: "n[1-3]"}
    - {name: l2, nodes: n4}
    - {name: core, switches: "l[1-2]"}
"""


def test_named_switches_are_written_under_their_names(make: Make, text_of: Text) -> None:
    lines = [line for line in text_of(make(more=NAMED_TREE), "topology.conf").splitlines() if "=" in line]
    assert lines == [
        "SwitchName=l1 Nodes=n[1-3]",
        "SwitchName=l2 Nodes=n4",
        "SwitchName=core Switches=l[1-2]",
    ]


def test_named_blocks_with_their_sizes(make: Make, text_of: Text) -> None:
    named = '[{name: b1, nodes: "n[1-2]"}, {name: b2, nodes: "n[3-4]"}]'
    cluster = make(more=f"topology: {{kind: block, units: {named}, sizes: [2, 4]}}")
    text = text_of(cluster, "topology.conf")
    assert "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\n" in text
    assert "BlockSizes=2,4\n" in text


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        ("{kind: tree, units: [{name: a, nodes: 'n[1-3]'}]}", "n4 is below no switch"),
        ("{kind: tree, units: [{name: a, nodes: 'n[1-5]'}]}", "n5 is no node"),
        ("{kind: tree, units: [{name: a, nodes: 'n[1-4]'}, {name: t, switches: b}]}", "b is no unit"),
        ("{kind: tree, size: 2, units: [{name: a, nodes: 'n[1-4]'}]}", "each unit has a name"),
        ("{kind: tree, units: [{name: a, nodes: n1}, {name: a, nodes: 'n[2-4]'}]}", "stands twice"),
        ("{kind: tree, units: [{name: a}]}", "one of the two"),
        ("{kind: block, units: [{name: a, nodes: 'n[1-4]'}]}", "need their sizes"),
        ("{kind: block, units: [{name: a, nodes: 'n[1-4]'}], sizes: [4, 6]}", "6 is not 4 doubled"),
        ("{kind: tree, sizes: [2]}", "sizes belong to named blocks"),
        ("{kind: flat, sizes: [2]}", "a flat topology has no sizes"),
    ],
)
def test_named_units_that_do_not_fit_are_refused(make: Make, topology: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(more=f"topology: {topology}")
