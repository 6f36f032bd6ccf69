"""ND005: addresses or host names of a line are not as many as its nodes."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.hosts import MAX_HOSTS
from slurmwright.rules.brackets import expand_brackets
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "ND005",
    "addresses-unlike-nodes",
    ERROR,
    why="""NodeAddr, NodeHostname and Port of a line of several nodes have one entry for all or one for
        each; otherwise slurmctld ends with "count must equal that of NodeName records".""",
    fix="as many addresses as nodes: NodeName=gpu[1-4] NodeAddr=10.0.0.[1-4]",
    references=(
        "Slurm source, src/common/node_conf.c: NodeAddr count must equal that of NodeName",
        "https://slurm.schedmd.com/slurm.conf.html (NodeAddr)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for node in seen.config.nodes:
        for key in ("NodeAddr", "NodeHostname", "BcastAddr", "Port"):
            text = node.text(key)
            count = len(expand_brackets(text, MAX_HOSTS)) if text else 0
            if count > 1 and node.names and count != len(node.names):
                yield Fault(
                    f"{key}={text} are {count}, and {node.written} are {len(node.names)} nodes; slurmctld "
                    "does not "
                    "start",
                    node.line_of(key),
                    about=f"{node.written} {key}",
                )
