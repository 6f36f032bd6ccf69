"""AC006: prolog flags that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "AC006",
    "prolog-flags-at-odds",
    ERROR,
    why="""NoHold excludes Contain and X11, X11 excludes proctrack/linuxproc, RunInJob excludes Serial. No
        daemon starts with such a pair.""",
    fix="PrologFlags=Contain",
    references=(
        "Slurm source, src/common/read_config.c: PrologFlags invalid combination",
        "https://slurm.schedmd.com/slurm.conf.html (PrologFlags)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    words = set(config.words("PrologFlags"))
    pairs = [("nohold", "contain"), ("nohold", "x11"), ("serial", "runinjob")]
    bad = [f"{one} and {other}" for one, other in pairs if {one, other} <= words]
    if "x11" in words and "linuxproc" in config.value("ProctrackType").lower():
        bad.append("x11 and proctrack/linuxproc")
    if bad:
        yield Fault(f"{bad[0]} exclude each other; no daemon starts", config.place("PrologFlags"))
