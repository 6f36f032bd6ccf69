"""Cluster to topology.conf or topology.yaml: which hosts Slurm keeps together when a job fits there.

From 25.05 slurmctld reads topology.yaml instead where the file exists; older releases ignore it without a
word, so the two are never written together.
"""

from __future__ import annotations

from slurmwright.core.release import Release
from slurmwright.model.check_topology import BLOCK_SIZES_SINCE
from slurmwright.model.cluster import Cluster
from slurmwright.render.hostlist import fold_for
from slurmwright.render.rows import Line, Section, setting
from slurmwright.topology.switches import Blocks, Tree, blocks_of, tree_of


def topology_conf(cluster: Cluster) -> tuple[Section, ...]:
    """The sections of topology.conf; none where the topology is flat or goes into topology.yaml."""
    topology, release = cluster.topology, cluster.slurm.release
    if topology is None or topology.kind == "flat" or topology.format == "yaml":
        return ()
    if topology.kind == "tree":
        return _tree(tree_of(cluster, topology), release)
    return _blocks(blocks_of(cluster, topology), release)


def topology_yaml(cluster: Cluster) -> dict[str, object] | None:
    """The one topology of topology.yaml as plain rows; None where that file is not written."""
    topology, release = cluster.topology, cluster.slurm.release
    if topology is None or topology.format != "yaml":
        return None
    rows: dict[str, object] = {"kind": topology.kind}
    if topology.kind == "tree":
        tree = tree_of(cluster, topology)
        rows["leaves"] = [(leaf.name, fold_for(release, list(leaf.hosts))) for leaf in tree.leaves]
        rows["upper"] = [(switch.name, fold_for(release, list(switch.children))) for switch in tree.upper]
    elif topology.kind == "block":
        found = blocks_of(cluster, topology)
        rows["sizes"] = found.sizes
        rows["blocks"] = [(block.name, fold_for(release, list(block.hosts))) for block in found.blocks]
    return rows


def topology_settings(cluster: Cluster) -> tuple[Line, ...]:
    """What slurm.conf says about the network: the plugin that reads topology.conf, and IMEX channels."""
    topology = cluster.topology
    lines = []
    if topology is not None and topology.kind != "flat" and topology.format == "conf":
        lines.append(setting("TopologyPlugin", f"topology/{topology.kind}"))
    if cluster.slurm.imex:
        lines += [
            setting("SwitchType", "switch/nvidia_imex"),
            setting("SwitchParameters", "imex_channel_count=2048"),
        ]
    return tuple(lines)


def _tree(tree: Tree, release: Release) -> tuple[Section, ...]:
    leaves = tuple(
        Line((("SwitchName", leaf.name), ("Nodes", fold_for(release, list(leaf.hosts)))))
        for leaf in tree.leaves
    )
    upper = tuple(
        Line((("SwitchName", switch.name), ("Switches", fold_for(release, list(switch.children)))))
        for switch in tree.upper
    )
    return (
        Section("Leaf switches and the nodes below them.", leaves),
        Section("The switches above, up to one that joins all.", upper),
    )


def _blocks(found: Blocks, release: Release) -> tuple[Section, ...]:
    lines = tuple(
        Line((("BlockName", block.name), ("Nodes", fold_for(release, list(block.hosts)))))
        for block in found.blocks
    )
    if release.at_least(BLOCK_SIZES_SINCE):
        sizes = setting("BlockSizes", ",".join(map(str, found.sizes)))
    else:
        sizes = setting("BlockLevels", ",".join(map(str, found.doublings)))
    return (
        Section("Blocks and their nodes.", lines),
        Section("Sizes that Slurm keeps together, the smallest first.", (sizes,)),
    )
