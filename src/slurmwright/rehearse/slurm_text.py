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
_JOB_NODES = re.compile(r"\sNodes=(\S+) CPU_IDs=(\S+) Mem=(\d+) GRES=(\S*)", re.ASCII)
#: One `gpu[:TYPE][:COUNT][(…)]` of a comma list; a type may begin with a digit (`4090`, `1g.10gb`).
_GRES_GPU = re.compile(r"(?:^|,)gpu((?::[^:,()\s]+){0,2})(?:\(([^()]*)\))?(?=,|$)")
_GRES_SHARED = re.compile(r"(?:^|,)(shard|mps):(?:[^:,()\s]+:)?(\d{1,9})(?=[,(]|$)", re.ASCII)
_GRES_INDEX = re.compile(r"IDX:([\d,\-]+)", re.ASCII)
#: A reason is free text, so it ends at who set it and when, or else with the line.
_REASON = re.compile(r"\sReason=(.*?)\s*(?:\[[^\[\]\s]*@[\dT:.\-]+\]|$)")
_FILE = re.compile(r"(?:[^\[,]|\[[^\]]*(?:\]|$))+")
_RUNNING = re.compile(r"CPUs=(\d+) Boards=(\d+) Sockets=(\d+) Cores=(\d+) Threads=(\d+) Memory=")
_LOG_ERROR = re.compile(r"\b(?:error|fatal): ")
_LOG_STAMP = re.compile(r"^(?:\[\d{4}-[^\]]*\]\s*)?(?:slurmctld: |slurmd: )?")
_SAYS_NOTHING = "fatal: Unable to process configuration file"
_NOT_ANSWERED = frozenset({"UNKNOWN", "DOWN", "NOT_RESPONDING", "FUTURE", "POWERED_DOWN", "POWERING_UP"})
_ORIGIN = frozenset({"CLOUD", "DYNAMIC_NORM", "DYNAMIC_FUTURE"})


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
    shared: tuple[str, int] | None = None

    @property
    def answered(self) -> bool:
        """Has its slurmd registered and is it still answering?"""
        words = self.state.replace("*", "+NOT_RESPONDING").split("+")
        return not _NOT_ANSWERED & set(words)

    @property
    def refused(self) -> bool:
        """Did slurmctld turn its registration down? Its first state then stays UNKNOWN."""
        return "INVALID_REG" in self.state.split("+")

    @property
    def idle(self) -> bool:
        """Could it take a job now? A word for where the node comes from changes nothing about that."""
        first, *more = self.state.split("+")
        return first == "IDLE" and _ORIGIN.issuperset(more)

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

    @property
    def one_device(self) -> bool:
        """Do all files make up one resource (MultipleFiles: a MIG instance)?"""
        return self.count == 1 and len(self.files) > 1

    @property
    def devices(self) -> tuple[tuple[str, ...], ...]:
        """The files of each resource of this line."""
        return (self.files,) if self.one_device else tuple((file,) for file in self.files)


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
    return tuple(_node(line) for line in text.splitlines() if line.startswith("NodeName="))


def _node(line: str) -> NodeState:
    row = pairs(line)
    reason = _REASON.search(line)
    return NodeState(
        row["NodeName"],
        row.get("State", ""),
        _int(row.get("Sockets")),
        _int(row.get("CoresPerSocket")),
        _int(row.get("ThreadsPerCore")),
        _int(row.get("CPUTot")),
        gpu_counts(row.get("Gres", "")),
        reason[1] if reason and reason[1] != "(null)" else "",
        shared_count(row.get("Gres", "")),
    )


def gpu_counts(gres: str) -> tuple[tuple[str, int], ...]:
    """`gpu:h100:8(S:0-1)` → (("h100", 8),); an untyped GPU has the type "", and no count is a count of 1."""
    return tuple(_kind_and_count(m[1]) for m in _GRES_GPU.finditer(gres))


def shared_count(gres: str) -> tuple[str, int] | None:
    """`gpu:h100:8(S:0-1),shard:h100:32(S:0-1)` → ("shard", 32), MPS likewise; a node has one of them. Slurm
    shows the type of the GPUs that are shared, which was not written."""
    found = _GRES_SHARED.findall(gres)
    return (found[0][0], sum(int(count) for _, count in found)) if found else None


def _kind_and_count(text: str) -> tuple[str, int]:
    """`:h100:8` → ("h100", 8). Slurm takes the last word for the count where it is a number."""
    words = text.split(":")[1:]
    count = _int(words.pop()) if words and re.match(r"\d+$", words[-1], re.ASCII) else 1
    return ":".join(words), count


