"""Turns the output of the collecting script into named sections, and a folder of captured files likewise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from slurmwright.core.errors import InputError
from slurmwright.core.files import write_text

_BEGIN = re.compile(r"@@slurmwright begin ([a-z\-]+)\Z")
_END = re.compile(r"@@slurmwright end ([a-z\-]+) (\d{1,3})\Z", re.ASCII)
_DONE = "@@slurmwright done"
_SUFFIX = ".txt"
_LONGEST = 50_000_000


def script() -> str:
    """The POSIX sh script that prints the sections."""
    return (files("slurmwright.discover") / "collect.sh").read_text()


def split_output(text: str, name: str) -> dict[str, str]:
    """Section → its text; what stands outside (a greeting, a shell's noise) is passed. Raises InputError."""
    found: dict[str, str] = {}
    open_, lines = "", list[str]()
    for line in text.replace("\r\n", "\n").split("\n"):
        if line == _DONE:
            return found
        begin, end = _BEGIN.match(line), _END.match(line)
        if begin:
            open_, lines = begin[1], []
        elif end and end[1] == open_:
            body = "\n".join(lines).rstrip("\n")
            if body.strip():
                found[open_] = body + "\n"
            open_ = ""
        elif open_:
            lines.append(line)
    what = "ends before the script was done" if found or open_ else "is not what the script prints"
    raise InputError.of(f"the output {what}; is something else run at login?", name)


def read_folder(folder: Path) -> dict[str, dict[str, str]]:
    """Host → its sections, from DIR/HOST/SECTION.txt, or from DIR/SECTION.txt for one host named as DIR."""
    if not folder.is_dir():
        raise InputError.of("is no folder; expected DIR/HOST/SECTION.txt, as --bundle makes it", str(folder))
    hosts = {
        one.name: one for one in sorted(folder.iterdir()) if one.is_dir() and any(one.glob(f"*{_SUFFIX}"))
    }
    if not hosts and any(folder.glob(f"*{_SUFFIX}")):
        hosts = {folder.resolve().name: folder}
    if not hosts:
        raise InputError.of("holds no captured output; expected DIR/HOST/SECTION.txt", str(folder))
    return {host: _read_host(path) for host, path in hosts.items()}


def _read_host(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        if path.stat().st_size > _LONGEST:
            raise InputError.of("is longer than any command's output", str(path))
        found[path.name.removesuffix(_SUFFIX)] = path.read_text(errors="replace")
    return found


def write_folder(folder: Path, hosts: Mapping[str, Mapping[str, str]]) -> None:
    """The folder that `read_folder` reads."""
    for host, sections in hosts.items():
        for name, text in sections.items():
            write_text(folder / host / f"{name}{_SUFFIX}", text)
