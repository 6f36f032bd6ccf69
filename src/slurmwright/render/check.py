"""Checks what was rendered before anyone sees it: pairs against the release, files against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slurmwright.catalogue.options import check_setting
from slurmwright.core.errors import InputError, Problem
from slurmwright.core.release import Release
from slurmwright.render.rows import Line, Section

#: First key of a line → its section in the options catalogue; other lines are global settings.
_SECTIONS = {key: key for key in ("NodeName", "PartitionName", "SwitchName", "BlockName")}

Rendered = Mapping[str, tuple[Section, ...]]


def check_rendered(release: Release, files: Rendered) -> None:
    """Raise InputError for every pair that this release does not take, and for files that disagree."""
    problems = [*_unknown(release, files), *_disagreements(files)]
    if problems:
        raise InputError(Problem(name, 0, 0, text) for name, text in problems)


def _unknown(release: Release, files: Rendered) -> Iterator[tuple[str, str]]:
    for name, sections in files.items():
        for section in sections:
            for line in section.lines:
                where = "line" if name == "gres.conf" else _SECTIONS.get(line.pairs[0][0], "global")
                for key, value in line.pairs:
                    fault = check_setting(release, name, where, key, value)
                    if fault:
                        yield name, fault


def _disagreements(files: Rendered) -> Iterator[tuple[str, str]]:
    """GPUs of the node lines against GresTypes and the lines of gres.conf."""
    node_lines = [line for line in _lines(files, "slurm.conf") if line.pairs[0][0] == "NodeName"]
    with_gpus = any(key == "Gres" for line in node_lines for key, _ in line.pairs)
    types = next((v for line in _lines(files, "slurm.conf") for k, v in line.pairs if k == "GresTypes"), "")
    if with_gpus and "gpu" not in types.split(","):
        yield "slurm.conf", "nodes have GPUs but GresTypes does not name gpu; take GresTypes out of overrides"
    if with_gpus and not list(_lines(files, "gres.conf")):
        yield "gres.conf", "nodes have GPUs but gres.conf is empty"


def _lines(files: Rendered, name: str) -> Iterator[Line]:
    for section in files[name]:
        yield from section.lines
