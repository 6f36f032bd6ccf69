"""The shipped pytest-testinfra suite, run by a pytest of its own over testinfra's local connection."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

pytest.importorskip("testinfra")
INVENTORY = Path(__file__).parents[2] / "inventories" / "dgx-h100-64n" / "cluster.yaml"


def results(folder: Path, sinfo: str) -> dict[str, str]:
    """Test → passed, failed or skipped, where sinfo is a script and srun is let in nowhere."""
    for name, text in (
        ("sinfo", sinfo),
        ("srun", "echo 'srun: error: busy' >&2; exit 1"),
        ("scancel", "exit 0"),
    ):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    report = folder / "report.xml"
    plugin = ["-p", "slurmwright.verify.suite.plugin", "--slurm-nodes=gpu001", "--slurm-timeout=5"]
    where = ["--hosts=local://", f"--ansible-inventory={INVENTORY}", f"--junitxml={report}"]
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, "--pyargs", "slurmwright.verify.suite", *where],
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        cwd=folder,
        capture_output=True,
        check=False,
    )  # fmt: skip
    found = {}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest wrote it
        kinds = {child.tag for child in case}
        found[case.get("name", "")] = next(
            (kind for kind in ("failure", "error", "skipped") if kind in kinds), "passed"
        )
    return found


def test_checks_that_could_not_be_tried_are_skipped_and_never_passed(tmp_path: Path) -> None:
    found = results(tmp_path, "echo 'gpu001|idle|up|train*|none'")
    assert found["test_job[local-in-service]"] == "passed"
    assert found["test_job[local-gpus-one]"] == "skipped"
    assert found["test_job[local-side-by-side]"] == "skipped"


def test_a_node_that_is_down_fails_and_a_slurm_that_is_gone_is_an_error(tmp_path: Path) -> None:
    found = results(tmp_path, "echo 'gpu001|down*|up|train*|Not responding'")
    assert found["test_job[local-in-service]"] == "failure"
    found = results(tmp_path, "echo gone >&2; exit 1")
    assert {value for name, value in found.items() if name.startswith("test_job")} == {"error"}
