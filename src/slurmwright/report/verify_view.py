"""Turns the report of a verification into what a person reads, and into JUnit for programs."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

_WORDS = {True: "[green]passed[/]", False: "[bold red]FAILED[/]", None: "[yellow]not checked[/]"}
_STYLES = {"critical": "bold red", "error": "red", "warning": "yellow", "info": "dim"}


def draw_verify(document: Mapping[str, Any]) -> Group:
    """`slurmwright/verify/1`: the table of checks, each finding with the line to paste, the sum."""
    return Group(*_parts(document))


def _parts(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    checks = document["checks"]
    table = Table(show_edge=False, pad_edge=False)
    for name in ("check", "verdict", "nodes"):
        table.add_column(name, no_wrap=name != "nodes", overflow="fold")
    table.add_column("evidence", overflow="fold")
    for one in checks:
        told = "\n".join(one["evidence"]) or one["skipped"]
        table.add_row(one["name"], _WORDS[one["passed"]], one["nodes"], escape(told))
    yield table
    yield Text()
    for finding in document["findings"]:
        head = Text(finding["severity"], style=_STYLES[finding["severity"]])
        head.append(f" {finding['name']}", style="bold").append(f"  on {finding['host']}")
        yield head
        where = f"{finding['file']}:{finding['line']}: " if finding["file"] else ""
        yield Text(f"  {where}{finding['message']}")
        yield from (Text(f"  seen: {line}") for line in finding["evidence"])
        yield Text(f"  fix: {finding['fix']}")
        yield Text()
    counts = [(word, sum(one["passed"] is value for one in checks)) for word, value in _COUNTED]
    told = ", ".join(f"{count} {word}" for word, count in counts if count)
    yield Text(
        f"{document['cluster']}: {told or 'nothing checked'}; {document['launches']} jobs and steps, "
        f"{document['seconds']:.0f} s."
    )


_COUNTED = (("passed", True), ("failed", False), ("not checked", None))


def verify_junit(document: Mapping[str, Any]) -> str:
    """One test case for each check on the nodes of one outcome; what was not checked is skipped."""
    suite = ET.Element("testsuite", name="slurmwright verify")
    checks = document["checks"]
    for one in checks:
        case = ET.SubElement(
            suite, "testcase", classname="slurmwright.verify", name=f"{one['name']}[{one['nodes']}]"
        )
        evidence = "\n".join(one["evidence"])
        if one["passed"] is None:
            ET.SubElement(case, "skipped", message=_plain(one["skipped"]))
        elif one["passed"]:
            ET.SubElement(case, "system-out").text = _plain(evidence)
        else:
            failure = ET.SubElement(case, "failure", message=_plain(one["evidence"][0]))
            failure.text = _plain("\n".join([evidence, *_causes(one, document["findings"])]))
    suite.set("tests", str(len(checks)))
    suite.set("failures", str(sum(one["passed"] is False for one in checks)))
    suite.set("skipped", str(sum(one["passed"] is None for one in checks)))
    suite.set("errors", "0")
    ET.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suite, encoding="unicode")


def _causes(check: Mapping[str, Any], findings: list[Mapping[str, Any]]) -> Iterator[str]:
    """The findings that are about the same nodes."""
    for one in findings:
        if one["host"] == check["nodes"]:
            yield f"likely cause: {one['message']} [{one['fix']}]"


def _plain(text: str) -> str:
    """XML takes no control characters."""
    return "".join(char for char in text if char >= " " or char in "\n\t")
