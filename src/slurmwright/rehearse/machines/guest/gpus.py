#!/usr/bin/python3
"""Stands in for NVIDIA's kernel driver on this guest.

Makes device files of its major number with no driver behind them (opening one gives ENXIO where the device
cgroup allows it and EPERM where not), and shows what the driver shows below /proc and /sys, for the PCI
devices that stand in for GPUs. /etc/guest/gpus has a line for each GPU in PCI order: minor, UUID, video
BIOS, model; /etc/guest/caps has the numbers of MIG's capability files.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import sys
from collections.abc import Iterator

DRIVER = "570.158.01"
STAGE = "/run/guest/nvidia"
DEVICES = "/sys/bus/pci/devices"
STAND_IN = ("0x1b36", "0x0005")
FRONT_END, CONTROL, CAPS, UVM = 195, 255, 510, 511
#: The fields and their white space are the driver's own.
INFORMATION = """\
Model: \t\t {model}
IRQ:   \t\t 16
GPU UUID: \t {uuid}
Video BIOS: \t {bios}
Bus Type: \t PCIe
DMA Size: \t 52 bits
DMA Mask: \t 0xfffffffffffff
Bus Location: \t {bus}
Device Minor: \t {minor}
GPU Firmware: \t {driver}
GPU Excluded:\t No
"""
VERSION = f"""\
NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {DRIVER}  Release Build
GCC version:  none: a stand-in, no driver is loaded
"""
MIG = "DeviceFileMinor: {minor}\nDeviceFileMode: 256\nDeviceFileModify: 1\n"
MS_BIND = 4096


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def read(path: str) -> str:
    with open(path) as file:
        return file.read().strip()


def mount(source: str, target: str, kind: str | None = None, flags: int = 0) -> None:
    words = [word and word.encode() for word in (source, target, kind)]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(*words, flags, None):
        raise OSError(ctypes.get_errno(), f"cannot mount {source} on {target}")


def device(name: str, major: int, minor: int, mode: int = 0o666) -> None:
    path = f"/dev/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path):
        os.mknod(path, stat.S_IFCHR, os.makedev(major, minor))
    os.chmod(path, mode)


def stand_ins() -> Iterator[str]:
    for bus in sorted(os.listdir(DEVICES)):
        if (read(f"{DEVICES}/{bus}/vendor"), read(f"{DEVICES}/{bus}/device")) == STAND_IN:
            yield bus


def main() -> None:
    gpus = [line.split(None, 3) for line in read("/etc/guest/gpus").splitlines()]
    buses = list(stand_ins())
    if len(buses) != len(gpus):
        sys.exit(f"/etc/guest/gpus lists {len(gpus)} GPUs, {len(buses)} PCI devices stand in for them")
    shutil.rmtree(STAGE, ignore_errors=True)
    os.makedirs(f"{STAGE}/sys")
    os.makedirs(f"{STAGE}/drivers/nvidia")
    # A second view of sysfs, since a folder of ours is laid over its list of drivers.
    mount("sysfs", f"{STAGE}/sys", "sysfs")
    for name in os.listdir(f"{STAGE}/sys/bus/pci/drivers"):
        os.symlink(f"{STAGE}/sys/bus/pci/drivers/{name}", f"{STAGE}/drivers/{name}")
    for bus, (minor, uuid, bios, model) in zip(buses, gpus, strict=True):
        text = INFORMATION.format(model=model, uuid=uuid, bios=bios, bus=bus, minor=minor, driver=DRIVER)
        write(f"{STAGE}/driver/nvidia/gpus/{bus}/information", text)
        os.symlink(os.path.realpath(f"{STAGE}/sys/bus/pci/devices/{bus}"), f"{STAGE}/drivers/nvidia/{bus}")
        device(f"nvidia{minor}", FRONT_END, int(minor))
    device("nvidiactl", FRONT_END, CONTROL)
    device("nvidia-uvm", UVM, 0)
    device("nvidia-uvm-tools", UVM, 1)
    # Root alone configures MIG; everybody may open what an instance is.
    device("nvidia-caps/nvidia-cap1", CAPS, 1, 0o400)
    device("nvidia-caps/nvidia-cap2", CAPS, 2, 0o444)
    if os.path.exists("/etc/guest/caps"):
        for cap in read("/etc/guest/caps").split():
            device(f"nvidia-caps/nvidia-cap{cap}", CAPS, int(cap), 0o444)
    write(f"{STAGE}/driver/nvidia/version", VERSION)
    write(f"{STAGE}/driver/nvidia/capabilities/mig/config", MIG.format(minor=1))
    write(f"{STAGE}/driver/nvidia/capabilities/mig/monitor", MIG.format(minor=2))
    mount(f"{STAGE}/driver", "/proc/driver", flags=MS_BIND)
    mount(f"{STAGE}/drivers", "/sys/bus/pci/drivers", flags=MS_BIND)


if __name__ == "__main__":
    main()
