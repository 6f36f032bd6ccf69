"""The text of a cluster.yaml to data that can be changed, and back: every line that no change touches stays
byte for byte.

What surprises: ruamel.yaml keeps comments, but hangs those below an entry to that entry and drops them with
it, and writes other lines its own way. So its output is only asked which lines differ; the rest is the text.
"""

from __future__ import annotations

import difflib
import io
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.util import load_yaml_guess_indent

from slurmwright.core.errors import InputError
from slurmwright.model.yaml_source import parse_yaml

#: Wider than any line, so that none is broken.
_WIDTH = 1_000_000


class Document:
    """One file being edited: change `data`, then take `text()`."""

    def __init__(self, text: str, file: str) -> None:
        self._ends = "\r\n" if "\r\n" in text else "\n"
        self._before = text.replace("\r\n", "\n")
        self._file = file
        self._yaml = _writer(self._before)
        self.data: Any = self._read()
        self._as_written = self._dump()

    def text(self) -> str:
        """The new text; raises InputError where it could not be told from the data what to write."""
        after = self._dump()
        wanted = parse_yaml(after, self._file)
        old, shown = self._before.splitlines(keepends=True), self._as_written.splitlines(keepends=True)
        merged = after
        if len(old) == len(shown):
            candidate = "".join(_merged(old, shown, after.splitlines(keepends=True)))
            if _same(candidate, wanted.data, self._file):
                merged = candidate
        return merged.replace("\n", self._ends)

    def _read(self) -> Any:
        try:
            return self._yaml.load(self._before)
        except YAMLError as error:
            raise InputError.of(
                f"cannot be edited: {str(error).splitlines()[0]}; edit it by hand", self._file
            ) from None

    def _dump(self) -> str:
        out = io.StringIO()
        self._yaml.dump(self.data, out)
        return out.getvalue()


def _writer(text: str) -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = _WIDTH
    _, sequence, dash = load_yaml_guess_indent(text)
    if sequence:
        yaml.indent(mapping=2, sequence=sequence, offset=dash or 0)
    return yaml


def _same(text: str, data: object, file: str) -> bool:
    try:
        return bool(parse_yaml(text, file).data == data)
    except InputError:
        return False


def _merged(old: list[str], shown: list[str], after: list[str]) -> list[str]:
    """`shown` is `old` as ruamel writes it, line for line, `after` the same with the change."""
    found: list[str] = []
    matcher = difflib.SequenceMatcher(None, shown, after, autojunk=False)
    for what, low, high, start, end in matcher.get_opcodes():
        if what == "equal":
            found += old[low:high]
            continue
        found += after[start:end]
        if what == "delete":
            found += _tail(old[low:high])
    return found


def _tail(lines: list[str]) -> list[str]:
    """Comments and blank lines below the last thing that went: they are about what follows."""
    last = max((at for at, line in enumerate(lines) if _says(line)), default=-1)
    return lines[last + 1 :]


def _says(line: str) -> bool:
    bare = line.strip()
    return bool(bare) and not bare.startswith("#")
