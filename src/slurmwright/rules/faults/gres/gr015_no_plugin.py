"""GR015: AutoDetect names a plugin that this build of Slurm does not have."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Scope, rule

_NAMES = ("nvml", "nvidia", "rsmi", "oneapi", "nrt")


@rule(
    "GR015",
    "detection-not-in-the-build",
    ERROR,
    scope=Scope.FACTS,
    why="""AutoDetect=nvml, rsmi and oneapi work only where Slurm was built with that library. Without
        gpu_nvml.so slurmd logs one info line and finds no GPU; the node becomes INVAL. The main packages of
        Debian and Ubuntu have no NVML plugin.""",
    fix="""AutoDetect=nvidia (24.11 and later, without MIG and NVLink data), or NodeName=… Name=gpu
        File=/dev/nvidia[0-3], or a Slurm built with NVML (Debian: slurm-wlm-nvml-plugin)""",
    references=(
        "https://github.com/SlinkyProject/containers/issues/14",
        "https://github.com/NVIDIA/deepops/issues/1214",
        "Seen with Slurm 24.11.5 and 26.05.5 of Debian",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    listing = seen.capture("slurm_plugins.txt", "ls_plugins.txt")
    if listing is None or "gpu_" not in listing.text:
        return
    for line in seen.config.gres_lines:
        for name in _NAMES:
            if line.autodetect == name and f"gpu_{name}.so" not in listing.text:
                yield Fault(
                    f"AutoDetect={name} needs gpu_{name}.so, which this build does not have: slurmd finds "
                    "no GPU",
                    line.place,
                    evidence=(f"{listing.path}: {' '.join(listing.text.split())[:200]}",),
                )
