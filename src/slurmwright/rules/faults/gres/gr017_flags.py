"""GR017: Flags= on a GPU line that switch CUDA_VISIBLE_DEVICES off."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import changes
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Place, Repair, rule

_ENV = ("nvidia_gpu_env", "amd_gpu_env", "intel_gpu_env", "opencl_env", "no_gpu_env")


@rule(
    "GR017",
    "flags-that-hide-gpus",
    ERROR,
    releases="22.05-25.11",
    why="""Up to 25.11 any Flags= on a gpu line replaces the default environment: without one of the
        *_gpu_env flags beside it CUDA_VISIBLE_DEVICES is not set in jobs, so programs take the GPUs of
        others or, confined, see the wrong numbers.""",
    fix="Flags=nvidia_gpu_env, with the other flags behind a comma",
    references=(
        "Seen with slurmd 23.11.4, 24.11.5 and 25.11.2",
        "Slurm source, src/interfaces/gres.c: gres_flags_parse, _parse_gres_config",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for line in seen.config.gres_lines:
        flags = line.text("Flags")
        if line.name != "gpu" or not flags or any(word in flags.lower() for word in _ENV):
            continue
        pair = line.source.statement.get("Flags")
        fix = f"Flags={flags},nvidia_gpu_env"
        changed = changes.set_pair(line.source.doc, line.source.statement, "Flags", fix.partition("=")[2])
        yield Fault(
            f"Flags={flags} names no *_gpu_env flag, so CUDA_VISIBLE_DEVICES is not set in jobs",
            Place(line.place.file, pair.line if pair else line.place.line),
            fix=fix,
            repair=Repair(line.source.doc, changed) if any("nvidia" in f for f in line.files) else None,
        )
