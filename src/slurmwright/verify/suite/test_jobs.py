"""What jobs can open, use and touch: one test for each check, all of one verification."""

from __future__ import annotations

import pytest

from slurmwright.verify import judge
from slurmwright.verify.launches import (
    ALL,
    BATCH,
    BESIDE,
    BOUND,
    EXCLUSIVE,
    HALF,
    INTERACTIVE,
    NONE,
    ONE,
    PER_TASK,
    SSH,
    SSH_REFUSED,
)
from slurmwright.verify.values import IN_SERVICE, Report

CHECKS = (
    *(
        IN_SERVICE,
        NONE,
        ONE,
        HALF,
        ALL,
        PER_TASK,
        BOUND,
        EXCLUSIVE,
        BESIDE,
        BATCH,
        INTERACTIVE,
        SSH,
        SSH_REFUSED,
    ),
    *(
        judge.CUDA,
        judge.CPUS,
        judge.PAGES,
        judge.SPREAD,
        judge.CORES,
        judge.MEMORY,
        judge.LOCKED,
        judge.WORKING,
    ),
)


@pytest.mark.parametrize("check", CHECKS)
def test_job(report: Report, check: str) -> None:
    """Passes where every node that was tried is right; skipped where none was."""
    rows = [one for one in report.checks if one.name == check]
    bad = [line for one in rows if one.passed is False for line in one.evidence]
    if bad:
        causes = [f"likely cause: {one.message} [{one.fix}]" for one in report.findings]
        pytest.fail("\n".join([*bad, *causes]), pytrace=False)
    if not any(one.passed for one in rows):
        pytest.skip("; ".join(dict.fromkeys(one.skipped for one in rows)) or "no node has anything to try")
