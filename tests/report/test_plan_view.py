"""A plan as a person reads it."""

from __future__ import annotations

from rich.console import Console

from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.plan import compare
from slurmwright.report.plan_view import draw_plan

SLURM = """\
ClusterName=lab
SlurmctldHost=ctl1
NodeName=gpu[1-4] CPUs=4 Gres=gpu:2
PartitionName=train Nodes=ALL
"""


def bundle(text: str) -> Bundle:
    file = BundleFile("/etc/slurm/slurm.conf", "s", "ctl1,gpu[1-4]", "root", "root", "0644", text)
    return Bundle("lab", "22.05", (file,))


def shown(new: str) -> list[str]:
    console = Console(width=400, color_system=None)
    with console.capture() as capture:
        console.print(draw_plan(compare(bundle(SLURM), bundle(new))))
    return [line.rstrip() for line in capture.get().splitlines()]


def test_a_change_shows_both_sides_its_effect_and_what_jobs_feel() -> None:
    lines = shown(SLURM.replace("gpu:2", "gpu:3"))
    assert lines[:3] == [
        "slurm.conf",
        "  ~ node gpu[1-4] Gres: gpu:2 → gpu:3",
        "      effect: slurmctld restart, slurmd restart; drain the nodes first",
    ]
    assert lines[3].startswith("      running jobs: every job holding that gres")
    assert lines[5].startswith("      source: gpu-count: tested 22.05.8")


def test_steps_are_numbered_and_the_last_line_sums_up() -> None:
    lines = shown(SLURM.replace("CPUs=4", "CPUs=4 Weight=2"))
    assert (
        "   1. stage [ctl1,gpu[1-4]]: put the new files beside the old ones (/etc/slurm/slurm.conf)" in lines
    )
    assert lines[-1].startswith("lab, Slurm 22.05: 1 added; slurmctld reconfigure")


def test_files_in_other_words_are_named_though_nothing_is_to_do() -> None:
    lines = shown(SLURM.replace("gpu[1-4]", "gpu[1,2-4]"))
    assert lines == [
        "written otherwise, meaning the same: /etc/slurm/slurm.conf",
        "lab, Slurm 22.05: nothing to do",
    ]
