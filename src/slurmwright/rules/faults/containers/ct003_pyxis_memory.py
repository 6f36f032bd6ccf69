"""CT003: pyxis keeps whole images in memory."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.containers_seen import spank_lines
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.listings_seen import mount_of, mounts
from slurmwright.rules.rule import ERROR, WARNING, Fault, Scope, rule

_ROOM = 50 * 1024**3


@rule(
    "CT003",
    "images-in-memory",
    ERROR,
    scope=Scope.FACTS,
    why="""pyxis writes the squashfs of each image below runtime_path, by default /run/pyxis, which is
        memory and small. Large images fill it, imports end with "No space left on device", and the memory
        is missing to jobs.""",
    fix="required …/spank_pyxis.so runtime_path=/raid/pyxis, a folder of root's on a local disk",
    references=("https://github.com/NVIDIA/pyxis/issues/53", "https://github.com/NVIDIA/pyxis/wiki/Setup"),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for line in spank_lines(seen):
        if "spank_pyxis" not in line.plugin:
            continue
        path = next((word[13:] for word in line.arguments if word.startswith("runtime_path=")), "/run/pyxis")
        mount = mount_of(path, mounts(seen))
        log = seen.capture("slurmd.log", "job_output.txt")
        told = [text for text in log.text.split("\n") if "No space left" in text][:2] if log else []
        if mount is None or mount.kind != "tmpfs":
            if told and path.startswith("/run"):
                text = f"runtime_path is {path}, which is memory, and imports end for want of space"
                yield Fault(text, line.place, evidence=tuple(told))
            continue
        if mount.full or told or (mount.size is not None and mount.size < _ROOM):
            size = f" of {mount.size / 1024**3:.0f} GiB" if mount.size else ""
            yield Fault(
                f"runtime_path is {path}, on a tmpfs{size}, where images do not fit",
                line.place,
                evidence=tuple(told),
                severity=None if mount.full or told else WARNING,
            )
