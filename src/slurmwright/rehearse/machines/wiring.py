"""Gives guests their numbers on this machine: free ports for SSH and for the cables between them."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from slurmwright.rehearse.machines.qemu import Guest, Link
from slurmwright.rehearse.machines.shape import Shape


def wire(shapes: Mapping[str, Shape], folder: Path) -> dict[str, Guest]:
    """The guests by name; the first is the hub, to which every other has a cable."""
    names = list(shapes)
    ssh = _free_ports(len(names), socket.SOCK_STREAM)
    ends = _free_ports(2 * (len(names) - 1), socket.SOCK_DGRAM)
    cables = [Link(here, there) for here, there in zip(ends[::2], ends[1::2], strict=True)]
    links: dict[str, tuple[Link, ...]] = {names[0]: tuple(cables)}
    links |= {name: (Link(one.there, one.here),) for name, one in zip(names[1:], cables, strict=True)}
    return {
        name: Guest(name, shapes[name], folder / name, ssh[at], at + 1, links[name])
        for at, name in enumerate(names)
    }


def _free_ports(count: int, kind: socket.SocketKind) -> Sequence[int]:
    """Ports of 127.0.0.1 that nobody has; all are held until the last is found, so no two are the same."""
    with ExitStack() as held:
        found = []
        for _ in range(count):
            one = held.enter_context(socket.socket(socket.AF_INET, kind))
            one.bind(("127.0.0.1", 0))
            found.append(int(one.getsockname()[1]))
        return found
