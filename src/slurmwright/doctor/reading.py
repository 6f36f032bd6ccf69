"""DIR to hosts: the folder of one case, or a folder for each host, as `--bundle` writes it.

Logs are read through once and never kept; other captures are read as text up to a limit, and what is left out
for that is told.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from slurmwright.catalogue.log_signs import Source
from slurmwright.core.errors import InputError
from slurmwright.doctor.host import Host
from slurmwright.doctor.scan import Hit, printable, scan

MAX_TEXT = 4_000_000
MAX_FILES = 2_000
MAX_DEPTH = 8
#: Folders that a case has as a host has them; others below DIR are hosts.
_OF_A_HOST = frozenset(("etc", "usr", "var", "opt", "run", "proc", "sys", "lib"))
_LOGS: tuple[tuple[re.Pattern[str], frozenset[Source]], ...] = (
    (re.compile(r"(slurmd|slurmctld|slurmdbd|munged)[\w.-]*\.log"), frozenset({"daemon"})),
    (re.compile(r"(journal\w*\.txt|syslog|messages)"), frozenset({"daemon", "kernel"})),
    (re.compile(r"(dmesg\w*\.txt|kern\.log)"), frozenset({"kernel"})),
    (re.compile(r"(job_output\w*\.txt|user_session\.txt|slurm-[\w.-]+\.(out|err))"), frozenset({"job"})),
)
#: A capture that is text and has lines of daemons in it.
_BOTH = {"systemctl.txt": frozenset[Source]({"daemon"})}
#: As `discover --bundle` calls the outputs that it captures.
_OTHER_NAMES = {
    "slurmd-c.txt": "slurmd_-C.txt",
    "nvidia-smi-l.txt": "nvidia-smi_-L.txt",
    "nvidia-smi-q.txt": "nvidia-smi_-q.txt",
}
_REASON_ROW = re.compile(r"(?P<reason>\S.*?)\s+\S+\s+\d{4}-\d\d-\d\dT[\d:]{5,8}\s+(?P<nodes>\S+)\s*\Z")
_REASON = re.compile(r"\bReason=(?P<reason>.+?)(?:\s+\[[\w@.:T-]+\])?\s*\Z", re.MULTILINE)
#: A node that slurmctld took back keeps its Reason (24.11.5, where ReturnToService=1 made it idle again).
_SERVES = re.compile(
    r"\bState=(IDLE|MIXED|ALLOCATED|COMPLETING)(\+(CLOUD|DYNAMIC_NORM|COMPLETING|PLANNED))*(?=\s|\Z)"
)
_NODE = re.compile(r"\bNodeName=(\S+)")


def read_hosts(folder: Path) -> tuple[Host, ...]:
    """Every host of DIR, by name; raises InputError where there is nothing."""
    if not folder.is_dir():
        raise InputError.of("is no folder; expected a case's folder or DIR/HOST/…", str(folder))
    own = sorted(folder.iterdir())
    hosts = [
        one for one in own if one.is_dir() and one.name not in _OF_A_HOST and not one.name.startswith(".")
    ]
    files = [one for one in own if one.is_file() and one.name not in ("cluster.yaml", "README.md")]
    if hosts and not files:
        return tuple(read_host(one, one.name) for one in hosts)
    return (read_host(folder, ""),)


def read_host(folder: Path, name: str) -> Host:
    """One host's folder."""
    texts: dict[str, str] = {}
    hits: list[Hit] = []
    notes: list[str] = []
    for path, shown in _files(folder, notes):
        kinds = logs_of(path.name)
        try:
            with path.open("rb") as stream:
                if kinds and not re.search(r"\.conf$|\.service$", path.name):
                    hits += scan(stream, shown, kinds)
                if path.name in _BOTH or not kinds:
                    stream.seek(0)
                    raw = stream.read(MAX_TEXT + 1)
                    if len(raw) > MAX_TEXT:
                        notes.append(f"{shown}: only its first {MAX_TEXT} bytes were read")
                    texts[_OTHER_NAMES.get(shown, shown)] = raw[:MAX_TEXT].decode(errors="replace")
        except OSError as error:
            notes.append(f"{shown}: cannot be read: {error.strerror}")
    return host_of(name or named(texts), texts, hits, notes)


def host_of(name: str, texts: Mapping[str, str], hits: Iterable[Hit], notes: Iterable[str]) -> Host:
    """A host of what was read of it; the reasons that slurmctld gives are looked at like lines of a log."""
    plain = {
        key: text.replace("\r\n", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")
        for key, text in texts.items()
    }
    reasons = tuple(_reasons(plain))
    lines = "\n".join(" ".join(reason.split()) for _, reason in reasons).encode()
    told = scan(io.BytesIO(lines), "Reason", {"reason"})
    return Host(name, plain, (*hits, *told), tuple(notes), _release(plain), reasons)


def logs_of(name: str) -> frozenset[Source]:
    """Whose words the lines of a file with this name are; none where it is no log."""
    found = next((kinds for pattern, kinds in _LOGS if pattern.fullmatch(name)), frozenset())
    return found or _BOTH.get(name, frozenset())


def named(texts: Mapping[str, str]) -> str:
    """The name that the captures themselves tell of their host."""
    node = _NODE.search(texts.get("scontrol_show_node.txt", "")) or _NODE.search(
        texts.get("slurmd_-C.txt", "")
    )
    return printable(node[1], 64) if node else ""


def _reasons(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(nodes, reason) of each that is out of service."""
    for line in texts.get("sinfo_-R.txt", "").split("\n"):
        if row := _REASON_ROW.match(line[:2000].strip()):
            yield printable(row["nodes"], 200), printable(row["reason"])
    text = texts.get("scontrol_show_node.txt", "")
    for block in re.split(r"(?=\bNodeName=)", text)[:20_000]:
        node, reason = _NODE.match(block), _REASON.search(block)
        if node and reason and reason["reason"] not in ("(null)", "none") and not _SERVES.search(block):
            yield printable(node[1], 64), printable(reason["reason"])


def _release(texts: Mapping[str, str]) -> str:
    for name in ("slurmd_-V.txt", "scontrol_version.txt"):
        if found := re.search(r"slurm[\w-]* (\d\d\.\d\d(?:\.\d{1,2})?)", texts.get(name, "")[:400]):
            return found[1]
    return ""


def _files(folder: Path, notes: list[str]) -> Iterator[tuple[Path, str]]:
    """Regular files below the folder with their names in it; links out of it are not followed."""
    count = 0
    for where, folders, names in os.walk(folder):
        folders.sort()
        if len(Path(where).relative_to(folder).parts) >= MAX_DEPTH:
            folders.clear()
        for name in sorted(names):
            path = Path(where) / name
            if not stat.S_ISREG(path.lstat().st_mode):
                notes.append(f"{printable(name, 80)}: is no plain file and was not read")
                continue
            count += 1
            if count > MAX_FILES:
                notes.append(f"more than {MAX_FILES} files; the rest was not read")
                return
            yield path, path.relative_to(folder).as_posix()
