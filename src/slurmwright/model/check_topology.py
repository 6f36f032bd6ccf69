"""Finds topologies that the hosts do not fill, or that the Slurm release would refuse at start."""

from __future__ import annotations

import math
from collections.abc import Mapping

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.hosts import fold
from slurmwright.core.release import Release
from slurmwright.model import names
from slurmwright.model.check_hosts import Groups
from slurmwright.model.cluster import NodeGroup, Slurm, Topology
from slurmwright.model.faults import Faults
from slurmwright.model.units import unit_size, units

BLOCK_SINCE = "23.11"
#: BlockSizes took the place of BlockLevels, and blocks no longer have to be equal (block_record.c).
BLOCK_SIZES_SINCE = "24.05"
#: Blocks may hold fewer hosts than the base size from here on; before, slurmctld ends with a fatal error.
SMALL_BLOCKS_SINCE = "25.05"
YAML_SINCE = "25.05"
#: The first patch level whose controllers hand topology.yaml to configless hosts.
YAML_CONFIGLESS_SINCE = "25.05.2"
IMEX_SINCE = "24.05"
#: Doublings between the base size and the largest of BlockSizes (MAX_BLOCK_LEVELS in block_record.c).
_MAX_DOUBLINGS = 15


def check_topology(faults: Faults, topology: Topology, release: Release | None) -> None:
    """Note words that do not belong together, and what the release does not have."""
    if release:
        _check_release(faults, topology, release)
    if topology.kind == "flat":
        _check_flat(faults, topology)
    else:
        _check_words(faults, topology)
        _check_named(faults, topology)


def check_units(
    faults: Faults, topology: Topology, groups: Groups, types: Mapping[str, NodeType], release: Release
) -> None:
    """Note hosts that stand in no unit, and blocks that the release refuses. `groups` have no faults."""
    if topology.kind == "flat":
        return
    if topology.units:
        _check_members(faults, topology, groups)
        return
    fits = [_check_group(faults, topology, at, group, types[group.type]) for at, group in groups]
    if all(fits) and topology.kind == "block":
        _check_blocks(faults, topology, groups, types, release)


def check_imex(faults: Faults, slurm: Slurm) -> None:
    """The switch plugin for IMEX channels against the release."""
    if slurm.imex and not slurm.release.at_least(IMEX_SINCE):
        faults.add(
            ("slurm", "imex"),
            f"switch/nvidia_imex came with Slurm {IMEX_SINCE}, and the release here is {slurm.release}; "
            "leave imex out (IMEX itself runs without it, with one channel for all jobs)",
        )


def base_size(topology: Topology, sizes: list[int]) -> int:
    """Nodes of a block that Slurm plans with: as said, or the smallest full block."""
    return topology.base or min(sizes)


def _check_release(faults: Faults, topology: Topology, release: Release) -> None:
    if topology.kind == "block" and not release.at_least(BLOCK_SINCE):
        faults.add(
            ("topology", "kind"),
            f"block topology came with Slurm {BLOCK_SINCE} (topology/block), and the release here is "
            f"{release}, whose slurmctld would not start with it; use kind: tree, or a later release",
        )
    if topology.base is not None and topology.kind == "block" and not release.at_least(BLOCK_SIZES_SINCE):
        faults.add(
            ("topology", "base"),
            f"base is the first of BlockSizes, which came with Slurm {BLOCK_SIZES_SINCE}; leave it out",
        )
    if topology.format != "yaml" or release.at_least(YAML_CONFIGLESS_SINCE):
        return
    if not release.at_least(YAML_SINCE):
        why = f"topology.yaml came with Slurm {YAML_SINCE}; {release} ignores it without a word"
    else:
        why = f"controllers hand topology.yaml to their nodes from Slurm {YAML_CONFIGLESS_SINCE} on"
    faults.add(
        ("topology", "format"), f"{why}; use format: conf, or release: {YAML_CONFIGLESS_SINCE} or later"
    )


def _check_flat(faults: Faults, topology: Topology) -> None:
    for word in ("size", "base", "levels", "units", "sizes"):
        if word in topology.model_fields_set:
            faults.add(("topology", word), f"a flat topology has no {word}; take it out, or use kind: tree")


def _check_words(faults: Faults, topology: Topology) -> None:
    if topology.kind == "tree" and topology.base is not None:
        faults.add(("topology", "base"), "base belongs to kind: block; the leaf of a tree has a size only")
    doublings = 0
    for at, joined in enumerate(topology.levels):
        if joined < 2:
            faults.add(("topology", "levels", at), f"levels holds {joined}; one level joins at least 2")
        elif topology.kind == "block" and joined & (joined - 1):
            faults.add(
                ("topology", "levels", at),
                f"levels holds {joined}; blocks are joined in powers of two (2, 4, 8, ...)",
            )
        doublings += max(joined, 1).bit_length() - 1
    if topology.kind == "block" and doublings > _MAX_DOUBLINGS:
        faults.add(("topology", "levels"), f"levels join {2**doublings} blocks; expected at most 32768")


