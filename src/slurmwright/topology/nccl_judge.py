"""A topology file to the verdict of one NCCL version: refused and where, or taken and how it is misread.

A crash of NCCL counts as refused. A file that cannot be opened is another
matter: NCCL goes on without it.
"""

from __future__ import annotations

from dataclasses import dataclass

from slurmwright.catalogue.nccl_versions import NcclVersion
from slurmwright.topology.nccl_build import refusals
from slurmwright.topology.nccl_grammar import Element, Refused, read_elements
from slurmwright.topology.nccl_mistakes import REFUSED, Mistake
from slurmwright.topology.nccl_silent import silent_mistakes


@dataclass(frozen=True)
class Verdict:
    """What one version says; `system` is the tree where the file could be read."""

    version: NcclVersion
    mistakes: tuple[Mistake, ...]
    system: Element | None = None

    @property
    def refused(self) -> bool:
        return any(mistake.refuses for mistake in self.mistakes)


def judge_topology(data: bytes, version: NcclVersion) -> Verdict:
    """The verdict on the bytes of a file; never raises."""
    try:
        root = read_elements(data, version)
    except Refused as stop:
        text = stop.message + ("; NCCL crashes" if stop.crash else "")
        return Verdict(version, (Mistake(REFUSED, "error", stop.line, text, refuses=True),))
    if not root.children:
        return Verdict(version, (Mistake(REFUSED, "error", *_nothing(root), refuses=True),))
    system = root.children[0]
    found = {*refusals(system, version), *silent_mistakes(root, system, version)}
    return Verdict(version, tuple(sorted(found, key=lambda one: (one.line, one.kind, one.message))), system)


def _nothing(root: Element) -> tuple[int, str, str]:
    if any(name == "graphs" for name, _ in root.ignored):
        line = next(line for name, line in root.ignored if name == "graphs")
        text = "this is a graph file (NCCL_GRAPH_FILE), no topology file"
        return line, text, "let NCCL search its graphs; NCCL_TOPO_FILE names a file with <system>"
    return 0, "has no <system>", '<system version="1"> around everything'
