"""TO010: lines of another plugin in topology.conf."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Place, rule
from slurmwright.rules.topology_seen import CONF, kind_wanted, reads_yaml


@rule(
    "TO010",
    "topology-of-another-plugin",
    ERROR,
    by_release=True,
    why="""topology/tree knows SwitchName lines only and topology/block BlockName lines: the others are
        unknown keys, and slurmctld does not start.""",
    fix="TopologyPlugin=topology/block for BlockName lines, topology/tree for SwitchName lines",
    references=(
        "Slurm source, src/plugins/topology: the option tables of tree and block",
        "https://slurm.schedmd.com/topology.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    tree = config.tree(CONF)
    keys = {"tree": "blockname", "block": "switchname"}
    wrong = keys.get(kind_wanted(config), "")
    if tree is None or not wrong or reads_yaml(config, seen.release):
        return
    lines = tree.all(wrong)
    if lines:
        text = f"{lines[0].statement.key} is not a key of TopologyPlugin={config.value('TopologyPlugin')}"
        yield Fault(text, Place(lines[0].doc.file, lines[0].statement.line), about="lines")
