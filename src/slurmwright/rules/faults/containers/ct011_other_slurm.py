"""CT011: a SPANK plugin that was built for another Slurm."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.core.spank_plugin import same_series
from slurmwright.rules.containers_seen import spank_lines
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, WARNING, Fault, Place, Scope, rule

_ROW = re.compile(r"^(\S+) (/\S+\.so) (\d{2}\.\d{2}\.\d{1,3})$", re.M)


@rule(
    "CT011",
    "plugin-of-another-slurm",
    ERROR,
    scope=Scope.FACTS,
    why="""Slurm compares the first two numbers of its release with those that a SPANK plugin was built
        with and refuses any other: "Incompatible plugin version". Where plugstack.conf says required, every
        srun, sbatch and job step fails, with containers or without.""",
    fix="build pyxis against the headers of this release and roll it out in the same step as slurmd",
    references=(
        "https://slurm.schedmd.com/spank.html",
        "Slurm source, src/common/plugin.c (_verify_syms)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    listing = seen.capture("spank_plugins.txt")
    runs = str(seen.release)
    if listing is None:
        return
    lines = {line.plugin: line for line in spank_lines(seen)}
    for match in _ROW.finditer(listing.text):
        hosts, path, built = match.groups()
        line = lines.get(path)
        if (line or not lines) and not same_series(built, runs):
            place = (
                line.place if line else Place(listing.path, listing.text.count("\n", 0, match.start()) + 1)
            )
            text = f"{path} of {hosts} was built for Slurm {built}, and {runs} refuses it"
            optional = line is not None and line.kind == "optional"
            yield Fault(text, place, severity=WARNING if optional else None)
