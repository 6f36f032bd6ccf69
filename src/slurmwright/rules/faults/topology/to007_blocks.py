"""TO007: block sizes that Slurm does not take."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.rules.topology_seen import topologies


@rule(
    "TO007",
    "block-sizes-slurm-refuses",
    ERROR,
    by_release=True,
    why="""BlockSizes are the base size and then its multiples by powers of two; and up to 24.11 no block
        may be smaller than the base size. slurmctld ends with "Invalid BlockSizes value" or "children count
        lower".""",
    fix="BlockSizes=18 for NVL72 domains, or 18,36,72",
    references=("Seen with slurmctld 24.11.5 and 25.11.2", "https://slurm.schedmd.com/topology.html (block)"),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for found in topologies(seen.config, seen.release):
        if found.kind != "block" or not found.sizes or seen.release.series == "23.11":
            continue
        words = [size.strip() for size in found.sizes.split(",")]
        words = [size.strip() for size in found.sizes.split(",")]
        sizes = [int(size) for size in words if size.isascii() and size.isdigit() and len(size) < 9]
        if len(sizes) != len(words) or not _doubling(sizes):
            text = f"BlockSizes={found.sizes} is not a base size and its multiples by powers of two"
            yield Fault(text, found.place, about="sizes")
            continue
        small = [unit for unit in found.units if unit.node_names and len(unit.node_names) < sizes[0]]
        if small and not seen.release.at_least("25.05"):
            block, count = small[0], len(small[0].node_names)
            text = f"block {block.name} has {count} nodes, fewer than the base size {sizes[0]}"
            yield Fault(text, block.place, about="small")


def _doubling(sizes: list[int]) -> bool:
    """Is each a power of two times the first, and do they rise?"""
    base = sizes[0]
    factors = [size // base for size in sizes if base and size % base == 0]
    whole = len(factors) == len(sizes) and all(factor & (factor - 1) == 0 for factor in factors)
    return whole and sizes == sorted(set(sizes))
