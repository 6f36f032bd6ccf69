"""ND004: a host range that Slurm cannot expand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.node_lines import hosts
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "ND004",
    "ranges-that-name-nobody",
    ERROR,
    by_release=True,
    why="""Brackets hold numbers and spans of numbers, lowest first. Anything else is taken as a name or
        ends slurmctld, and names with text behind a bracket are known from 23.11 only.""",
    fix="gpu[001-064], or names with commas",
    references=(
        "https://slurm.schedmd.com/slurm.conf.html (NodeName)",
        "Slurm source, src/common/hostlist.c",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    old = not seen.release.at_least("23.11")
    ranges = [(line.written, line.place, "NodeName") for line in config.nodes]
    ranges += [
        (part.text("Nodes"), part.line_of("Nodes"), "Nodes")
        for part in config.partitions
        if part.text("Nodes")
    ]
    ranges += [
        (line.text("NodeName"), line.place, "NodeName") for line in config.gres_lines if line.has("NodeName")
    ]
    for text, place, key in ranges:
        if not hosts(text):
            yield Fault(f"{key}={text} is no host range", place, about=text)
        elif old and re.search(r"\][A-Za-z._-]", text):
            yield Fault(
                f"{key}={text} has text behind a bracket, which Slurm takes from 23.11 on", place, about=text
            )
