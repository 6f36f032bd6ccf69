"""TO008: a topology file that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import INFO, WARNING, Fault, Place, rule
from slurmwright.rules.topology_seen import CONF, YAML, YAML_SINCE, kind_wanted, reads_yaml


@rule(
    "TO008",
    "topology-file-unused",
    WARNING,
    by_release=True,
    why="""A topology.conf without TopologyPlugin, or beside a topology.yaml, and a topology.yaml before
        25.05 are not read, and nothing says so: jobs are spread over the fabric as if there were no
        switches.""",
    fix="TopologyPlugin=topology/tree (or block), or remove the file",
    references=(
        "Seen with slurmctld 24.11.5 (topology.yaml ignored without a word)",
        "https://slurm.schedmd.com/topology.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if config.slurm is None:
        return
    has_yaml = config.path(YAML) in config.texts
    tree = config.tree(CONF)
    lines = bool(tree and tree.lines)
    if has_yaml and not reads_yaml(config, seen.release):
        yield Fault(f"topology.yaml is not read before {YAML_SINCE}", Place(config.path(YAML)), about="yaml")
    if lines and reads_yaml(config, seen.release):
        text = "topology.conf is not read where topology.yaml is"
        yield Fault(text, Place(config.path(CONF)), severity=INFO, about="both")
    elif lines and not kind_wanted(config):
        text = "topology.conf is not read: TopologyPlugin is not set to tree or block"
        yield Fault(text, Place(config.path(CONF)), about="plugin")
