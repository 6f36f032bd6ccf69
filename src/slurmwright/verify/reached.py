"""Turns one probe document into the GPUs that its process has, and the NUMA nodes that it uses.

Whether a GPU works and whether a job may have it are two things: ENXIO, ENODEV and EIO come from the driver,
after the device cgroup has let the process through; EPERM is the cgroup's answer and EACCES the file's mode.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from slurmwright.core.cpu_list import parse_cpus
from slurmwright.verify.expect import ExpectedGpu, ExpectedNode

REFUSED, BY_MODE = "EPERM", "EACCES"
BROKEN = ("ENXIO", "ENODEV", "EIO")
#: A page or two of a process may lie elsewhere: those of its program, which others use too.
_FAR_PAGES = 0.1

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Opened:
    """What a process could open: GPUs whose files are all open to it, and other GPU files that are. `broken`
    and `by_mode` are files with the answers of their names, `missing` those that are not there."""

    gpus: tuple[ExpectedGpu, ...]
    others: tuple[str, ...]
    broken: tuple[str, ...]
    by_mode: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def labels(self) -> str:
        return ", ".join([*(gpu.label for gpu in self.gpus), *self.others]) or "none"


def opened(node: ExpectedNode, data: Data, stand_ins: bool = False) -> Opened:
    """What the process of a document could open on a node; `stand_ins` have no driver, so that ENXIO is all
    that their files can answer."""
    files: dict[str, str] = {**_answers(data, "devices"), **_answers(data, "caps")}
    through = {path for path, how in files.items() if how not in (REFUSED, BY_MODE, "ENOENT", "unknown")}
    given = [gpu for gpu in node.gpus if all(path in through for path in _own(gpu))]
    known = {path for gpu in given for path in gpu.files}
    control = {"/dev/nvidia-caps/nvidia-cap1", "/dev/nvidia-caps/nvidia-cap2"}
    wanted = {path for gpu in node.gpus for path in gpu.files}
    divided = {gpu.files[0] for gpu in node.gpus if gpu.caps}
    others = through - known - control - divided
    broken = {p for p in through if files[p] in BROKEN and not (stand_ins and files[p] == "ENXIO")}
    by_mode = {path for path in wanted if files.get(path) == BY_MODE}
    return Opened(
        tuple(given),
        tuple(sorted(others, key=_by_number)),
        tuple(sorted(f"{path} ({files[path]})" for path in broken)),
        tuple(sorted(by_mode, key=_by_number)),
        tuple(sorted(wanted - files.keys(), key=_by_number)),
    )


def _own(gpu: ExpectedGpu) -> tuple[str, ...]:
    """The files that decide: of an instance those of its own, as all instances share the GPU's file."""
    return gpu.files[1:] if gpu.caps else gpu.files


def _answers(data: Data, part: str) -> dict[str, str]:
    rows = data.get(part)
    return {path: str(row.get("open")) for path, row in rows.items()} if isinstance(rows, dict) else {}


def _by_number(path: str) -> tuple[str, int]:
    stem = path.rstrip("0123456789")
    return stem, int(path[len(stem) :] or 0)


def cpus_of(data: Data) -> tuple[int, ...]:
    """The CPUs that the process may run on: nothing where the document does not say."""
    return _cpu_list(data.get("cpus"))


def numa_of_cpus(data: Data) -> frozenset[int] | None:
    """The NUMA nodes of these CPUs by the machine's own map; None where it does not say."""
    places = {cpu: int(numa) for numa, text in (data.get("numa") or {}).items() for cpu in _cpu_list(text)}
    cpus = cpus_of(data)
    return frozenset(places[cpu] for cpu in cpus) if cpus and places.keys() >= set(cpus) else None


def numa_of_pages(data: Data) -> frozenset[int] | None:
    """The NUMA nodes that hold more than a few of the pages which the process touched."""
    pages = {int(numa): int(count) for numa, count in (data.get("pages") or {}).items()}
    total = sum(pages.values())
    return frozenset(numa for numa, count in pages.items() if count > total * _FAR_PAGES) if total else None


def visible(data: Data) -> tuple[str, ...]:
    """CUDA_VISIBLE_DEVICES as a list; nothing where it is absent, empty or says that there is none."""
    text = str(data.get("env", {}).get("CUDA_VISIBLE_DEVICES", ""))
    return tuple(word for word in text.split(",") if word and word != "NoDevFiles")


def told(data: Data, name: str = "SLURM_JOB_GPUS") -> tuple[int, ...]:
    """Slurm's own indexes of the GPUs that it gave: SLURM_JOB_GPUS or SLURM_STEP_GPUS."""
    return _cpu_list(data.get("env", {}).get(name, ""))


def near(gpus: Collection[ExpectedGpu], data: Data | None = None) -> frozenset[int] | None:
    """The NUMA nodes of these GPUs, where the driver of this document says so by that; None where one is not
    known."""
    rows = ((data or {}).get("gpus") or {}).values()
    told = {row.get("minor"): row.get("numa") for row in rows if row.get("numa") not in (None, -1)}
    numa = [told.get(gpu.minor, gpu.numa) for gpu in gpus]
    return frozenset(one for one in numa if one is not None) if None not in numa else None


def _cpu_list(text: object) -> tuple[int, ...]:
    try:
        return parse_cpus(str(text)) if text else ()
    except ValueError:
        return ()
