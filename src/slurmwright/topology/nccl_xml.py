"""Boxes to the text of a topology file in the narrow form that every NCCL reads: blanks, double quotes, one
element on each line, no XML declaration."""

from __future__ import annotations

from slurmwright.topology.nccl_tree import Box

COMMENT = "made by slurmwright for NCCL_TOPO_FILE on {}; the bus ids ffff stand for those of switches"


def topology_xml(root: Box, comment: str = "") -> str:
    """The whole file; the comment is for people."""
    head = f"<!-- {comment.replace('--', '- -')} -->\n" if comment else ""
    return head + "".join(f"{line}\n" for line in _lines(root, 0))


def _lines(box: Box, depth: int) -> list[str]:
    start = "  " * depth + f"<{box.name}" + "".join(f' {key}="{value}"' for key, value in box.attributes)
    if not box.inside:
        return [start + "/>"]
    inside = [line for one in box.inside for line in _lines(one, depth + 1)]
    return [start + ">", *inside, "  " * depth + f"</{box.name}>"]
