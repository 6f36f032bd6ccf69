"""Turns `ibdev2netdev`, with or without -v, into RDMA devices with their network interfaces."""

from __future__ import annotations

import re
from dataclasses import dataclass

from slurmwright.discover.parse.lines import Text, shown

_LINE = re.compile(
    r"\s*(?:(?P<pci>[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]) )?(?P<device>[A-Za-z][\w\-]*)"
    r"(?: \([^()]*\).*?(?:fw (?P<firmware>[\w.]+).*?)?)?\s+port (?P<port>\d{1,3})"
    r"(?: \((?P<link>\w+) *\))?\s+==> (?P<interface>[\w.\-]*)\s*\((?P<state>Up|Down)\)\s*\Z",
    re.ASCII,
)


@dataclass(frozen=True)
class IbPort:
    """One port: device, port number, interface (None where it has none), up or not; the rest from -v."""

    device: str
    port: int
    interface: str | None
    up: bool
    pci: str | None = None
    firmware: str | None = None


@dataclass(frozen=True)
class IbPorts:
    """All ports, in the order of the output."""

    ports: tuple[IbPort, ...]


def parse(text: str, name: str) -> IbPorts:
    """Raises InputError for a line of another form and for a port that stands twice."""
    source = Text.of(text, name)
    ports: list[IbPort] = []
    for number, line in source.numbered():
        found = _LINE.match(line)
        if not found:
            source.refuse(
                f"'{shown(line.strip())}' is no line of ibdev2netdev; expected for example "
                "'mlx5_0 port 1 ==> ib0 (Up)'",
                number,
                1,
            )
        port = IbPort(
            found["device"],
            int(found["port"]),
            found["interface"] or None,
            found["state"] == "Up",
            found["pci"],
            found["firmware"],
        )
        if any((one.device, one.port) == (port.device, port.port) for one in ports):
            source.refuse(f"{port.device} port {port.port} stands twice", number, 1)
        ports.append(port)
    if not ports:
        source.refuse("no port is in it; expected for example 'mlx5_0 port 1 ==> ib0 (Up)'")
    return IbPorts(tuple(ports))