def read_jobs(text: str) -> tuple[JobState, ...]:
    """`scontrol show job -d -o` → one value per job."""
    jobs = []
    for line in text.splitlines():
        if not line.startswith("JobId="):
            continue
        row = pairs(line)
        # Behind the nodes stands what the user wrote: comment and command line may look like nodes.
        shown = line.partition(" MinCPUsNode=")[0]
        shares = tuple(
            JobShare(m[1], _numbers(m[2]), _int(m[3]), _indexes(m[4])) for m in _JOB_NODES.finditer(shown)
        )
        jobs.append(JobState(_int(row["JobId"]), row.get("JobState", ""), row.get("Reason", ""), shares))
    return tuple(jobs)


def _indexes(gres: str) -> tuple[int, ...]:
    lists = (_GRES_INDEX.match(m[2] or "") for m in _GRES_GPU.finditer(gres))
    return tuple(index for found in lists if found for index in _numbers(found[1]))


def read_gres(text: str) -> tuple[GresRow, ...]:
    """`slurmd -G` → its GPU records. The cores are slurmd's own reading of gres.conf, after its checks."""
    rows = []
    for line in text.splitlines():
        _, _, rest = line.partition("Gres Name=")
        name, _, values = rest.partition(" ")
        if name != "gpu":
            continue
        row = pairs(values)
        cores = _word(row.get("Cores"))
        rows.append(
            GresRow(
                _word(row.get("Type")),
                _int(row.get("Count")),
                expand_files(_word(row.get("File"))),
                _numbers(cores) or None,
            )
        )
    return tuple(rows)


def expand_files(text: str) -> tuple[str, ...]:
    """`/dev/nvidia[2,0-1],/dev/x` → four paths in the written order; a path has one pair of brackets."""
    return tuple(path for part in _FILE.findall(text) for path in _expand_file(part))


def _expand_file(text: str) -> tuple[str, ...]:
    match = re.fullmatch(r"([^\[\]]*)\[([\d,\-]+)\]([^\[\]]*)", text, re.ASCII)
    if not match:
        return (text,)
    numbers = (n for part in match[2].split(",") for n in _numbers(part))
    return tuple(f"{match[1]}{n}{match[3]}" for n in numbers)


def read_hardware(text: str) -> dict[str, int]:
    """The first line of `slurmd -C` → {"CPUs": 224, "Boards": 1, …}: what slurmd sees of the machine."""
    line = next((one for one in text.splitlines() if one.startswith("NodeName=")), "")
    return {key: _int(value) for key, value in pairs(line).items() if re.match(r"\d", value, re.ASCII)}


def read_running(log: str) -> dict[str, int]:
    """The last line of a slurmd log that tells its layout → {"CPUs": 256, "Boards": 1, "Sockets": 8, …}."""
    found = _RUNNING.findall(log)
    names = ("CPUs", "Boards", "Sockets", "Cores", "Threads")
    return dict(zip(names, map(_int, found[-1]), strict=True)) if found else {}


def error_lines(text: str) -> tuple[str, ...]:
    """The lines of a log that say error or fatal, without their time stamps."""
    return tuple(_LOG_STAMP.sub("", line).strip() for line in text.splitlines() if _LOG_ERROR.search(line))


def first_fatal(lines: Iterable[str]) -> str:
    """The line that best says why a daemon did not start: what it could not parse, what was fatal, or what it
    said last before it only said that it could not go on."""
    rows = list(lines)
    telling = [row for row in rows if not row.endswith(_SAYS_NOTHING)] or rows
    for mark in ("Parse error", "Parsing error", "fatal: "):
        for row in telling:
            if mark in row:
                return row
    return telling[-1] if telling else ""


def _word(text: str | None) -> str:
    """The first word of a value; "" for none and for Slurm's "(null)". Some lines end in a bare "(null)"."""
    first = (text or "").split()
    return first[0] if first and first[0] != "(null)" else ""


def _int(text: str | None) -> int:
    match = re.match(r"\d{1,18}", text or "", re.ASCII)
    return int(match[0]) if match else 0


def _numbers(text: str) -> tuple[int, ...]:
    """`0-1,4` → (0, 1, 4); nothing for what is no list of numbers, such as Slurm's "(null)" and "N/A"."""
    try:
        return parse_cpus(text)
    except ValueError:
        return ()
