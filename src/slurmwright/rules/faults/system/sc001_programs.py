"""SC001: a program that slurmd or slurmctld runs and that cannot be run."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase as fnmatch

from slurmwright.core.finding import Severity
from slurmwright.rules.evidence import Evidence, HostFile
from slurmwright.rules.listings_seen import Entry, entries
from slurmwright.rules.rule import ERROR, INFO, Fault, Place, rule

_KEYS = (
    "Prolog",
    "Epilog",
    "TaskProlog",
    "TaskEpilog",
    "PrologSlurmctld",
    "EpilogSlurmctld",
    "HealthCheckProgram",
    "RebootProgram",
    "ResumeProgram",
    "SuspendProgram",
    "ResumeFailProgram",
    "SrunProlog",
    "SrunEpilog",
)


@rule(
    "SC001",
    "programs-that-cannot-run",
    ERROR,
    why="""Nothing is checked at start: the node registers as IDLE, and the first job drains it because its
        prolog cannot be run. A folder needs a pattern (prolog.d/*), a file its execute bits and a first
        line with its interpreter.""",
    fix="Prolog=/etc/slurm/prolog.d/* with at least one script, mode 0755",
    references=(
        "https://github.com/mknoxnv/ubuntu-slurm/issues/4",
        "https://slurm.schedmd.com/prolog_epilog.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    tree = seen.config.slurm
    known = entries(seen)
    for key in _KEYS:
        for line in tree.all(key) if tree else ():
            pair = line.statement.pairs[0]
            place = Place(line.doc.file, pair.line)
            problem = _problem(seen, known, pair.value)
            if problem:
                yield Fault(
                    f"{pair.key}={pair.value}: {problem[0]}", place, severity=problem[1], about=pair.value
                )


def _problem(seen: Evidence, known: dict[str, Entry], value: str) -> tuple[str, Severity | None] | None:
    """What speaks against a program, and how severely where it is not the rule's own severity."""
    words = value.split()
    path = words[0].rstrip("/") if words else ""
    if not path.startswith("/"):
        return None
    inside = [file for name, file in seen.files.items() if name.startswith(f"{path}/")]
    entry = known.get(path)
    if inside or (entry is not None and entry.folder):
        return "is a folder; a folder needs a pattern such as prolog.d/*", None
    if entry is not None and not entry.exists:
        return "does not exist", None
    if "*" in path:
        return _pattern(seen, known, path)
    file = seen.files.get(path)
    if entry is not None and entry.mode is not None and not entry.mode & 0o111:
        return f"is not executable (mode {entry.mode:04o})", None
    if file is not None:
        return _content(file)
    live = any(one.mode is not None and one.source is not None for one in seen.files.values())
    if path.startswith(f"{seen.config.folder}/") and seen.whole:
        return (
            ("does not exist", None) if live else ("is not among the files given, so it is not judged", INFO)
        )
    return None


def _pattern(seen: Evidence, known: dict[str, Entry], path: str) -> tuple[str, Severity | None] | None:
    for name, entry in known.items():
        if fnmatch(name, path) and entry.mode is not None and not entry.mode & 0o111:
            return f"{name} is not executable (mode {entry.mode:04o})", None
    for name, file in seen.files.items():
        problem = _content(file) if fnmatch(name, path) else None
        if problem:
            return f"{name} {problem[0]}", problem[1]
    return None


def _content(file: HostFile) -> tuple[str, Severity | None] | None:
    if file.mode is not None and not file.mode & 0o111:
        return f"is not executable (mode {file.mode:04o})", None
    if not file.text.startswith(("#!", "\x7fELF")):
        return "begins with no #! line, so the kernel does not run it", None
    return None
