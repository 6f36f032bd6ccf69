"""topology.conf and topology.yaml by release, what slurm.conf says of them, and whom IMEX is told of."""

from __future__ import annotations

import pytest

from slurmwright.core.bundle import Bundle
from slurmwright.core.hosts import expand
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.render import render

TEXT = """\
name: racks
slurm: {{release: "{release}"{slurm}}}
control: {{controllers: [ctl1]}}
nodes: [{nodes}]
topology: {topology}
partitions: [{{name: train, nodes: all, default: true}}]
"""
H100 = '{hosts: "gpu[1-4]", type: dgx-h100, racks: {size: 2, names: "r[1-2]"}}'
TRAYS = '{hosts: "t[1-36]", type: gb200-nvl72-tray, address: "10.0.0.[1-36]"}'


def bundle(topology: str, release: str = "26.05", nodes: str = H100, slurm: str = "") -> Bundle:
    text = TEXT.format(topology=topology, release=release, nodes=nodes, slurm=slurm)
    return render(cluster_from(parse_yaml(text, "cluster.yaml")), {})


def lines(made: Bundle, name: str) -> list[str]:
    file = made.find(f"/etc/slurm/{name}")
    return [line for line in file.text.splitlines() if line and line[0] != "#"] if file else []


@pytest.mark.parametrize("release", ["22.05", "24.11", "26.05"])
def test_a_tree_is_written_for_every_release(release: str) -> None:
    made = bundle("tree", release)
    assert lines(made, "topology.conf") == [
        "SwitchName=r1 Nodes=gpu[1-2]",
        "SwitchName=r2 Nodes=gpu[3-4]",
        "SwitchName=top Switches=r[1-2]",
    ]
    assert "TopologyPlugin=topology/tree" in lines(made, "slurm.conf")


@pytest.mark.parametrize(
    ("release", "sizes"),
    [("23.11", "BlockLevels=0,1"), ("24.05", "BlockSizes=2,4"), ("26.05", "BlockSizes=2,4")],
)
def test_block_sizes_are_written_as_the_release_reads_them(release: str, sizes: str) -> None:
    made = bundle("{kind: block, levels: [2]}", release)
    assert lines(made, "topology.conf") == [
        "BlockName=r1 Nodes=gpu[1-2]",
        "BlockName=r2 Nodes=gpu[3-4]",
        sizes,
    ]
    assert "TopologyPlugin=topology/block" in lines(made, "slurm.conf")


def test_a_flat_network_has_no_file_and_no_plugin() -> None:
    made = bundle("flat")
    assert made.find("/etc/slurm/topology.conf") is None
    assert not any(line.startswith("TopologyPlugin") for line in lines(made, "slurm.conf"))


def test_topology_yaml_takes_the_place_of_topology_conf_and_of_the_plugin() -> None:
    made = bundle("{kind: tree, format: yaml}")
    assert made.find("/etc/slurm/topology.conf") is None
    assert not any(line.startswith("TopologyPlugin") for line in lines(made, "slurm.conf"))
    file = made.find("/etc/slurm/topology.yaml")
    assert file is not None
    assert parse_yaml(file.text, file.path).data == [
        {
            "topology": "tree",
            "cluster_default": True,
            "tree": {
                "switches": [
                    {"switch": "r1", "nodes": "gpu[1-2]"},
                    {"switch": "r2", "nodes": "gpu[3-4]"},
                    {"switch": "top", "children": "r[1-2]"},
                ]
            },
        }
    ]


def test_blocks_in_topology_yaml() -> None:
    file = bundle("{kind: block, levels: [2], format: yaml}").find("/etc/slurm/topology.yaml")
    assert file is not None
    (found,) = parse_yaml(file.text, file.path).data
    assert found["block"]["block_sizes"] == [2, 4]
    assert [block["block"] for block in found["block"]["blocks"]] == ["r1", "r2"]


def test_imex_is_told_of_the_hosts_of_its_own_domain_on_each_of_them() -> None:
    files = [file for file in bundle("block", nodes=TRAYS).files if file.path.startswith("/etc/nvidia-imex/")]
    assert [(file.source.split("/")[0], len(expand(file.hosts))) for file in files] == [
        ("@block1", 18),
        ("@block2", 18),
    ]
    assert [file.text.split() for file in files] == [
        [f"10.0.0.{n}" for n in range(1, 19)],
        [f"10.0.0.{n}" for n in range(19, 37)],
    ]


def test_hosts_without_addresses_are_named() -> None:
    nodes = TRAYS.replace(', address: "10.0.0.[1-36]"', "")
    files = [file for file in bundle("block", nodes=nodes).files if file.source.startswith("@block1/")]
    texts = [file.text for file in files if file.path == "/etc/nvidia-imex/nodes_config.cfg"]
    assert [text.split()[:2] for text in texts] == [["t1", "t2"]]


def test_clusters_without_an_nvlink_domain_get_no_imex_file() -> None:
    assert not [file for file in bundle("tree").files if "imex" in file.path]


@pytest.mark.parametrize("wanted", [True, False])
def test_the_switch_plugin_is_written_where_asked_for(wanted: bool) -> None:
    made = bundle("block", nodes=TRAYS, slurm=", imex: true" if wanted else "")
    for line in ("SwitchType=switch/nvidia_imex", "SwitchParameters=imex_channel_count=2048"):
        assert (line in lines(made, "slurm.conf")) == wanted
