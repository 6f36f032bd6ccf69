#!/usr/bin/env python3
"""Turns what the process that runs this can see and use into one JSON document, `slurmwright/probe/1`.

Python 3.6 and its standard library are enough: it runs inside jobs and their images. `probe.sh` prints the
same document where there is no Python. Opening a device is the only way to know whether the cgroup lets a job
have it: device files are there for every job, and the BPF filter answers EPERM at open(2) only.
"""

# ruff: noqa: UP006, UP031, UP035, UP045 - Python 3.6 has no dict[str, int] and no int | None

import argparse
import errno
import glob
import json
import mmap
import os
import re
import stat
import subprocess
import time
from typing import Any, Dict, List, Optional

FORMAT = "slurmwright/probe/1"
#: What Slurm tells a task, and what CUDA and container runtimes obey.
NAMES = (
    *("SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_STEP_ID", "SLURM_PROCID"),
    *("SLURM_LOCALID", "SLURMD_NODENAME", "SLURM_CPUS_ON_NODE", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS"),
    *("SLURM_GPUS_ON_NODE", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"),
)
LIMITS = {"memlock": "Max locked memory", "nofile": "Max open files", "stack": "Max stack size"}
MARKS = ("container", "ENROOT_ROOTFS", "APPTAINER_NAME", "SINGULARITY_NAME", "PYXIS_RUNTIME_PATH")
#: Bytes that are touched to see where they land, and those of one line with --lines: slurmstepd keeps lines
#: of up to 1024 bytes whole when the output of many tasks goes into one stream.
TOUCHED, PIECE = 8 << 20, 700


def read(path: str) -> Optional[str]:
    """The text of a file; None where it cannot be read."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return None


def opened(path: str, flags: int) -> Dict[str, str]:
    """How opening ends, and what the file is."""
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK))
        how = "opened"
    except OSError as error:
        how = errno.errorcode.get(error.errno or 0, str(error.errno))
    try:
        seen = os.stat(path)
    except OSError:
        return {"open": how, "mode": "", "number": ""}
    number = "%d:%d" % (os.major(seen.st_rdev), os.minor(seen.st_rdev))
    return {"open": how, "mode": stat.filemode(seen.st_mode), "number": number}


def devices(folder: str, *names: str, flags: int = os.O_RDWR) -> Dict[str, Dict[str, str]]:
    """path → how it opens, for every device file of these patterns."""
    paths = [path for name in names for path in glob.glob(os.path.join(folder, name))]
    return {path: opened(path, flags) for path in sorted(paths)}


def gpus() -> Dict[str, Dict[str, Optional[int]]]:
    """PCI address → minor and NUMA node, as the driver and the kernel tell everybody."""
    found = {}
    for path in sorted(glob.glob("/proc/driver/nvidia/gpus/*/information")):
        bus = path.split("/")[-2]
        minor = re.search(r"^Device Minor:\s*(\d+)", read(path) or "", re.M)
        numa = (read("/sys/bus/pci/devices/%s/numa_node" % bus) or "").strip()
        found[bus] = {"minor": int(minor.group(1)) if minor else None, "numa": int(numa) if numa else None}
    return found


def cgroup() -> Dict[str, Any]:
    """Which hierarchies are mounted, where this process is, and the tightest limits above it."""
    own = {}  # type: Dict[str, str]
    for line in (read("/proc/self/cgroup") or "").splitlines():
        _, names, path = line.split(":", 2)
        own[names] = path
    mounts = {}  # type: Dict[str, str]
    for line in (read("/proc/self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup"):
            mounts.setdefault(after.split()[0], before.split()[4])
    kinds = (("hybrid", 2), ("v2", 1)) if "cgroup2" in mounts else (("v1", 1),)
    mode = next((name for name, count in kinds if len(mounts) == count), "none")
    path = own.get("", "")
    top = mounts.get("cgroup2", "")
    places = []
    here = path.rstrip("/")
    while top and here:
        places.append(top + here)
        here = here.rpartition("/")[0]
    limits = [read(place + "/memory.max") or "" for place in places]
    numbers = [int(text) for text in limits if text.strip().isdigit()]
    cpus = [read(place + "/cpuset.cpus.effective") for place in places]
    nearest = next((text.strip() for text in cpus if text), None)
    job = next((place for place in places if re.search(r"/job_\d+$", place)), None)
    of_job = read(job + "/cpuset.cpus.effective") if job else None
    return {
        "mode": mode,
        "path": path,
        "cpus": nearest,
        "job_cpus": of_job.strip() if of_job else None,
        "memory_max": min(numbers) if numbers else None,
    }


def status(key: str) -> Optional[str]:
    """One line of what the kernel tells of this process."""
    for line in (read("/proc/self/status") or "").splitlines():
        if line.startswith(key + ":"):
            return line.split(":", 1)[1].strip()
    return None


def pages() -> Optional[Dict[str, int]]:
    """NUMA node → pages of this process that are its own; None where the kernel does not tell."""
    memory = mmap.mmap(-1, TOUCHED, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, TOUCHED, mmap.PAGESIZE):
        memory[at] = 1
    text = read("/proc/self/numa_maps")
    if not text:
        return None
    found = {}  # type: Dict[str, int]
    for line in text.splitlines():
        if " anon=" in line:
            for node, count in re.findall(r" N(\d+)=(\d+)", line):
                found[node] = found.get(node, 0) + int(count)
    return found


def limits() -> Dict[str, List[str]]:
    """The soft and the hard limit of each kind."""
    found = {}
    for line in (read("/proc/self/limits") or "").splitlines():
        for name, title in LIMITS.items():
            if line.startswith(title):
                found[name] = line[len(title) :].split()[:2]
    return found


def container() -> List[str]:
    """What shows that this is the inside of a container; nothing where it is not."""
    marks = [path for path in ("/.dockerenv", "/run/.containerenv") if os.path.exists(path)]
    return marks + [name for name in MARKS if os.environ.get(name)]


def numa() -> Dict[str, str]:
    """NUMA node → its CPUs, as this machine says."""
    found = {}
    for path in glob.glob("/sys/devices/system/node/node[0-9]*/cpulist"):
        cpus = (read(path) or "").strip()
        if cpus:
            found[path.split("/")[-2][4:]] = cpus
    return found


def smi(patience: float) -> Optional[List[str]]:
    """`index, bus, UUID` of each GPU that nvidia-smi shows; None where there is no answer."""
    if not patience:
        return None
    argv = ["nvidia-smi", "--query-gpu=index,pci.bus_id,uuid", "--format=csv,noheader"]
    try:
        nothing = subprocess.DEVNULL
        text = subprocess.check_output(argv, stdin=nothing, stderr=nothing, timeout=patience)
    except (OSError, subprocess.SubprocessError):
        return None
    return [line.strip() for line in text.decode(errors="replace").splitlines() if line.strip()]


def document(dev: str, patience: float) -> Dict[str, Any]:
    """All of it."""
    return {
        "format": FORMAT,
        "by": "python",
        "host": os.uname()[1],
        "time": int(time.time()),
        "uid": os.getuid(),
        "env": {name: os.environ[name] for name in NAMES if name in os.environ},
        "devices": devices(dev, "nvidia[0-9]*"),
        "caps": devices(dev, "nvidia-caps/nvidia-cap[0-9]*", flags=os.O_RDONLY),
        "control": devices(dev, "nvidiactl", "nvidia-uvm*"),
        "infiniband": devices(dev, "infiniband/uverbs[0-9]*"),
        "gpus": gpus(),
        "cgroup": cgroup(),
        "cpus": status("Cpus_allowed_list"),
        "mems": status("Mems_allowed_list"),
        "pages": pages(),
        "numa": numa(),
        "limits": limits(),
        "uid_map": [" ".join(line.split()) for line in (read("/proc/self/uid_map") or "").splitlines()],
        "container": container(),
        "nvidia_smi": smi(patience),
    }


def main() -> None:
    """Print the document, as one line or with --lines in pieces that no other task's output can cut."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", metavar="TAG", help="print pieces that name TAG and this task")
    parser.add_argument("--dev", default="/dev", help="the folder of device files, for tests")
    parser.add_argument("--smi-limit", type=float, default=20, help="seconds that nvidia-smi gets")
    wanted = parser.parse_args()
    text = json.dumps(document(wanted.dev, wanted.smi_limit), sort_keys=True)
    if wanted.lines is None:
        print(text)
        return
    task = ".".join(os.environ.get(name, "") for name in ("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID"))
    head = "@probe %s %s/%s/%d" % (wanted.lines, os.uname()[1], task, os.getpid())
    for at in range(0, len(text), PIECE):
        print("%s + %s" % (head, text[at : at + PIECE]))
    print("%s ." % head)


if __name__ == "__main__":
    main()
