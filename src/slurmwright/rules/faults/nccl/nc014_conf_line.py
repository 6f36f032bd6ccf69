"""NC014: a line that NCCL reads otherwise than a shell would."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import nccl_files
from slurmwright.rules.rule import ERROR, Fault, Place, rule


@rule(
    "NC014",
    "conf-line-misread",
    ERROR,
    why="""NCCL takes a line of nccl.conf as it stands: up to the first = is the name, all behind it
        the value. Quotes, a carriage return and a trailing blank become part of the value; export
        and blanks become part of the name.""",
    fix="""NAME=value, nothing else, # only in column 1""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        if file.permanent:
            for number, line in enumerate(file.text.split("\n"), 1):
                for what, mended in _faults(line):
                    yield Fault(what, Place(file.path, number), fix=mended, about=what)


def _faults(line: str) -> Iterator[tuple[str, str]]:
    mended = _mended(line)
    if len(line.encode("utf-8", "surrogateescape")) > 4095:
        yield "the line is longer than the 4095 characters that NCCL reads", mended[:60]
    if line.endswith("\r"):
        yield "the line ends with a carriage return, which becomes part of the value", mended
    line = line.rstrip("\r")
    if not line.strip() or line.startswith("#"):
        return
    if line.lstrip().startswith("#"):
        yield "a comment begins in column 1; this line counts as a setting", line.lstrip()
        return
    name, equals, value = line.partition("=")
    if not equals:
        yield f"no = in the line {line[:60].strip()!r}: it sets nothing", "NAME=value"
    elif name.split()[:1] == ["export"]:
        yield f"export becomes part of the name: nothing is called {name!r}", mended
    elif name != name.strip() or value != value.strip():
        yield "a blank beside = or at the end becomes part of the name or of the value", mended
    if equals and value.strip()[:1] in ("'", '"'):
        yield f"the quotes become part of the value {value.strip()[:60]}", mended
    if value.strip().startswith("~"):
        yield f"~ is not expanded: the path {value.strip()} begins with a tilde", "the whole path"


def _mended(line: str) -> str:
    name, equals, value = line.strip().partition("=")
    name = name.strip().removeprefix("export ").strip()
    return name + equals + value.strip().strip("\"'").strip()
