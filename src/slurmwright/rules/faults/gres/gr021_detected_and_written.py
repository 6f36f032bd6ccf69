"""GR021: Cores= or Links= beside AutoDetect are a check that can take GPUs away."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import INFO, Fault, rule


@rule(
    "GR021",
    "cores-beside-autodetect",
    INFO,
    why="""With AutoDetect the cores and links of a GPU are found. Written ones are compared with what is
        found, and a GPU for which they differ, if only in the numbering, is dropped from both lists: the
        node then reports too few and becomes INVAL.""",
    fix="leave Cores= and Links= out, or write AutoDetect=off for these nodes",
    references=("Slurm source, src/interfaces/gpu.c and gres.c: _merge_system_gres_conf",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for line in config.gres_lines:
        if line.name != "gpu" or not line.has("Cores", "CPUs", "Links", "Link"):
            continue
        own = line.autodetect
        names = line.nodes or ("",)
        if (own and own != "off") or (not own and config.detects(names[0])):
            key = "Cores" if line.has("Cores", "CPUs") else "Links"
            yield Fault(
                f"{key}= beside AutoDetect takes a GPU away where it differs from what is found", line.place
            )
