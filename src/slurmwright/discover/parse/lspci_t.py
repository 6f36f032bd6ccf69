r"""Turns `lspci -t` into devices with the bridge above each; which GPUs and NICs share a switch follows.

The tree is drawn: `+-` and `\-` stand below the place where their bus was opened, and that column alone says
to which bus a line belongs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from slurmwright.discover.parse.lines import Text, shown

_BUS = re.compile(r"\[(?:([0-9a-f]{4,8}):)?([0-9a-f]{2})(?:-([0-9a-f]{2}))?\]-", re.ASCII)
_DEVICE = re.compile(r"([0-9a-f]{2})\.([0-7])(?=\Z|-\[|-\+|\s)", re.ASCII)


@dataclass(frozen=True)
class PciDevice:
    """A device, and the bridge that it hangs below; None right below the host."""

    pci: str
    parent: str | None
    bridge: bool = False


@dataclass(frozen=True)
class PciTree:
    """All devices in the order of the drawing."""

    devices: tuple[PciDevice, ...]


@dataclass(frozen=True)
class _Bus:
    """Where devices are being drawn: the bus (None: not opened yet) and the bridge that leads there."""

    domain: str
    bus: str | None
    parent: str | None


@dataclass
class _Drawing:
    text: Text
    open: dict[int, _Bus] = field(default_factory=dict)
    found: list[PciDevice] = field(default_factory=list)


def parse(text: str, name: str) -> PciTree:
    """Raises InputError with line and column where a branch hangs nowhere."""
    drawing = _Drawing(Text.of(text, name))
    top = _Bus("0000", None, None)
    for number, line in drawing.text.numbered():
        start = len(line) - len(line.lstrip(" |"))
        if not drawing.found and not drawing.open and line[start : start + 1] == "-":
            _follow(drawing, number, line, start + 1, top)
            continue
        if line[start : start + 2] not in ("+-", "\\-"):
            drawing.text.refuse(f"'{shown(line[start:])}' is no branch of the tree", number, start + 1)
        for column in [one for one in drawing.open if one > start]:
            del drawing.open[column]
        if start not in drawing.open:
            drawing.text.refuse("this branch hangs below none; lines above it are cut off", number, start + 1)
        bus = drawing.open[start]
        if line[start] == "\\":
            del drawing.open[start]
        _follow(drawing, number, line, start + 2, bus)
    if drawing.open:
        drawing.text.refuse("a branch is still open; lines are cut off", len(drawing.text.lines))
    if not drawing.found:
        drawing.text.refuse("no device is in it; expected the tree of `lspci -t`")
    _check_twice(drawing)
    return PciTree(tuple(drawing.found))


def _follow(drawing: _Drawing, number: int, line: str, at: int, bus: _Bus) -> None:
    """Read one line from column `at` on, devices of `bus`."""
    while at < len(line):
        rest = line[at:]
        if opened := _BUS.match(rest):
            domain = opened[1] or bus.domain
            parent = bus.parent
            bus = _Bus(domain, opened[2], parent)
            at += opened.end()
        elif rest.startswith("+-"):
            drawing.open[at] = bus
            at += 2
        elif device := _DEVICE.match(rest):
            if bus.bus is None:
                drawing.text.refuse("a device on no bus", number, at + 1)
            address = f"{bus.domain}:{bus.bus}:{device[0]}"
            bridge = rest[device.end() : device.end() + 1] == "-"
            drawing.found.append(PciDevice(address, bus.parent, bridge))
            if not bridge:
                return
            bus = _Bus(bus.domain, None, address)
            at += device.end() + 1
        elif rest.startswith("-"):
            at += 1
        elif not rest.strip():
            return
        else:
            drawing.text.refuse(f"'{shown(rest)}' is no device and no bus", number, at + 1)


def _check_twice(drawing: _Drawing) -> None:
    seen: set[str] = set()
    for device in drawing.found:
        if device.pci in seen:
            drawing.text.refuse(f"{device.pci} stands twice")
        seen.add(device.pci)
