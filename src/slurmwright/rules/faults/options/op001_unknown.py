"""OP001: a key that no release of Slurm knows in this place."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.catalogue.options import check_setting
from slurmwright.core.release import SERIES, Release
from slurmwright.rules.config import at
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "OP001",
    "keys-slurm-does-not-know",
    ERROR,
    why="""An unknown key is no detail: in slurm.conf it stops every daemon and every command, in
        cgroup.conf and topology.conf slurmctld and slurmd, in gres.conf slurmd. Most are typing errors, or
        keys of another line or file.""",
    fix="the nearest right name, or remove the line",
    references=(
        "Seen with 22.05.8, 24.11.5 and 26.05.5: Parsing error at unrecognized key",
        "Slurm source, src/common/read_config.c and cgroup.c, every tag from 22.05.0 to 26.05.3",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for key in seen.keys:
        if key.option is None:
            pair = key.first.pair
            problem = check_setting(Release(SERIES[-1]), key.file, key.section, pair.key, pair.value)
            yield Fault(f"{problem}{key.more}", at(key.first), about=pair.key.lower())
