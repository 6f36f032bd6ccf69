"""Exporters that a release of Slurm broke."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from slurmwright.catalogue.rest_versions import rest_versions
from slurmwright.core.finding import Finding
from slurmwright.core.release import SERIES
from slurmwright.doctor.judge import judge
from slurmwright.doctor.live import script
from slurmwright.doctor.reading import read_hosts

SLUID = "/sys/fs/cgroup/system.slice/slurmstepd.scope/sG58YRDVC1TMA0/step_0\n"
JOBS = "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0\n"


def judged(
    folder: Path, flags: str, release: str = "24.11.5", cgroups: str = JOBS, **more: str
) -> tuple[Finding, ...]:
    files = {"exporter_flags": flags, "slurmd_-V": f"slurm {release}", "find_cgroup": cgroups, **more}
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return judge(read_hosts(folder))


@pytest.mark.parametrize(
    ("release", "asked", "right"),
    [("23.11.4", 37, 38), ("24.11.5", 39, 40), ("25.11.2", 40, 41), ("26.05.3", 41, 42), ("22.05.8", 40, 38)],
)
def test_a_version_of_the_interface_that_the_release_does_not_have(
    release: str, asked: int, right: int, tmp_path: Path
) -> None:
    (found,) = judged(tmp_path, f"--slurm.url http://ctl1:6820/slurm/v0.0.{asked}/", release)
    assert (found.rule, f"v0.0.{right}" in found.fix) == ("DR028", True)
    assert f"asks for v0.0.{asked}, and Slurm {release} has" in found.message


@pytest.mark.parametrize(
    ("release", "asked"), [("24.11.5", 42), ("24.11.5", 40), ("26.05.3", 45), ("99.11.1", 2)]
)
def test_a_version_that_it_has_or_a_release_that_nobody_knows_is_no_finding(
    release: str, asked: int, tmp_path: Path
) -> None:
    assert judged(tmp_path, f"sinfo --json=v0.0.{asked:02}", release) == ()


def test_every_series_has_a_row() -> None:
    assert [one for one in SERIES if rest_versions(one) is None] == []


def test_jobs_called_by_sluid_and_an_exporter_that_looks_for_numbers(tmp_path: Path) -> None:
    flags = "--collector.cgroup=/system.slice/slurmstepd.scope/job_*/"
    (found,) = judged(tmp_path, flags, "26.05.3", SLUID)
    assert (found.rule, "sG58YRDVC1TMA0" in found.message) == ("DR027", True)
    assert judged(tmp_path, flags, "26.05.3", JOBS) == ()


def test_an_exporter_that_finds_any_folder_is_fine_with_sluids(tmp_path: Path) -> None:
    assert judged(tmp_path, "--config.paths /system.slice/slurmstepd.scope", "26.05.3", SLUID) == ()


def test_a_field_of_sacct_that_is_gone(tmp_path: Path) -> None:
    line = (
        "Nov  2 10:00:00 ctl1 exporter[77]: sacct: fatal: AllocGRES has been removed, please use AllocTRES\n"
    )
    (found,) = judged(tmp_path, "", journal=line * 30)
    assert (found.rule, "AllocGRES (now AllocTRES)" in found.message) == ("DR029", True)


def test_only_what_tells_where_an_exporter_looks_leaves_the_host(tmp_path: Path) -> None:
    argv = "/usr/bin/x --token=hunter2 -p /system.slice/slurmstepd.scope/job_* -u /v0.0.39/"
    unit = f"{{ path=/usr/bin/x ; argv[]={argv} ; ignore_errors=no ; }}"
    (tmp_path / "systemctl").write_text(f"#!/bin/sh\necho '{unit}'\n", encoding="utf-8")
    (tmp_path / "systemctl").chmod(0o755)
    said = script().split("section name uname -n")[0] + "exporters\n"
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-s"], input=said, env=path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["/system.slice/slurmstepd.scope/job_*", "v0.0.39"]
