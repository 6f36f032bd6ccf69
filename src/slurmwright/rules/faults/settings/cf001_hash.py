"""CF001: the warning about differing files is switched off."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import INFO, Fault, rule


@rule(
    "CF001",
    "differing-files-hidden",
    INFO,
    why="""slurmctld compares a hash of the configuration with each node's and warns where they differ.
        NO_CONF_HASH switches that off, so a node with an old file stays unseen.""",
    fix="take NO_CONF_HASH out of DebugFlags",
    references=("https://slurm.schedmd.com/slurm.conf.html (DebugFlags)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    if seen.config.has("DebugFlags", "no_conf_hash"):
        yield Fault("NO_CONF_HASH hides nodes with another slurm.conf", seen.config.place("DebugFlags"))
