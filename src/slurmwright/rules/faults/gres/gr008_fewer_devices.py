"""GR008: gres.conf lists fewer GPUs than slurm.conf, and nothing detects the rest."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.hosts import fold
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.gres_lines import GresLine
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR008",
    "gpus-missing-in-gres-conf",
    ERROR,
    why="""Without AutoDetect the GPUs of a node are the device files that gres.conf lists for it. If those
        are fewer than Gres= says, the node registers as INVAL with "gres/gpu count reported lower than
        configured" and runs nothing.""",
    fix="NodeName=gpu[01-02] Name=gpu File=/dev/nvidia[0-7]",
    references=(
        "https://slurm.schedmd.com/gres.conf.html",
        "Seen with slurmctld 22.05.8 and 26.05.5: gres/gpu count reported lower than configured (3 < 4)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if config.gres is None and not seen.whole:
        return
    if "gpu" not in config.words("GresTypes"):
        return
    for node, lines, names in config.gres_groups:
        wanted = node.count("gpu")
        if not wanted or config.detects(names[0]) or not node.is_real:
            continue
        mine = [line for line in lines if line.name == "gpu"]
        if any((not line.files and not line.many_files) or _disputed(line) for line in mine):
            continue
        listed = sum(line.count for line in mine)
        if listed >= wanted:
            continue
        kinds = {one.type for one in node.gres_named("gpu")}
        kind = f" Type={next(iter(kinds))}" if len(kinds) == 1 and kinds != {""} else ""
        devices = f"/dev/nvidia[0-{wanted - 1}]" if wanted > 1 else "/dev/nvidia0"
        yield Fault(
            f"Gres={node.text('Gres')} of {fold(names)}, and gres.conf lists {listed} GPUs for it and does "
            "not detect "
            "any: the node becomes INVAL",
            mine[0].place if mine else node.line_of("Gres"),
            fix=f"NodeName={fold(names)} Name=gpu{kind} File={devices}",
            about=node.written,
        )


def _disputed(line: GresLine) -> bool:
    """Does the line say two numbers? That is GR005's to tell."""
    text = line.text("Count")
    return bool(line.files) and text.isdigit() and text != str(len(line.files))
