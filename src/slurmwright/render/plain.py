"""Titled blocks of text lines to a bundle file, for files that are not Slurm's own (units, lists)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from slurmwright.core.bundle import BundleFile
from slurmwright.core.hosts import fold
from slurmwright.render.rows import fill


@dataclass(frozen=True)
class Block:
    """Lines that belong together, under a comment that gives the reason."""

    reason: str
    lines: tuple[str, ...]

    @property
    def title(self) -> list[str]:
        return textwrap.wrap(self.reason, 110)


def plain_file(cluster: str, path: str, hosts: Iterable[str], *blocks: Block, target: str = "") -> BundleFile:
    """A file of root's that everybody may read. `target` names the hosts where others have another text."""
    text = fill("plain_file.j2", cluster=cluster, blocks=[block for block in blocks if block.lines])
    return root_file(path, hosts, text, target=target)


def root_file(path: str, hosts: Iterable[str], text: str, mode: str = "0644", target: str = "") -> BundleFile:
    """A finished text as a file of root's."""
    return BundleFile(
        path=path,
        source=f"@{target}{path}" if target else path.lstrip("/"),
        hosts=fold(hosts),
        owner="root",
        group="root",
        mode=mode,
        text=text,
    )