def _check_named(faults: Faults, topology: Topology) -> None:
    """Named units by themselves: each name once, known switches, sizes that are doublings of the first."""
    if topology.sizes and not (topology.kind == "block" and topology.units):
        faults.add(("topology", "sizes"), "sizes belong to named blocks, kind: block with units")
    if topology.kind == "block" and topology.units and not topology.sizes:
        faults.add(("topology", "units"), "named blocks need their sizes, for example sizes: [18]")
    first = topology.sizes[0] if topology.sizes else 1
    for at, size in enumerate(topology.sizes):
        times, rest = divmod(size, first) if first > 0 else (0, 1)
        if rest or times < 1 or times & (times - 1) or times > 2**_MAX_DOUBLINGS:
            faults.add(("topology", "sizes", at), f"{size} is not {first} doubled once or several times")
    if topology.units:
        for word in ("size", "base", "levels"):
            if word in topology.model_fields_set:
                faults.add(("topology", word), f"{word} cuts units from groups; here each unit has a name")
    known = {unit.name for unit in topology.units}
    seen: set[str] = set()
    for at, unit in enumerate(topology.units):
        where = ("topology", "units", at)
        if wrong := names.bad_word("unit", unit.name):
            faults.add((*where, "name"), wrong)
        if unit.name in seen:
            faults.add((*where, "name"), f"'{unit.name}' stands twice; name each unit once")
        seen.add(unit.name)
        if bool(unit.nodes) == bool(unit.switches) or (unit.switches and topology.kind == "block"):
            faults.add(where, "expected nodes, or in a tree the switches below it; one of the two")
        lost = [name for name in unit.switches if name not in known]
        if lost:
            faults.add((*where, "switches"), f"{fold(lost)} is no unit here; name it too")


def _check_members(faults: Faults, topology: Topology, groups: Groups) -> None:
    """Named units hold nodes of the cluster, and a tree reaches all of them."""
    known = {host for _, group in groups for host in group.hosts}
    for at, unit in enumerate(topology.units):
        lost = [host for host in unit.nodes if host not in known]
        if lost:
            faults.add(("topology", "units", at, "nodes"), f"{fold(lost)} is no node of this cluster")
    missing = known - {host for unit in topology.units for host in unit.nodes}
    if missing and topology.kind == "tree":
        faults.add(
            ("topology", "units"),
            f"{fold(missing)} is below no switch, and Slurm never runs a job across such hosts",
        )


def _check_group(faults: Faults, topology: Topology, at: int, group: NodeGroup, node_type: NodeType) -> bool:
    """Does the group say in which units its hosts stand?"""
    size = unit_size(topology, group, node_type)
    noun = "leaf switch" if topology.kind == "tree" else "block"
    if size is None:
        faults.add(
            ("nodes", at),
            f"{fold(group.hosts)} would be in no {noun}, and Slurm never runs a job across such hosts; "
            f"give the group its racks, for example racks: {{size: {min(len(group.hosts), 4)}}}, or "
            "topology a size",
        )
        return False
    if topology.base is not None and topology.base > size:
        faults.add(("topology", "base"), f"base is {topology.base}, but blocks hold {size} hosts")
        return False
    if topology.kind == "block" and group.racks and group.racks.size % size and size % group.racks.size:
        faults.add(
            ("nodes", at, "racks", "size"),
            f"racks of {group.racks.size} hosts and blocks of {size} do not fit each other; expected one to "
            "be a multiple of the other (topology: {size: ...} sets the blocks)",
        )
        return False
    return True


def _check_blocks(
    faults: Faults, topology: Topology, groups: Groups, types: Mapping[str, NodeType], release: Release
) -> None:
    plain = [group for _, group in groups]
    found = units(topology, plain, types)
    joined = math.prod(topology.levels)
    if len(found) % joined:
        faults.add(
            ("topology", "levels"),
            f"levels join {joined} blocks and there are {len(found)}: Slurm enforces the sizes, so no job "
            "could take the whole cluster (seen on 24.11.5 and 26.05.5); expected a divisor of the number of "
            "blocks",
        )
    if release.at_least(SMALL_BLOCKS_SINCE):
        return
    sizes = [size for group in plain if (size := unit_size(topology, group, types[group.type]))]
    base = base_size(topology, sizes)
    small = [unit for unit in found if len(unit.hosts) < base]
    if small:
        unit = small[0]
        faults.add(
            ("topology",),
            f"block {unit.name} holds {len(unit.hosts)} hosts, fewer than the base size {base}, with which "
            f"slurmctld before {SMALL_BLOCKS_SINCE} does not start; fill it, or give topology: "
            + (
                f"{{base: {len(unit.hosts)}}}"
                if release.at_least(BLOCK_SIZES_SINCE)
                else f"{{size: ...}} that divides {len(unit.hosts)} and {base}"
            ),
        )
    elif not release.at_least(BLOCK_SIZES_SINCE) and len({len(unit.hosts) for unit in found}) > 1:
        faults.add(
            ("topology",),
            f"blocks hold {', '.join(str(n) for n in sorted({len(u.hosts) for u in found}))} hosts; Slurm "
            f"{release} takes blocks of one size only",
        )
