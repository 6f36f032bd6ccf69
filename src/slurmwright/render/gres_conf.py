"""Described hosts to gres.conf: which device file is which GPU, and which cores are near it.

`Cores=` are logical core indexes of one whole Slurm socket, never OS CPU ids. Lines stand in rising order of
the device numbers, since Slurm counts GPUs in the order in which it reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from slurmwright.core.cpu_list import fold_cpus
from slurmwright.model.cluster import Cluster
from slurmwright.render.described import Described, Device, Shape
from slurmwright.render.hostlist import fold_for
from slurmwright.render.rows import Line, Section
from slurmwright.render.sockets import numa_as_socket


def gres_conf(cluster: Cluster, rows: Sequence[Described]) -> tuple[Section, ...]:
    """The sections of gres.conf: one for each set of hosts whose GPUs are described alike."""
    alike: dict[tuple[object, ...], tuple[Shape, list[str]]] = {}
    for row in rows:
        shape = row.shape
        if shape.devices:
            key = (
                *(shape.autodetect, shape.gpu_type, shape.devices, shape.layout, shape.minors_assumed),
                *(shape.withheld, shape.missing, shape.shared),
            )
            alike.setdefault(key, (shape, []))[1].extend(row.hosts)
    return tuple(
        Section(_title(shape), _lines(shape, fold_for(cluster.slurm.release, hosts)))
        for shape, hosts in alike.values()
    )


def _title(shape: Shape) -> str:
    whole = len({device.minor for device in shape.devices if not device.profile})
    instances = sum(1 for device in shape.devices if device.profile)
    parts = [f"{whole} GPUs" if whole != 1 else "1 GPU"] if whole or not instances else []
    parts += [f"{instances} MIG instances"] if instances else []
    gone = [f"GPU {','.join(map(str, shape.missing))} missing"] if shape.missing else []
    kept = [f"GPU {','.join(str(gpu.index) for gpu in shape.withheld)} withheld"] if shape.withheld else []
    return f"{shape.type}: {', '.join((*parts, *gone, *kept))}."


def _lines(shape: Shape, hosts: str) -> tuple[Line, ...]:
    shared = _shared_lines(shape, hosts)
    if shape.autodetect:
        return (Line((("NodeName", hosts), ("AutoDetect", shape.autodetect))), *shared)
    comments = list(_comments(shape))
    lines: list[Line] = []
    for (kind, cores, files), devices in groupby(shape.devices, lambda device: _kind(shape, device)):
        place = ("MultipleFiles", files) if files else ("File", _files([device.minor for device in devices]))
        pairs = (("NodeName", hosts), ("Name", "gpu"), ("Type", kind), place, ("Cores", cores))
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


def _shared_lines(shape: Shape, hosts: str) -> tuple[Line, ...]:
    """Slurm spreads a bare count evenly over the GPUs, and copies their cores."""
    if shape.shared is None:
        return ()
    return (Line((("NodeName", hosts), ("Name", shape.shared[0]), ("Count", str(shape.shared_count)))),)


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
