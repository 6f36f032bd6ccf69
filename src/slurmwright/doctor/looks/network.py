"""RDMA and shared memory of jobs: limits, modules, /dev/shm."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.doctor.host import Host
from slurmwright.doctor.told import Told


def locked(host: Host) -> Iterator[Told]:
    """Memory that jobs may lock: the unit's limit, and that of the shell that submits."""
    shown = re.search(r"^LimitMEMLOCK=(\d+)$", host.text("systemctl_show_slurmd.txt"), re.MULTILINE)
    hits = host.all("memory-not-locked")
    if not hits and not (shown and int(shown[1]) < 1 << 30):
        return
    parts = (
        [f"slurmd's unit has LimitMEMLOCK={shown[1]}"]
        if shown
        else ["LimitMEMLOCK of slurmd's unit is too small"]
    )
    kept = host.config.words("PropagateResourceLimitsExcept")
    passed = "memlock" not in kept and host.config.value("PropagateResourceLimits", "all").lower() != "none"
    if passed and host.config.slurm is not None:
        parts.append(
            "the limit of the submitting shell goes along, as "
            "PropagateResourceLimitsExcept=MEMLOCK is missing"
        )
    yield Told("DR070", "; ".join(parts), hits, (shown[0],) if shown else ())


def peer_memory(host: Host) -> Iterator[Told]:
    """Adapters that do not reach GPU memory, since the module for it is not loaded."""
    hits, modules = host.all("rdma-disabled"), host.text("lsmod.txt")
    if hits and modules and not re.search(r"^nvidia_peermem\b", modules, re.MULTILINE):
        text = (
            "GPU Direct RDMA is off: nvidia_peermem is not loaded, and nothing else "
            "(DMA-BUF) stands in for it"
        )
        yield Told("DR071", text, hits)


def shared_memory(host: Host) -> Iterator[Told]:
    hits = host.all("shm-full")
    if hits:
        row = re.search(r"^\S+\s+(\S+)\s.*\s/dev/shm$", host.text("df.txt"), re.MULTILINE)
        size = f" ({row[1]})" if row else ""
        yield Told(
            "DR072", f"NCCL finds too little room in the job's /dev/shm{size}", hits, (row[0],) if row else ()
        )


LOOKS = (locked, peer_memory, shared_memory)
