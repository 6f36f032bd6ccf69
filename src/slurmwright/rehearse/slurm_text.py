"""Turns what scontrol, slurmd and Slurm's logs print into values.

The `-o` one-line forms are read, since their keys have been stable from 22.05 to 26.05, which cannot be said
of `--json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from slurmwright.topology.cpus import parse_cpus

_PAIR = re.compile(r"(?:^|\s)([A-Za-z][A-Za-z_:/]*)=")
_JOB_NODES = re.compile(r"\sNodes=(\S+) CPU_IDs=(\S+) Mem=(\d+) GRES=(\S*)")
_GRES_COUNT = re.compile(r"gpu(?::([A-Za-z][\w.\-]*))?:(\d+)")
_GRES_INDEX = re.compile(r"gpu(?::[A-Za-z][\w.\-]*)?:\d+\(IDX:([\d,\-]+)\)")
_REASON_TAIL = re.compile(r"\s*\[[^\[\]]*@[\dT:.\-]+\]$")
_LOG_ERROR = re.compile(r"\b(?:error|fatal): ")
_LOG_STAMP = re.compile(r"^(?:\[\d{4}-[^\]]*\]\s*)?(?:slurmctld: |slurmd: )?")


@dataclass(frozen=True)
class NodeState:
    """One node as slurmctld sees it; the counts are what the controller schedules by."""

    name: str
    state: str
    sockets: int
    cores: int
    threads: int
    cpus: int
    gpus: tuple[tuple[str, int], ...]
    reason: str

    @property
    def answered(self) -> bool:
        """Has its slurmd registered and is it still answering?"""
        words = self.state.replace("*", "+NOT_RESPONDING").split("+")
        return not {"UNKNOWN", "DOWN", "NOT_RESPONDING", "FUTURE"} & set(words)

    @property
    def refused(self) -> bool:
        """Did slurmctld turn its registration down? Its first state then stays UNKNOWN."""
        return "INVALID_REG" in self.state.split("+")

    @property
    def idle(self) -> bool:
        return self.state == "IDLE"

    @property
    def busy(self) -> bool:
        """Does a job still hold something of it?"""
        return bool({"ALLOCATED", "MIXED", "COMPLETING"} & set(self.state.split("+")))


@dataclass(frozen=True)
class JobShare:
    """What one job holds on one node: cores are not threads; `cpu_ids` are Slurm's abstract CPU ids."""

    node: str
    cpu_ids: tuple[int, ...]
    memory_mb: int
    gpu_indexes: tuple[int, ...]


@dataclass(frozen=True)
class JobState:
    """One job: its state, why it waits, and what it holds where."""

    id: int
    state: str
    reason: str
    shares: tuple[JobShare, ...]


@dataclass(frozen=True)
class GresRow:
    """One line of `slurmd -G`: device files of one record and the cores near them (None: no affinity)."""

    type: str
    count: int
    files: tuple[str, ...]
    cores: tuple[int, ...] | None


def pairs(line: str) -> dict[str, str]:
    """`A=1 B=two words C=` → {"A": "1", "B": "two words", "C": ""}; the first of a repeated key wins."""
    found = list(_PAIR.finditer(line))
    values: dict[str, str] = {}
    for at, match in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(line)
        values.setdefault(match[1], line[match.end() : end].strip())
    return values


def read_nodes(text: str) -> tuple[NodeState, ...]:
    """`scontrol show node -o` → one value per node."""
    return tuple(_node(pairs(line)) for line in text.splitlines() if line.startswith("NodeName="))


def _node(row: dict[str, str]) -> NodeState:
    return NodeState(
        row["NodeName"],
        row.get("State", ""),
        _int(row.get("Sockets")),
        _int(row.get("CoresPerSocket")),
        _int(row.get("ThreadsPerCore")),
        _int(row.get("CPUTot")),
        gpu_counts(row.get("Gres", "")),
        _reason(row.get("Reason", "")),
    )


def _reason(text: str) -> str:
    """A node's reason without who set it and when."""
    return "" if text == "(null)" else _REASON_TAIL.sub("", text)


def gpu_counts(gres: str) -> tuple[tuple[str, int], ...]:
    """`gpu:h100:8(S:0-1)` → (("h100", 8),); an untyped GPU has the type ""."""
    return tuple((m[1] or "", int(m[2])) for m in _GRES_COUNT.finditer(gres))


def read_jobs(text: str) -> tuple[JobState, ...]:
    """`scontrol show job -d -o` → one value per job."""
    jobs = []
    for line in text.splitlines():
        if not line.startswith("JobId="):
            continue
        row = pairs(line)
        shares = tuple(
            JobShare(m[1], parse_cpus(m[2]), int(m[3]), _indexes(m[4])) for m in _JOB_NODES.finditer(line)
        )
        jobs.append(JobState(_int(row["JobId"]), row.get("JobState", ""), row.get("Reason", ""), shares))
    return tuple(jobs)


def _indexes(gres: str) -> tuple[int, ...]:
    return tuple(i for m in _GRES_INDEX.finditer(gres) for i in parse_cpus(m[1]))


def read_gres(text: str) -> tuple[GresRow, ...]:
    """`slurmd -G` → its GPU records. The cores are slurmd's own reading of gres.conf, after its checks."""
    rows = []
    for line in text.splitlines():
        _, found, rest = line.partition("Gres Name=gpu")
        if not found:
            continue
        row = pairs(rest)
        cores = _word(row.get("Cores"))
        rows.append(
            GresRow(
                _word(row.get("Type")),
                _int(row.get("Count")),
                expand_files(_word(row.get("File"))),
                parse_cpus(cores) if cores[:1].isdigit() else None,
            )
        )
    return tuple(rows)


def expand_files(text: str) -> tuple[str, ...]:
    """`/dev/nvidia[2,0-1]` → three paths in the written order; Slurm's device ranges have one bracket."""
    match = re.fullmatch(r"([^\[\]]*)\[([\d,\-]+)\]([^\[\]]*)", text)
    if match:
        parts = (n for part in match[2].split(",") if part for n in parse_cpus(part))
        return tuple(f"{match[1]}{n}{match[3]}" for n in parts)
    return tuple(part for part in text.split(",") if part)


def read_hardware(text: str) -> dict[str, int]:
    """The first line of `slurmd -C` → {"CPUs": 224, "Boards": 1, …}: what slurmd sees of the machine."""
    line = next((one for one in text.splitlines() if one.startswith("NodeName=")), "")
    return {key: int(value.split()[0]) for key, value in pairs(line).items() if value[:1].isdigit()}


def error_lines(text: str) -> tuple[str, ...]:
    """The lines of a log that say error or fatal, without their time stamps."""
    return tuple(_LOG_STAMP.sub("", line).strip() for line in text.splitlines() if _LOG_ERROR.search(line))


def first_fatal(lines: Iterable[str]) -> str:
    """The line that best says why a daemon did not start: what it could not parse, else its last word."""
    rows = list(lines)
    for mark in ("Parse error", "Parsing error", "fatal: "):
        for row in rows:
            if mark in row:
                return row
    return rows[-1] if rows else ""


def _word(text: str | None) -> str:
    """The first word of a value; "" for none and for Slurm's "(null)". Some lines end in a bare "(null)"."""
    first = (text or "").split()
    return first[0] if first and first[0] != "(null)" else ""


def _int(text: str | None) -> int:
    match = re.match(r"\d+", text or "")
    return int(match[0]) if match else 0
