"""GR004: Cores= covers part of a socket, which newer releases refuse."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR004",
    "cores-across-sockets",
    ERROR,
    releases="24.11+",
    by_release=True,
    why="""From 24.11 Cores= of a device must fill whole sockets of the node line, and from 25.11 exactly
        one socket or all cores. Otherwise the node becomes INVAL with "doesn't match socket boundaries".
        NUMA nodes smaller than a socket (NPS2, NPS4, SNC) become sockets of their own with
        numa_node_as_socket and a node line that counts them.""",
    fix="""SlurmdParameters=numa_node_as_socket with Sockets= and CoresPerSocket= counted in NUMA nodes, or
        Cores= of whole sockets""",
    references=(
        "Seen with slurmctld 24.11.5 and 26.05.5: doesn't match socket boundaries",
        "Slurm source, src/interfaces/gres.c (25.11: one socket or all)",
        "https://slurm.schedmd.com/gres.html (Socket Affinity)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    one_only = seen.release.at_least("25.11")
    for line in config.gres_lines:
        for node in config.readers(line) if line.cores else ():
            shape = node.shape
            if shape is None or not line.cores or line.cores[-1] >= shape.all_cores or shape.cores == 1:
                continue
            sockets = sorted({core // shape.cores for core in line.cores})
            whole = len(line.cores) == len(sockets) * shape.cores
            if whole and not (one_only and len(sockets) not in (1, shape.sockets)):
                continue
            first = sockets[0] * shape.cores
            what = "fill part of a socket" if not whole else f"fill {len(sockets)} of {shape.sockets} sockets"
            yield Fault(
                f"Cores={line.text('Cores', 'CPUs')} {what} of {node.written} (socket {sockets[0]} is the "
                "cores "
                f"{first}-{first + shape.cores - 1}): the node becomes INVAL",
                line.place,
                about=node.written,
            )
            break
