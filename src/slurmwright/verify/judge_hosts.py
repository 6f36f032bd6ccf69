"""Turns what hosts say of themselves into points: munge, clocks, files, device nodes, units, the driver.

Hosts are held against the hardware, against what Slurm's documentation asks for, and against each other; the
credential that each had to take was made where verify ran.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from slurmwright.verify.expect import ExpectedNode
from slurmwright.verify.reached import Data
from slurmwright.verify.values import Point

MUNGE, CLOCK, FILES, DEVICES, EARLY = "munge", "clock", "config-same", "device-nodes", "device-nodes-at-boot"
DAEMONS, DELEGATION, CGROUP, DRIVER, MINORS = (
    "daemons",
    "unit-delegation",
    "cgroup-v2",
    "driver",
    "gpu-minors",
)
UNIT_MEMLOCK, LEFT = "unit-memlock", "nothing-left"
GOOD = {
    MUNGE: "a credential made where verify ran is taken",
    CLOCK: "the clock is less than 30 s from that of the host where verify ran",
    FILES: "slurm.conf, cgroup.conf and gres.conf are the same everywhere",
    DEVICES: "every GPU has its device file, open to everybody",
    EARLY: "the device files were there before slurmd started",
    DAEMONS: "munge and slurmd run and start at boot",
    DELEGATION: "systemd leaves slurmd its own part of the cgroup tree (Delegate=yes)",
    CGROUP: "cgroup v2 alone is mounted",
    DRIVER: "the driver is loaded and has all GPUs",
    MINORS: "device numbers belong to the GPUs that they are expected to belong to",
    UNIT_MEMLOCK: "slurmd's unit does not limit locked memory",
    LEFT: "no cgroup of a finished job is left",
}
#: Seconds. munged takes credentials that are up to 300 s old (munge(7)); Slurm's own times suffer before.
SKEW_S = 30
_NOT_SHOWN = "the host does not tell: {}"
_ENABLED = ("enabled", "enabled-runtime", "static", "indirect", "generated", "alias")
_TIME = re.compile(r"\((\d{9,11})\)")

Hosts = Mapping[str, Data]


def judge_hosts(
    shapes: Mapping[str, ExpectedNode], hosts: Hosts, ours: Data | None = None
) -> Iterator[Point]:
    """The points of all hosts that answered; `ours` is the document of the host where verify ran."""
    for host, data in hosts.items():
        shape = shapes.get(host)
        for check, faults in _OF_HOST.items():
            yield from _points(check, host, faults(data))
        if shape is not None and (shape.gpus or shape.spare):
            for check, judge in _OF_NODE.items():
                yield from _points(check, host, judge(shape, data))
    yield from _files(hosts, ours)


def _points(check: str, host: str, faults: Iterator[str]) -> Iterator[Point]:
    found = tuple(faults)
    for fault in found:
        text = fault.removeprefix("skip ")
        yield Point(check, host, skipped=text) if text != fault else Point(check, host, fault)
    if not found:
        yield Point(check, host)


def _munge(data: Data) -> Iterator[str]:
    answer = data.get("munge") or {}
    status = answer.get("STATUS", "")
    if not answer or not (status or answer.get("unmunge")):
        yield "skip " + _NOT_SHOWN.format("unmunge did not run")
    elif not status.startswith("Success"):
        yield f"munge here says '{status or answer.get('unmunge')}' to a credential from where verify ran"


def _clock(data: Data) -> Iterator[str]:
    answer = data.get("munge") or {}
    made, taken = (_TIME.search(answer.get(key, "")) for key in ("ENCODE_TIME", "DECODE_TIME"))
    skew = data.get("skew")
    if made and taken:
        # The credential is made at most a few seconds before it is taken, or it waits with its job.
        late = int(taken[1]) - int(made[1])
        skew = late if skew is None or abs(late) < abs(skew) else skew
    if skew is None:
        yield "skip " + _NOT_SHOWN.format("no time to compare")
    elif abs(skew) > SKEW_S:
        yield f"the clock is {abs(round(skew))} s {'ahead' if skew > 0 else 'behind'}"


def _daemons(data: Data) -> Iterator[str]:
    units = data.get("units") or {}
    if not units:
        yield "skip " + _NOT_SHOWN.format("no systemd")
    for unit in ("munge", "slurmd") if units else ():
        row = units.get(unit, {})
        state, boot = row.get("ActiveState", "not there"), row.get("UnitFileState", "")
        if state != "active":
            yield f"{unit} is {state}"
        elif boot not in _ENABLED:
            yield f"{unit} does not start at boot ({boot or 'unknown'})"


def _delegation(data: Data) -> Iterator[str]:
    row = (data.get("units") or {}).get("slurmd", {})
    if "Delegate" not in row:
        yield "skip " + _NOT_SHOWN.format("no unit slurmd")
    elif row["Delegate"] != "yes":
        yield f"slurmd's unit has Delegate={row['Delegate']}: systemd may undo what slurmd sets for its jobs"


def _unit_memlock(data: Data) -> Iterator[str]:
    limit = (data.get("units") or {}).get("slurmd", {}).get("LimitMEMLOCK")
    if limit is None:
        yield "skip " + _NOT_SHOWN.format("no unit slurmd")
    elif limit != "infinity":
        yield f"slurmd's unit has LimitMEMLOCK={limit}, which its jobs inherit"


def _cgroup(data: Data) -> Iterator[str]:
    mode = data.get("cgroup")
    if mode == "hybrid":
        yield "cgroup v1 and v2 are both mounted (hybrid), which Slurm does not support"
    elif mode == "none":
        yield "no cgroup hierarchy is mounted"


def _left(data: Data) -> Iterator[str]:
    own, ended = str(data.get("env", {}).get("SLURM_JOB_ID", "")), set(data.get("ended") or ())
    left = sorted(ended & set(data.get("jobs") or ()) - {own})
    if left:
        yield f"finished jobs still have cgroups: {', '.join(left)}"
    elif not data.get("jobs"):
        yield "skip " + _NOT_SHOWN.format("no cgroup of slurmstepd is in sight")


def _devices(shape: ExpectedNode, data: Data) -> Iterator[str]:
    seen = data.get("devices") or {}
    minors = sorted({gpu.minor for gpu in shape.gpus} | set(shape.spare))
    missing = [f"/dev/nvidia{minor}" for minor in minors if f"/dev/nvidia{minor}" not in seen]
    if missing:
        yield f"{', '.join(missing)} is not there"
    for path, row in sorted(seen.items()):
        if not str(row.get("mode", "")).endswith("rw-"):
            yield f"{path} has mode {row.get('mode')}: users cannot open it"


def _early(shape: ExpectedNode, data: Data) -> Iterator[str]:
    row = (data.get("units") or {}).get("slurmd", {})
    start = row.get("ExecMainStartTimestampMonotonic", "")
    if not start.isdigit() or start == "0":
        yield "skip " + _NOT_SHOWN.format("no start of slurmd")
        return
    began = int(start) / 1e6
    late = [p for p, seen in (data.get("devices") or {}).items() if float(seen.get("made", 0)) > began + 1]
    if late:
        yield f"{', '.join(sorted(late))} came after slurmd, which started {began:.0f} s after boot"


def _driver(shape: ExpectedNode, data: Data) -> Iterator[str]:
    gpus, wanted = data.get("gpus") or {}, len({gpu.minor for gpu in shape.gpus} | set(shape.spare))
    if not data.get("driver"):
        yield "the kernel driver of NVIDIA is not loaded"
    elif len(gpus) != wanted:
        yield f"the driver has {len(gpus)} GPUs, the node has {wanted}"


def _minors(shape: ExpectedNode, data: Data) -> Iterator[str]:
    """By the facts where they say which minor a GPU has; else in PCI order, as was assumed."""
    gpus = data.get("gpus") or {}
    seen = {bus: row.get("minor") for bus, row in sorted(gpus.items())}
    if not seen or None in seen.values():
        yield "skip " + _NOT_SHOWN.format("no device numbers of a driver")
        return
    order = list(seen.values())
    shown = ", ".join(f"{bus} is /dev/nvidia{minor}" for bus, minor in seen.items())
    numa = {row.get("minor"): row.get("numa") for row in gpus.values()}
    wrong = [
        gpu for gpu in shape.gpus if gpu.numa is not None and numa.get(gpu.minor) not in (None, -1, gpu.numa)
    ]
    if not shape.minors_known and order != sorted(order):
        yield f"device numbers are not in PCI order: {shown}"
    elif wrong:
        one = wrong[0]
        yield f"/dev/nvidia{one.minor} is on NUMA node {numa[one.minor]}, expected {one.numa}: {shown}"


_OF_HOST: Mapping[str, Callable[[Data], Iterator[str]]] = {
    MUNGE: _munge,
    CLOCK: _clock,
    DAEMONS: _daemons,
    DELEGATION: _delegation,
    UNIT_MEMLOCK: _unit_memlock,
    CGROUP: _cgroup,
    LEFT: _left,
}
_OF_NODE: Mapping[str, Callable[[ExpectedNode, Data], Iterator[str]]] = {
    DEVICES: _devices,
    EARLY: _early,
    DRIVER: _driver,
    MINORS: _minors,
}


def _files(hosts: Hosts, ours: Data | None) -> Iterator[Point]:
    """Each file against the one where verify ran, or where that has none against most hosts."""
    for host, fault in file_faults(hosts, ours).items():
        yield Point(FILES, host, fault)
    if not any((data.get("configuration") or {}) for data in hosts.values()):
        yield from (Point(FILES, host, skipped="no file of Slurm can be read there") for host in hosts)
        return
    bad = file_faults(hosts, ours)
    for host, data in hosts.items():
        if host not in bad:
            known = bool(_hash(data, "slurm.conf"))
            yield Point(FILES, host, skipped="" if known else "no slurm.conf can be read there")


def file_faults(hosts: Hosts, ours: Data | None) -> dict[str, str]:
    """Host → which of its files differ."""
    found: dict[str, list[str]] = {}
    for name in ("slurm.conf", "cgroup.conf", "gres.conf"):
        hashes = {host: _hash(data, name) for host, data in hosts.items() if _hash(data, "slurm.conf")}
        wanted = _hash(ours, name) if ours and _hash(ours, "slurm.conf") else _usual(list(hashes.values()))
        for host, one in hashes.items():
            if one != wanted:
                where = _row(hosts[host], name).get("path", name)
                found.setdefault(host, []).append(str(where) if one else f"{name} (not there)")
    return {host: f"{', '.join(names)} differs from the other hosts" for host, names in found.items()}


def _usual(hashes: Sequence[str]) -> str:
    return Counter(hashes).most_common(1)[0][0] if hashes else ""


def _hash(data: Data, name: str) -> str:
    return str(_row(data, name).get("sha256", ""))


def _row(data: Data, name: str) -> Data:
    row = (data.get("configuration") or {}).get(name)
    return row if isinstance(row, dict) else {}
