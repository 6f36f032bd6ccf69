"""The topology files among what was read to the faults of one kind, as one NCCL version judges them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slurmwright.catalogue.nccl_versions import NcclVersion, judged_as, newest_nccl
from slurmwright.core.errors import InputError
from slurmwright.core.finding import Severity
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import Fault, Place
from slurmwright.topology.nccl_judge import judge_topology

SOURCES = (
    "NVIDIA/nccl v2.18.6 to v2.30.7 src/graph/xml.cc, topo.cc, paths.cc",
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html (NCCL_TOPO_FILE)",
)


def seen_version(seen: Evidence) -> NcclVersion:
    """The NCCL that `nccl: {version: …}` of the inventory names, else the newest."""
    try:
        return judged_as(told(seen, "version") or None)
    except InputError:
        return newest_nccl()


def told(seen: Evidence, key: str) -> str:
    """A word of the inventory's `nccl`."""
    nccl: Any = seen.inventory.get("nccl")
    return str(nccl.get(key) or "") if isinstance(nccl, Mapping) else ""


def topology_files(seen: Evidence) -> Iterator[tuple[str, bytes]]:
    """The files that are topologies, or lie where NCCL is told to look for one."""
    for path, file in seen.files.items():
        if path.endswith(".xml") and (path.startswith("/etc/nccl/") or "<system" in file.text):
            yield path, file.text.encode("utf-8", "surrogateescape")


def topology_faults(seen: Evidence, kind: str) -> Iterator[Fault]:
    """Every fault of a kind in the files that are topologies, or lie where NCCL looks for them."""
    version = seen_version(seen)
    for path, data in topology_files(seen):
        verdict = judge_topology(data, version)
        for mistake in verdict.mistakes:
            if mistake.kind == kind:
                yield Fault(
                    mistake.message,
                    Place(path, mistake.line),
                    fix=mistake.fix,
                    severity=Severity(mistake.severity),
                    about=mistake.message,
                )
