"""TO001: a topology plugin without its file."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.rules.topology_seen import CONF, YAML, YAML_SINCE, kind_wanted, reads_yaml


@rule(
    "TO001",
    "topology-file-missing",
    ERROR,
    by_release=True,
    why="""topology/tree, block and ring read topology.conf, or from 25.05 topology.yaml. Without the file
        slurmctld waits a minute for it and ends.""",
    fix="write topology.conf, or take TopologyPlugin out",
    references=(
        "Seen with slurmctld 24.11.5 and 26.05.5: cannot stat file, retrying in 1sec up to 60sec",
        "https://slurm.schedmd.com/topology.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    kind = kind_wanted(config)
    if kind not in ("tree", "block", "ring") or not seen.whole:
        return
    if config.tree(CONF) is None and not reads_yaml(config, seen.release):
        late = config.path(YAML) in config.texts
        text = f"; topology.yaml is not read before {YAML_SINCE}" if late else ""
        yield Fault(
            f"TopologyPlugin={config.value('TopologyPlugin')} needs topology.conf, which is not there{text}",
            config.place("TopologyPlugin"),
            about="missing",
        )
