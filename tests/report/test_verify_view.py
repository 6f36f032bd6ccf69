"""A report of a verification as text and as JUnit."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from typing import Any

from rich.console import Console

from slurmwright.core.finding import Finding, Severity
from slurmwright.report.verify_view import draw_verify, verify_junit
from slurmwright.verify.values import Check, Report

FINDING = Finding(
    "verify/munge-key",
    "munge-key",
    Severity.ERROR,
    "munge has the key of another cluster",
    "/etc/x",
    3,
    "gpu2",
    ("gpu2: Invalid credential",),
    "copy the key",
)
CHECKS = (
    Check("munge", "gpu2", False, ("gpu2: Invalid credential",)),
    Check("munge", "gpu1", True, ("taken",)),
    Check("munge", "gpu3", None, (), "its state is mixed"),
)
DOCUMENT: dict[str, Any] = Report("pod1", CHECKS, (FINDING,), 18, 2.4).as_json()


def drawn(document: dict[str, Any]) -> str:
    console = Console(file=io.StringIO(), width=200, color_system=None)
    console.print(draw_verify(document))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_text_has_every_verdict_and_the_line_to_paste() -> None:
    text = drawn(DOCUMENT)
    for words in (
        "FAILED",
        "passed",
        "not checked",
        "its state is mixed",
        "/etc/x:3: munge has",
        "fix: copy",
    ):
        assert words in text
    assert "pod1: 1 passed, 1 failed, 1 not checked; 18 jobs and steps, 2 s." in text


def test_junit_counts_failures_and_skips_and_names_the_cause() -> None:
    suite = ET.fromstring(verify_junit(DOCUMENT))  # noqa: S314 - our own text
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "likely cause: munge has the key of another cluster [copy the key]" in (failure.text or "")


def test_junit_survives_control_characters() -> None:
    checks = (Check("munge", "gpu1", False, ("bad \x1b[0m \x00",)), Check("x", "gpu1", None, (), "\x07"))
    ET.fromstring(verify_junit(Report("p", checks, ()).as_json()))  # noqa: S314 - our own text


def test_what_was_not_checked_is_null_in_json() -> None:
    rows = {row["nodes"]: row for row in DOCUMENT["checks"]}
    assert rows["gpu3"] == {
        "name": "munge",
        "nodes": "gpu3",
        "passed": None,
        "skipped": "its state is mixed",
        "evidence": [],
    }
    assert DOCUMENT["format"] == "slurmwright/verify/1"
