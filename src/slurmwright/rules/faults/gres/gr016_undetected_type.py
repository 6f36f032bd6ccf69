"""GR016: a type in slurm.conf that is no part of the name slurmd detects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Scope, rule

_TYPE = re.compile(r"\bName=gpu\b[^\n]*?\bType=(\S+)", re.I)


@rule(
    "GR016",
    "types-nothing-detects",
    ERROR,
    scope=Scope.FACTS,
    why="""With AutoDetect the type in slurm.conf must be a part of the detected name, in any letter case
        and with blanks as underscores. One that is not matches no GPU: the node reports none of that type
        and becomes INVAL.""",
    fix="the type as a part of the name that slurmd -G prints",
    references=(
        "https://slurm.schedmd.com/gres.conf.html (Type)",
        "Seen with slurmctld and slurmd 24.11.5 and 26.05.5: count reported lower than configured (0 < 8)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    output = seen.capture("slurmd_-G.txt", "slurmd_-C.txt")
    detected = sorted({name.lower() for name in _TYPE.findall(output.text)}) if output else []
    if not detected or output is None:
        return
    for node in config.nodes:
        if not node.names or not config.detects(node.names[0]) or (seen.host and seen.host not in node.names):
            continue
        for one in node.gres_named("gpu"):
            if one.type and not any(one.type.lower() in name for name in detected):
                yield Fault(
                    f"{one.written} of {node.written}: {one.type} is no part of the detected {detected[0]}, "
                    "so no GPU "
                    "counts",
                    node.line_of("Gres"),
                    fix=f"Gres=gpu:{_short(detected[0])}:{one.number}",
                    evidence=(f"{output.path}: {output.text.strip()[:200]}",),
                    about=one.written,
                )


def _short(name: str) -> str:
    """`nvidia_a100-sxm4-80gb` → a100"""
    return re.split(r"[-_]", name.removeprefix("nvidia_").removeprefix("tesla_"))[0]
