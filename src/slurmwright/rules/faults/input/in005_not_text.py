"""IN005: bytes that are no text, or not the text that Slurm reads."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from slurmwright.rules.config import PLAIN_FILES
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, WARNING, Fault, Place, rule

_STRANGE = re.compile(r"[\udc80-\udcff\0]")


@rule(
    "IN005",
    "bytes-that-are-no-text",
    ERROR,
    why="""Slurm reads bytes: UTF-16 from a Windows editor is a parse error in its first line, a NUL hides the
        rest of its line in silence, and other encodings end up as rubbish in names and reasons.""",
    fix="Save the file as UTF-8 without a byte order mark.",
    references=("Slurm source, src/common/parse_config.c: _get_next_line",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for path, file in seen.files.items():
        if posixpath.basename(path) not in PLAIN_FILES:
            continue
        found = _STRANGE.search(file.text)
        if found is None:
            continue
        line = file.text.count("\n", 0, found.start()) + 1
        start = file.text.rfind("\n", 0, found.start()) + 1
        comment = file.text.find("#", start, found.start()) >= 0
        if found[0] == "\0":
            yield Fault("a NUL byte hides the rest of its line from Slurm", Place(path, line), about="nul")
        elif not comment:
            byte = ord(found[0]) - 0xDC00
            text = f"byte 0x{byte:02x} is not UTF-8; the file is in another encoding"
            yield Fault(text, Place(path, line), severity=WARNING, about="encoding")
