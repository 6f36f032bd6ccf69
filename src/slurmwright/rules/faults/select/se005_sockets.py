"""SE005: two ways to count sockets that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "SE005",
    "two-kinds-of-sockets",
    ERROR,
    why="""A node has its NUMA nodes as sockets, or its L3 caches, not both. Slurm logs an error and drops
        numa_node_as_socket, so the sockets that slurmd finds are not those of the node line, and GPUs lose
        their cores.""",
    fix="the one for which slurmd -C prints the sockets of the node line",
    references=(
        "Seen with slurmctld and slurmd 24.11.5 and 26.05.5: are mutually exclusive",
        "https://slurm.schedmd.com/slurm.conf.html (SlurmdParameters)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if config.has("SlurmdParameters", _NUMA) and config.has("SlurmdParameters", _L3):
        yield Fault(
            f"SlurmdParameters has {_NUMA} and {_L3}, which exclude each other",
            config.place("SlurmdParameters"),
        )
    everywhere = config.words("SlurmdParameters")
    for node in config.nodes:
        own = {word.strip().lower() for word in node.text("Parameters").split(",")}
        if own & {_NUMA, _L3} and {_NUMA, _L3} <= own | set(everywhere):
            yield Fault(
                f"{node.written} has {_NUMA} and {_L3}, which exclude each other",
                node.line_of("Parameters"),
                about=node.written,
            )


_NUMA = "numa_node_as_socket"
_L3 = "l3cache_as_socket"
