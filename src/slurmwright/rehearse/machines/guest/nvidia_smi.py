#!/usr/bin/python3
"""Stand-in for nvidia-smi: prints what this guest's stand-in driver shows, in the formats of the real one.

As with the real one, a GPU that the device cgroup denies is not there.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

Gpu = dict[str, Any]

GPUS = "/proc/driver/nvidia/gpus"
#: Model → (memory in MiB, power limit in W, architecture), as the real program prints them.
MODELS = {
    "NVIDIA A100-SXM4-40GB": (40960, 400, "Ampere"),
    "NVIDIA A100-SXM4-80GB": (81920, 400, "Ampere"),
    "NVIDIA A100-PCIE-40GB": (40960, 250, "Ampere"),
    "NVIDIA A100 80GB PCIe": (81920, 300, "Ampere"),
    "NVIDIA H100 80GB HBM3": (81559, 700, "Hopper"),
    "NVIDIA H200": (143771, 700, "Hopper"),
    "NVIDIA B200": (183359, 1000, "Blackwell"),
}
CUDA = "12.8"


def may_open(minor: int) -> bool:
    try:
        os.close(os.open(f"/dev/nvidia{minor}", os.O_RDWR))
    except OSError as error:
        return error.errno == errno.ENXIO
    return True


def read(bus: str) -> Gpu:
    fields = {}
    with open(f"{GPUS}/{bus}/information") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            fields[key] = value.strip()
    domain, rest = bus.split(":", 1)
    memory, watts, architecture = MODELS.get(fields["Model"], (81920, 400, "N/A"))
    return {
        "name": fields["Model"],
        "uuid": fields["GPU UUID"],
        "minor": int(fields["Device Minor"]),
        "vbios_version": fields["Video BIOS"].upper(),
        "pci.bus_id": f"{int(domain, 16):08X}:{rest.upper()}",
        "sysfs": bus,
        "memory": memory,
        "watts": watts,
        "architecture": architecture,
    }


def gpus() -> list[Gpu]:
    found = [read(bus) for bus in sorted(os.listdir(GPUS))]
    found = [gpu for gpu in found if may_open(gpu["minor"])]
    return [{**gpu, "index": at} for at, gpu in enumerate(found)]


def driver_version() -> str:
    with open("/proc/driver/nvidia/version") as lines:
        return lines.readline().split("x86_64")[1].split()[0]


def listed(found: Sequence[Gpu]) -> None:
    for gpu in found:
        print(f"GPU {gpu['index']}: {gpu['name']} (UUID: {gpu['uuid']})")


def queried(found: Sequence[Gpu], names: Sequence[str], form: Sequence[str]) -> int:
    known: dict[str, Callable[[Gpu], Any]] = {
        "index": lambda g: g["index"],
        "name": lambda g: g["name"],
        "gpu_name": lambda g: g["name"],
        "uuid": lambda g: g["uuid"],
        "gpu_uuid": lambda g: g["uuid"],
        "pci.bus_id": lambda g: g["pci.bus_id"],
        "gpu_bus_id": lambda g: g["pci.bus_id"],
        "driver_version": lambda g: driver_version(),
        "count": lambda g: len(found),
        "persistence_mode": lambda g: "Enabled",
        "mig.mode.current": lambda g: "Disabled",
        "mig.mode.pending": lambda g: "Disabled",
        "vbios_version": lambda g: g["vbios_version"],
        "memory.total": lambda g: (g["memory"], "MiB"),
        "memory.used": lambda g: (0, "MiB"),
        "memory.free": lambda g: (g["memory"], "MiB"),
        "utilization.gpu": lambda g: (0, "%"),
        "temperature.gpu": lambda g: 30,
        "ecc.mode.current": lambda g: "Enabled",
        "compute_mode": lambda g: "Default",
        "fabric.state": lambda g: "Completed",
        "fabric.status": lambda g: "Success",
    }
    for name in names:
        if name not in known:
            print(f'Field "{name}" is not a valid field to query.\n')
            return 2
    units = {"memory.total": "MiB", "memory.used": "MiB", "memory.free": "MiB", "utilization.gpu": "%"}
    bare = "nounits" in form
    if "noheader" not in form:
        print(", ".join(name + (f" [{units[name]}]" if name in units else "") for name in names))
    for gpu in found:
        values = [known[name](gpu) for name in names]
        parts = [value if isinstance(value, tuple) else (value,) for value in values]
        shown = (" ".join(map(str, part[:1] if bare else part)) for part in parts)
        print(", ".join(shown))
    return 0


def table(found: Sequence[Gpu]) -> None:
    version = driver_version()
    print(time.strftime("%a %b %e %H:%M:%S %Y"))
    print("+" + "-" * 89 + "+")
    print(f"| NVIDIA-SMI {version:<22} Driver Version: {version:<14} CUDA Version: {CUDA:<8} |")
    print("|" + "-" * 41 + "+" + "-" * 24 + "+" + "-" * 22 + "+")
    print("| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |")
    print("| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |")
    print("|                                         |                        |               MIG M. |")
    print("|" + "=" * 41 + "+" + "=" * 24 + "+" + "=" * 22 + "|")
    for gpu in found:
        power, memory = f"{gpu['watts']}W", f"0MiB / {gpu['memory']:>6}MiB"
        print(f"| {gpu['index']:>3}  {gpu['name'][:30]:<30} On  |   {gpu['pci.bus_id']} Off |{'0':>21} |")
        print(f"| N/A   30C    P0             70W / {power:>5} | {memory:>22} |{'0%':>8}{'Default':>13} |")
        print(f"|{'':41}|{'':24}|{'Disabled':>21} |")
        print("+" + "-" * 41 + "+" + "-" * 24 + "+" + "-" * 22 + "+")


def details(found: Sequence[Gpu]) -> None:
    print("\n==============NVSMI LOG==============\n")

    def row(text: str, value: object, depth: int = 0) -> None:
        print(f"{'    ' * depth}{text:<{42 - 4 * depth}}: {value}")

    row("Timestamp", time.strftime("%a %b %e %H:%M:%S %Y"))
    row("Driver Version", driver_version())
    row("CUDA Version", CUDA)
    print()
    row("Attached GPUs", len(found))
    for gpu in found:
        print(f"GPU {gpu['pci.bus_id']}")
        row("Product Name", gpu["name"], 1)
        row("Product Brand", "NVIDIA", 1)
        row("Product Architecture", gpu["architecture"], 1)
        row("Persistence Mode", "Enabled", 1)
        print("    MIG Mode")
        row("Current", "Disabled", 2)
        row("Pending", "Disabled", 2)
        row("GPU UUID", gpu["uuid"], 1)
        row("Minor Number", gpu["minor"], 1)
        row("VBIOS Version", gpu["vbios_version"], 1)
        domain, bus, device = gpu["pci.bus_id"].split(":")
        print("    PCI")
        row("Bus", f"0x{bus}", 2)
        row("Device", f"0x{device.split('.')[0]}", 2)
        row("Domain", f"0x{domain[-4:]}", 2)
        row("Bus Id", gpu["pci.bus_id"], 2)
        print("    Fabric")
        row("State", "Completed", 2)
        row("Status", "Success", 2)
        print("    FB Memory Usage")
        row("Total", f"{gpu['memory']} MiB", 2)
        row("Used", "0 MiB", 2)
        row("Free", f"{gpu['memory']} MiB", 2)


def main() -> int:
    parser = argparse.ArgumentParser(prog="nvidia-smi")
    parser.add_argument("-L", "--list-gpus", action="store_true")
    parser.add_argument("-q", "--query", action="store_true")
    parser.add_argument("--query-gpu", default="")
    parser.add_argument("--format", default="csv")
    parser.add_argument("-i", "--id", default="")
    options = parser.parse_args()
    try:
        found = gpus()
    except FileNotFoundError:
        print("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that")
        print("the latest NVIDIA driver is installed and running.\n")
        return 9
    if options.id:
        wanted = options.id.split(",")
        found = [g for g in found if {str(g["index"]), g["uuid"], g["pci.bus_id"]} & set(wanted)]
    if not found:
        print("No devices were found")
        return 6
    if options.query_gpu:
        names = [name.strip() for name in options.query_gpu.split(",")]
        return queried(found, names, options.format.replace(" ", "").split(","))
    if options.list_gpus:
        listed(found)
    elif options.query:
        details(found)
    else:
        table(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
