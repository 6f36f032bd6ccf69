"""Described hosts to gres.conf: which device file is which GPU, and which cores are near it.

`Cores=` are logical core indexes of one whole Slurm socket, never OS CPU ids. Lines stand in rising order of
the device numbers, since Slurm counts GPUs in the order in which it reads them; MIG instances follow whole
GPUs, profile by profile, since it counts them by the order of types in Gres first (_merge_gres in gres.c).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from slurmwright.core.cpu_list import fold_cpus
from slurmwright.model.cluster import Cluster
from slurmwright.render.described import Described, Device, Shape
from slurmwright.render.hostlist import fold_for
from slurmwright.render.rows import Line, Section
from slurmwright.render.sockets import numa_as_socket


def gres_conf(cluster: Cluster, rows: Sequence[Described]) -> tuple[Section, ...]:
    """The sections of gres.conf: one for each set of hosts whose GPUs are described alike."""
    alike: dict[Section, list[str]] = {}
    for row in rows:
        if row.shape.devices or row.shape.gres_lines:
            alike.setdefault(Section(_title(row.shape), _lines(row.shape)), []).extend(row.hosts)
    return tuple(
        replace(
            section,
            lines=tuple(_for_hosts(line, fold_for(cluster.slurm.release, hosts)) for line in section.lines),
        )
        for section, hosts in alike.items()
    )


def _for_hosts(line: Line, hosts: str) -> Line:
    return replace(line, pairs=(("NodeName", hosts), *line.pairs))


def _title(shape: Shape) -> str:
    whole = len({device.minor for device in shape.devices if not device.profile})
    instances = sum(1 for device in shape.devices if device.profile)
    parts = [f"{whole} GPUs" if whole != 1 else "1 GPU"] if whole or not instances else []
    parts += [f"{instances} MIG instances"] if instances else []
    gone = [f"GPU {','.join(map(str, shape.missing))} missing"] if shape.missing else []
    kept = [f"GPU {','.join(str(gpu.index) for gpu in shape.withheld)} withheld"] if shape.withheld else []
    return f"{shape.type}: {', '.join((*parts, *gone, *kept))}."


def _lines(shape: Shape) -> tuple[Line, ...]:
    """The lines of hosts of one shape, still without the hosts."""
    shared = _shared_lines(shape)
    if shape.gres_lines or shape.gres is not None:
        return tuple(Line(pairs) for pairs in shape.gres_lines)
    if shape.autodetect:
        return (Line((("AutoDetect", shape.autodetect),)), *shared)
    comments = list(_comments(shape))
    lines: list[Line] = []
    for (kind, cores, files), devices in groupby(shape.devices, lambda device: _kind(shape, device)):
        place = ("MultipleFiles", files) if files else ("File", _files([device.minor for device in devices]))
        named = (("Name", "gpu"), ("Type", kind)) if kind else (("Name", "gpu"),)
        pairs = (*named, place, ("Cores", cores))
        lines.append(Line(pairs, () if lines else tuple(comments)))
    return (*lines, *shared)


def _kind(shape: Shape, device: Device) -> tuple[str, str, str]:
    """What devices of one line share; a MIG instance has a line, and so files, of its own."""
    if not device.profile:
        return shape.gpu_type, _cores(shape, device), ""
    assert device.caps is not None  # noqa: S101 - describe() has refused explicit lines without them
    caps = ",".join(f"/dev/nvidia-caps/nvidia-cap{number}" for number in device.caps)
    return device.profile, _cores(shape, device), f"/dev/nvidia{device.minor},{caps}"


def _comments(shape: Shape) -> Iterator[str]:
    if shape.minors_assumed:
        yield "assumed: device numbers follow PCI order; facts of the hosts say which number each GPU has"
    for gpu in shape.withheld:
        yield (
            f"/dev/nvidia{gpu.minor} (GPU {gpu.index}) is withheld, not protected: the device filter of a "
            "job denies only what stands in this file"
        )


def _shared_lines(shape: Shape) -> tuple[Line, ...]:
    """Slurm spreads a bare count evenly over the GPUs, and copies their cores."""
    if shape.shared is None:
        return ()
    return (Line((("Name", shape.shared[0]), ("Count", str(shape.shared_count)))),)


def _cores(shape: Shape, device: Device) -> str:
    assert device.numa is not None  # noqa: S101 - describe() has refused explicit lines without it
    first, last = shape.layout.socket_cores(device.numa, numa_as_socket(shape))
    return f"{first}-{last}" if last > first else str(first)


def _files(minors: list[int]) -> str:
    return f"/dev/nvidia{minors[0]}" if len(minors) == 1 else f"/dev/nvidia[{_plain(minors)}]"


def _plain(minors: list[int]) -> str:
    """A range as Slurm reads it: it knows no `:step`."""
    folded = fold_cpus(minors)
    return folded if ":" not in folded else ",".join(map(str, minors))
