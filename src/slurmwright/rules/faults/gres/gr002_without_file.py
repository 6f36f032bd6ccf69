"""GR002: GPUs in gres.conf that name no device file and are not detected either."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR002",
    "gpus-without-files",
    ERROR,
    why="""A GPU needs a device file, from File= or from AutoDetect: without one it cannot be confined, and
        slurmd drops it ("Ignoring file-less GPU"). The node then reports fewer GPUs than slurm.conf says
        and becomes INVAL with "gres/gpu count reported lower than configured".""",
    fix="NodeName=gpu[01-02] Name=gpu File=/dev/nvidia[0-7]",
    references=(
        "https://github.com/SckyzO/slurm_exporter/pull/207",
        "Seen with slurmd -G of 24.11.5 and 26.05.5: Ignoring file-less GPU",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for line in config.gres_lines:
        if line.name != "gpu" or line.has("File", "Files", "MultipleFiles") or line.is_global:
            continue
        if line.autodetect not in ("", "off") or "countonly" in line.text("Flags").lower():
            continue
        names = line.nodes if line.nodes is not None else tuple(config.node_index)
        bare = [name for name in names if not config.detects(name)]
        if not bare and (names or config.detects_anywhere):
            continue
        last = f"[0-{line.count - 1}]" if line.count > 1 else "0"
        start = f"NodeName={line.text('NodeName')} " if line.has("NodeName") else ""
        kind = f" Type={line.type}" if line.type else ""
        yield Fault(
            "the line names GPUs with neither File= nor AutoDetect; slurmd ignores them and the node "
            "becomes INVAL",
            line.place,
            fix=f"{start}Name=gpu{kind} File=/dev/nvidia{last}",
        )
