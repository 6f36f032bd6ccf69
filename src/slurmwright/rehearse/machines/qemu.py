"""Turns a guest into the command line of QEMU: its NUMA nodes, PCIe tree, disks and two networks.

GPUs and NICs are stand-ins: `pci-testdev` for a GPU and `edu` for a NIC, since any PCI device has a place in
the tree and a NUMA node. Linux gives SMT siblings neighbouring numbers here (0 and 1), unlike on most
servers: Slurm counts cores and does not see it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from slurmwright.rehearse.machines.shape import Branch, Shape

PROGRAM = "qemu-system-x86_64"
GPU_DEVICE, NIC_DEVICE = "pci-testdev", "edu"
#: For documentation only (RFC 5737), so no cluster has it. QEMU forwards to .15.
SSH_NETWORK = "192.0.2"
#: `panic`: Linux patches its own code while other CPUs run it, and an emulated one now and then reads the old
#: byte and stops at boot; it then boots again. The rest saves what costs time under emulation.
_KERNEL_OPTIONS = (
    "rw console=ttyS0 quiet net.ifnames=0 panic=1 oops=panic mitigations=off tsc=reliable nowatchdog "
    "random.trust_cpu=1 audit=0 systemd.service_watchdogs=0"
)
#: The first bus number of a PCIe root of its own; the devices of the machine itself stay far below.
_FIRST_BUS = 0x10


@dataclass(frozen=True)
class Link:
    """One end of a cable of the inner network: two UDP ports on 127.0.0.1."""

    here: int
    there: int


@dataclass(frozen=True)
class Guest:
    """One virtual machine; `links` of more than one make its QEMU the hub of the inner network."""

    name: str
    shape: Shape
    folder: Path
    ssh_port: int
    number: int
    links: tuple[Link, ...]

    @property
    def disk(self) -> Path:
        return self.folder / "disk.qcow2"

    @property
    def seed(self) -> Path:
        return self.folder / "seed.tar"

    @property
    def console(self) -> Path:
        return self.folder / "console.log"

    def mac(self, network: int) -> str:
        """Locally administered, by guest and network (0: for SSH, 1: inner)."""
        return f"52:54:00:5c:{network:02x}:{self.number:02x}"


def command_line(guest: Guest, kernel: Path, initrd: Path, kvm: bool, kernel_options: str = "") -> list[str]:
    """The whole command line; nothing in it is secret. `kernel_options` are added to the kernel's own."""
    shape = guest.shape
    return [
        PROGRAM,
        *("-name", guest.name, "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none"),
        *("-machine", "q35", *_accelerator(kvm)),
        *(
            "-kernel",
            str(kernel),
            "-initrd",
            str(initrd),
            "-append",
            f"{_KERNEL_OPTIONS} {kernel_options}".strip(),
        ),
        *("-serial", f"file:{guest.console}"),
        *("-smp", _cpus(shape)),
        *("-m", f"{shape.numa_memory_mb * shape.numa}M"),
        *_numa(shape),
        *("-drive", f"if=none,id=disk,file={guest.disk},format=qcow2,cache=unsafe"),
        *("-device", "virtio-blk-pci,drive=disk"),
        *("-drive", f"if=none,id=seed,file={guest.seed},format=raw,readonly=on"),
        *("-device", "virtio-blk-pci,drive=seed"),
        *("-device", "virtio-rng-pci"),
        *(
            "-netdev",
            f"user,id=ssh,restrict=on,net={SSH_NETWORK}.0/24,hostfwd=tcp:127.0.0.1:{guest.ssh_port}-:22",
        ),
        *("-device", f"virtio-net-pci,netdev=ssh,mac={guest.mac(0)},romfile="),
        *_inner(guest),
        *("-device", f"virtio-net-pci,netdev=inner,mac={guest.mac(1)},romfile="),
        *_tree(shape),
    ]


def _cpus(shape: Shape) -> str:
    cores = shape.cores * shape.numa_per_socket
    return f"{shape.cpus},sockets={shape.sockets},cores={cores},threads={shape.threads}"


def _accelerator(kvm: bool) -> Sequence[str]:
    if kvm:
        # AMD's CPUs tell of SMT through topoext alone; others warn and go on.
        return "-accel", "kvm", "-cpu", "host,topoext=on"
    # Leaf 0xB tells Linux of SMT on Intel's CPUs; AMD's need topoext, which is not emulated.
    return "-accel", "tcg,thread=multi", "-cpu", "max,vendor=GenuineIntel,la57=off"


def _numa(shape: Shape) -> Iterator[str]:
    if shape.numa == 1:
        return
    for node in range(shape.numa):
        yield from ("-object", f"memory-backend-ram,id=m{node},size={shape.numa_memory_mb}M")
        yield from ("-numa", f"node,nodeid={node},memdev=m{node}")
    for node in range(shape.numa):
        socket, part = divmod(node, shape.numa_per_socket)
        for core in range(part * shape.cores, (part + 1) * shape.cores):
            for thread in range(shape.threads):
                where = f"socket-id={socket},core-id={core},thread-id={thread}"
                yield from ("-numa", f"cpu,node-id={node},{where}")


def _inner(guest: Guest) -> Iterator[str]:
    """The cable to the hub, or the hub with a cable for each other guest."""
    if len(guest.links) == 1:
        yield from ("-netdev", f"socket,id=inner,{_udp(guest.links[0])}")
        return
    for at, link in enumerate(guest.links):
        yield from ("-netdev", f"socket,id=cable{at},{_udp(link)}")
        yield from ("-netdev", f"hubport,id=port{at},hubid=0,netdev=cable{at}")
    yield from ("-netdev", "hubport,id=inner,hubid=0")


def _udp(link: Link) -> str:
    return f"udp=127.0.0.1:{link.there},localaddr=127.0.0.1:{link.here}"


def _tree(shape: Shape) -> Iterator[str]:
    """A PCIe root for each NUMA node with devices, root ports on it, and below them a switch or a device."""
    bus = _FIRST_BUS
    for number, branch in enumerate(shape.branches):
        name = f"r{number}"
        if branch.numa is None:
            root = "pcie.0"
        else:
            root = f"{name}root"
            yield from ("-device", f"pxb-pcie,id={root},bus=pcie.0,bus_nr={bus},numa_node={branch.numa}")
            bus += _buses(branch)
        yield from (
            "-device",
            f"pcie-root-port,id={name},bus={root},chassis={number + 1},slot=0,io-reserve=0",
        )
        yield from _below(name, number, branch)


def _below(port: str, number: int, branch: Branch) -> Iterator[str]:
    devices = [(GPU_DEVICE, f"g{gpu}") for gpu in branch.gpus]
    devices += [(NIC_DEVICE, f"n{number}x{at}") for at in range(len(branch.nics))]
    if not branch.is_switch:
        yield from ("-device", f"{devices[0][0]},id={devices[0][1]},bus={port}")
        return
    yield from ("-device", f"x3130-upstream,id={port}up,bus={port}")
    for slot, (kind, name) in enumerate(devices):
        down = f"{port}d{slot}"
        yield from (
            "-device",
            f"xio3130-downstream,id={down},bus={port}up,chassis={number + 1},slot={slot + 1}",
        )
        yield from ("-device", f"{kind},id={name},bus={down}")


def _buses(branch: Branch) -> int:
    """Bus numbers of a branch: its root, the port, and for a switch its own and one for each device."""
    return 2 + (1 + len(branch.gpus) + len(branch.nics) if branch.is_switch else 0)
