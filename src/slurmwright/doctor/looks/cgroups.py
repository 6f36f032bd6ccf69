"""Cgroups: which hierarchy the host has, which one Slurm takes, and what is left in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.doctor.host import Host
from slurmwright.doctor.told import Told
from slurmwright.rules.units_seen import unit_settings


def plugin(host: Host) -> Iterator[Told]:
    """cgroup v2 on the host, and a Slurm without its plugin, or older than it."""
    if hits := host.all("cgroup-plugin-missing"):
        listed = re.findall(r"\bcgroup_v\d\.so", host.text("ls_plugins.txt"))
        text = "the host runs cgroup v2 and this build of Slurm has no cgroup_v2.so"
        text += f" (it has {', '.join(listed)})" if listed else ""
        yield Told("DR020", f"{text}: dbus or bpf headers were missing when it was built", hits)
    if hits := host.all("cgroup-no-dbus"):
        text = "slurmd cannot ask systemd for a scope: no dbus here, as in a pod; IgnoreSystemd is not set"
        yield Told("DR021", text, hits, also=("daemon-fatal",))
    version = re.search(r"slurm[\w-]* (\d\d)\.(\d\d)", host.text("slurmd_-V.txt"))
    two = "cgroup2fs" in host.text("stat_cgroup.txt") or _only_v2(host.text("proc_mounts.txt"))
    old = version and (int(version[1]), int(version[2])) < (22, 5)
    hits = host.all("cgroup-freezer")
    if old and version and two:
        text = (
            f"the host has cgroup v2, and Slurm {version[1]}.{version[2]} knows only v1: v2 came with 22.05"
        )
        yield Told("DR022", text, hits)
    elif hits:
        yield Told(
            "DR022", "Slurm looks for cgroup v1, which this host does not mount; v2 came with 22.05", hits
        )


def _only_v2(mounts: str) -> bool:
    return " /sys/fs/cgroup cgroup2 " in f" {mounts}"


def hierarchy(host: Host) -> Iterator[Told]:
    """v1 and v2 at once, and a unit that systemd has not given its tree."""
    mounts = host.text("proc_mounts.txt")
    runs_slurmd = host.has("systemctl_cat_slurmd.txt", "slurmd_-C.txt", "slurm.conf") or bool(host.hits)
    if runs_slurmd and " cgroup2 " in mounts and re.search(r" /sys/fs/cgroup/\S+ cgroup ", mounts):
        text = "the host boots with the hybrid cgroup hierarchy, where Slurm's v2 plugin has no controllers"
        yield Told("DR025", text, (), tuple(re.findall(r"^.* cgroup2? .*$", mounts, re.MULTILINE)[:2]))
    unit = host.text("systemctl_cat_slurmd.txt")
    shown = re.search(r"^Delegate=(\S+)", host.text("systemctl_show_slurmd.txt"), re.MULTILINE)
    hits = host.all("cgroup-delegation")
    off = shown is not None and shown[1] == "no"
    if off or (hits and unit and not unit_settings(unit).get("Delegate")):
        text = "slurmd's unit has no Delegate=yes: systemd takes the controllers away below it"
        yield Told("DR026", text, hits, ("Delegate=no",) if off else ())


def left_over(host: Host) -> Iterator[Told]:
    """Directories of jobs that are over."""
    found = dict.fromkeys(re.findall(r"/job_(\d{1,10})(?=[/\s])", host.text("find_cgroup.txt") + "\n"))
    hits = host.all("cgroup-full")
    if not found or not host.has("squeue.txt"):
        return
    alive = set(re.findall(r"\b\d+\b", host.text("squeue.txt")))
    dead = [number for number in found if number not in alive]
    if dead and (hits or len(dead) > 1):
        names = ", ".join(f"job_{number}" for number in dead[:8])
        more = f" and {len(dead) - 8} more" if len(dead) > 8 else ""
        yield Told("DR023", f"{names}{more} are cgroups of jobs that are over; they fill the tree", hits)


LOOKS = (plugin, hierarchy, left_over)
