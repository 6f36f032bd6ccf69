"""Reads what a guest's hardware is from QEMU's arguments alone: the tests hold discovery to it.

PCI addresses follow from the order in which firmware counts buses: depth first, from the first bus of each
root (SeaBIOS, as every PC's firmware).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slurmwright.core.cpu_list import fold_cpus
from slurmwright.rehearse.machines.guests import Guests

_GPU = "pci-testdev"


@dataclass(frozen=True)
class Device:
    """One `-device` below a bus; `slot` is its place there."""

    kind: str
    name: str
    bus: str
    slot: int


def gpu_map(argv: Sequence[str]) -> list[tuple[str, int | None]]:
    """(PCI address, NUMA node) of every stand-in GPU, by address."""
    devices = [_device(text) for option, text in itertools.pairwise(argv) if option == "-device"]
    roots = [
        (_value(text, "id"), int(_value(text, "bus_nr")), int(_value(text, "numa_node")))
        for option, text in itertools.pairwise(argv)
        if option == "-device" and text.startswith("pxb-pcie,")
    ]
    assert all(one.bus != "pcie.0" for one in devices if one.kind == _GPU), "a GPU below no root of its own"
    found: list[tuple[str, int | None]] = []
    for name, number, numa in roots:
        counter = iter(range(number + 1, 256))
        found += [(address, numa) for address in _below(devices, name, number, counter)]
    return sorted(found)


def numa_map(argv: Sequence[str]) -> list[tuple[int, int, str]]:
    """(NUMA node, socket, CPUs); CPUs are numbered thread by thread, core by core, socket by socket."""
    cpus: dict[tuple[int, int], list[int]] = {}
    texts = [text for option, text in itertools.pairwise(argv) if option == "-numa"]
    spread = argv[argv.index("-smp") + 1]
    cores, threads = int(_value(spread, "cores")), int(_value(spread, "threads"))
    for text in texts:
        if text.startswith("cpu,"):
            node, socket, core, thread = (
                int(_value(text, key)) for key in ("node-id", "socket-id", "core-id", "thread-id")
            )
            cpus.setdefault((node, socket), []).append((socket * cores + core) * threads + thread)
    return [(node, socket, fold_cpus(sorted(own))) for (node, socket), own in sorted(cpus.items())]


def ssh_config(guests: Guests, name: str) -> str:
    """How ssh reaches a guest, as an admin would write it down."""
    access = guests.access
    lines = [
        f"HostName 127.0.0.1\n  Port {guests.guests[name].ssh_port}\n  User root",
        f"IdentityFile {access.key}\n  IdentitiesOnly yes\n  UserKnownHostsFile {access.known_hosts}",
    ]
    return f"Host {name}\n" + "".join(f"  {line}\n" for line in lines)


def _below(devices: Sequence[Device], bus: str, number: int, counter: Iterator[int]) -> Iterator[str]:
    for one in sorted((one for one in devices if one.bus == bus), key=lambda one: one.slot):
        if one.kind == _GPU:
            yield f"0000:{number:02x}:{one.slot:02x}.0"
        elif re.search(r"root-port|upstream|downstream", one.kind):
            yield from _below(devices, one.name, next(counter), counter)


def _device(text: str) -> Device:
    kind = text.split(",")[0]
    # Below a switch QEMU places the ports from slot 0 on; a port takes one device, in slot 0.
    below = re.fullmatch(r"r\d+d(\d+)", _value(text, "id"))
    return Device(kind, _value(text, "id"), _value(text, "bus"), int(below[1]) if below else 0)


def _value(text: str, key: str) -> str:
    found = re.search(rf"(?:^|,){key}=([^,]*)", text)
    return found[1] if found else ""
