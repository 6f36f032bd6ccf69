#!/usr/bin/env python3
"""Turns what one host tells every user into a JSON document, `slurmwright/host/1`; Python 3.6 is enough.

It runs as one step of a job of any user, or over SSH: units, the hashes of Slurm's files, the driver's
devices, and whether munge here takes a credential that was made elsewhere.
"""

# ruff: noqa: UP006, UP031, UP035, UP045 - Python 3.6 has no dict[str, int] and no int | None

import argparse
import glob
import hashlib
import json
import os
import re
import stat
import subprocess
import time
from typing import Any, Dict, List, Optional

FORMAT = "slurmwright/host/1"
UNITS = ("slurmd", "munge", "nvidia-persistenced", "chrony", "chronyd", "systemd-timesyncd", "ntpd", "ntpsec")
#: ExecMainStartTimestampMonotonic counts from the boot, as /proc/uptime does.
PROPERTIES = "ActiveState,UnitFileState,LoadState,Delegate,LimitMEMLOCK,ExecMainStartTimestampMonotonic"
#: Where slurmd keeps what it fetched (configless), newest form first, and the files that are compared.
FETCHED = ("/run/slurm/conf", "/var/spool/slurmd/conf-cache", "/var/spool/slurm/d/conf-cache")
FILES = ("slurm.conf", "gres.conf", "cgroup.conf", "topology.conf", "topology.yaml", "job_container.conf")
TELLING = re.compile(
    r"\s*(TaskPlugin|ProctrackType|Constrain\w*|CgroupPlugin|AutoDetect|(NodeName=\S+\s+)?Name)\s*=", re.I
)
PIECE = 700


def read(path: str) -> Optional[str]:
    """The text of a file; None where it cannot be read."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return None


def said(argv: List[str], text: str = "") -> str:
    """What a command prints, errors too; "" where it cannot run."""
    try:
        done = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.communicate(text.encode(), timeout=20)[0].decode(errors="replace")
    except (OSError, subprocess.SubprocessError):
        return ""


def units() -> Dict[str, Dict[str, str]]:
    """Unit → its properties, for those that systemd knows."""
    found = {}
    for unit in UNITS:
        text = said(["systemctl", "show", unit, "--property=" + PROPERTIES])
        rows = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        if rows.get("LoadState") == "loaded":
            found[unit] = rows
    return found


def configuration(folder: str) -> Dict[str, Dict[str, Any]]:
    """File → where it was read, the hash of its text, and the lines that decide what jobs may open."""
    place = next((one for one in (folder, *FETCHED) if os.path.exists(one + "/slurm.conf")), folder)
    found = {}
    for name in FILES:
        path = place + "/" + name
        text = read(path)
        if text is not None:
            lines = [[at, line] for at, line in enumerate(text.splitlines(), 1) if TELLING.match(line)]
            digest = hashlib.sha256(text.encode()).hexdigest()
            found[name] = {"path": path, "sha256": digest, "lines": lines[:100]}
    return found


def devices() -> Dict[str, Dict[str, Any]]:
    """Device file → mode, number, and how many seconds it was made after the first files of /dev.

    A clock that was set since boot moves neither: both times are of the clock as it was then.
    """
    first = min(
        [os.stat(path).st_mtime for path in ("/dev/null", "/dev/zero", "/dev/full") if os.path.exists(path)]
    )
    found = {}
    for path in sorted([*glob.glob("/dev/nvidia[0-9]*"), "/dev/nvidiactl", "/dev/nvidia-uvm"]):
        try:
            seen = os.stat(path)
        except OSError:
            continue
        number = "%d:%d" % (os.major(seen.st_rdev), os.minor(seen.st_rdev))
        made = round(seen.st_mtime - first, 1)
        found[path] = {"mode": stat.filemode(seen.st_mode), "number": number, "made": made}
    return found


def gpus() -> Dict[str, Dict[str, Optional[int]]]:
    """PCI address → minor and NUMA node, as the driver and the kernel tell everybody."""
    found = {}
    for path in sorted(glob.glob("/proc/driver/nvidia/gpus/*/information")):
        bus = path.split("/")[-2]
        minor = re.search(r"^Device Minor:\s*(\d+)", read(path) or "", re.M)
        numa = (read("/sys/bus/pci/devices/%s/numa_node" % bus) or "").strip()
        found[bus] = {"minor": int(minor.group(1)) if minor else None, "numa": int(numa) if numa else None}
    return found


def jobs_left() -> List[str]:
    """The jobs that have a cgroup here; this one is among them."""
    places = glob.glob("/sys/fs/cgroup/system.slice/*slurmstepd.scope/job_*")
    return sorted(os.path.basename(place)[4:] for place in places)


def cgroup_mode() -> str:
    """The hierarchies that are mounted."""
    kinds = {
        line.partition(" - ")[2].split(" ")[0] for line in (read("/proc/self/mountinfo") or "").splitlines()
    }
    both = {"cgroup", "cgroup2"} & kinds
    return {0: "none", 2: "hybrid"}.get(len(both), "v2" if "cgroup2" in both else "v1")


def munge(credential: str) -> Dict[str, str]:
    """What munged here says of a credential that was made elsewhere."""
    if not credential:
        return {}
    rows = [line.split(":", 1) for line in said(["unmunge"], credential).splitlines() if ":" in line]
    found = {row[0]: row[1].strip() for row in rows}
    return {key: found.get(key, "") for key in ("STATUS", "ENCODE_TIME", "DECODE_TIME", "unmunge")}


def document(folder: str, credential: str) -> Dict[str, Any]:
    """All of it."""
    names = ("SLURMD_NODENAME", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID")
    return {
        "format": FORMAT,
        "host": os.uname()[1],
        "time": time.time(),
        "uid": os.getuid(),
        "env": {name: os.environ[name] for name in names if name in os.environ},
        "units": units(),
        "configuration": configuration(folder),
        "devices": devices(),
        "gpus": gpus(),
        "driver": (read("/proc/driver/nvidia/version") or "").split("\n")[0],
        "munge": munge(credential),
        "cgroup": cgroup_mode(),
        "jobs": jobs_left(),
    }


def main() -> None:
    """Print the document, as one line or with --lines in pieces that no other task's output can cut."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", metavar="TAG", help="print pieces that name TAG and this task")
    parser.add_argument("--config", default="/etc/slurm", help="the folder of slurm.conf")
    parser.add_argument("--credential", default="", help="what `munge -n` printed on another host")
    wanted = parser.parse_args()
    text = json.dumps(document(wanted.config, wanted.credential), sort_keys=True)
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
