"""NC028: a file that jobs in containers do not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import SCRIPT, nccl_files
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "NC028",
    "file-not-in-container",
    ERROR,
    why="""NCCL reads its files inside the container. A path that is not mounted there is one line
        in a log (INFO from 2.27 on), and NCCL goes on without the file.""",
    fix="""--container-mounts=/etc/nccl:/etc/nccl:ro, or a line in /etc/enroot/mounts.d""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        if file.path == SCRIPT and "--container-image" in file.text:
            for one in file.of("NCCL_TOPO_FILE", "NCCL_GRAPH_FILE"):
                if not _mounted(one.value, file.text):
                    text = f"{one.shown}: the script mounts nothing there, so the container has no such file"
                    yield Fault(text, one.place, about=one.name)
        elif file.permanent and (mounts := seen.under("/etc/enroot/mounts.d")):
            told = "\n".join(mount.text for mount in mounts)
            for one in file.of("NCCL_TOPO_FILE", "NCCL_GRAPH_FILE"):
                inside = [word for line in told.split("\n") for word in line.split()[1:2]]
                if not any(_below(one.value, target) for target in inside):
                    text = f"{one.shown}: nothing in /etc/enroot/mounts.d mounts it into containers"
                    yield Fault(text, one.place, about=one.name)


_MOUNTS = re.compile(r"--container-mounts[= ](\S+)")


def _mounted(path: str, script: str) -> bool:
    pairs = [pair for found in _MOUNTS.findall(script) for pair in found.strip("\"'").split(",")]
    return any("$" in pair or _below(path, [*pair.split(":"), pair][1]) for pair in pairs)


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
