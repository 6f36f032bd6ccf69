"""Described hosts to gres.conf: which device file is which GPU, and which cores are near it.

`Cores=` are logical core indexes of one whole Slurm socket, never OS CPU ids. Lines stand in rising order of
the device numbers, since Slurm counts GPUs in the order in which it reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
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
            key = (shape.autodetect, shape.gpu_type, shape.devices, shape.layout, shape.minors_assumed)
            alike.setdefault(key, (shape, []))[1].extend(row.hosts)
    return tuple(
        Section(
            f"{shape.type}: {len(shape.devices)} GPUs.",
            _lines(shape, fold_for(cluster.slurm.release, hosts)),
        )
        for shape, hosts in alike.values()
    )


def _lines(shape: Shape, hosts: str) -> tuple[Line, ...]:
    if shape.autodetect:
        return (Line((("NodeName", hosts), ("AutoDetect", shape.autodetect))),)
    note = "assumed: device numbers follow PCI order; facts of the hosts say which number each GPU has"
    lines: list[Line] = []
    for cores, devices in groupby(shape.devices, lambda device: _cores(shape, device)):
        lines.append(
            Line(
                (
                    ("NodeName", hosts),
                    ("Name", "gpu"),
                    ("Type", shape.gpu_type),
                    ("File", _files([device.minor for device in devices])),
                    ("Cores", cores),
                ),
                (note,) if shape.minors_assumed and not lines else (),
            )
        )
    return tuple(lines)


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
