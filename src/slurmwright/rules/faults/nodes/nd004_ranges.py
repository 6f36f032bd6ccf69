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
    ranges = [(line.written, bool(line.names), line.place, "NodeName") for line in config.nodes]
    ranges += [
        (line.text("NodeName"), bool(line.nodes), line.place, "NodeName")
        for line in config.gres_lines
        if line.nodes is not None
    ]
    for part in config.partitions:
        text = part.text("Nodes")
        if text:
            ranges.append((text, bool(hosts(text)), part.line_of("Nodes"), "Nodes"))
    for text, good, place, key in ranges:
        if not good:
            yield Fault(f"{key}={text} is no host range, or too large a one", place, about=text)
        elif old and re.search(r"\][A-Za-z._-]", text):
            yield Fault(
                f"{key}={text} has text behind a bracket, which Slurm takes from 23.11 on", place, about=text
            )
