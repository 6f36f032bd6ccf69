"""GPUs that are lost, late or not given to jobs: driver, device files, fabric manager, Xid, gres.conf."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.core.finding import Severity
from slurmwright.doctor.host import Host
from slurmwright.doctor.scan import Hit, printable
from slurmwright.doctor.told import Told, each
from slurmwright.rules.units_seen import unit_settings

_LOST = "79"
#: What NVIDIA's table of Xid errors says of those that take a GPU out of use.
XIDS = {
    "31": "a program touched memory that is not its own; look at the job first",
    "43": "a program was stopped after its own error; look at the job first",
    "45": "a program was ended while it used the GPU; look at the job first",
    "48": "an ECC error of two bits: reset the GPU, and replace it when it comes again",
    "63": "rows of its memory were remapped: reset the GPU when no job runs",
    "64": "rows of its memory could not be remapped: replace the GPU",
    "74": "an NVLink error: look at `nvidia-smi nvlink -e`, reseat or replace",
    "79": "the GPU fell off the bus: reseat or replace it",
    "92": "many corrected ECC errors: watch it",
    "94": "an ECC error was contained: the job is lost, reset the GPU when no job runs",
    "95": "an ECC error was not contained: reset the GPU now",
    "119": "the GPU's own processor does not answer: reset it, else power the node off and on",
    "120": "the GPU's own processor failed: reset it, else power the node off and on",
}
_OF_THE_JOB = ("31", "43", "45")


def missing(host: Host) -> Iterator[Told]:
    """Fewer GPUs than configured: gone from the bus, not there yet, or never written down."""
    files, counts = host.all("gpu-file-missing"), host.all("gpu-count-low")
    if not files and not counts:
        return
    xids = tuple(hit for hit in host.all("xid") if hit.part("xid") == _LOST)
    there, how = _there(host)
    wanted = _wanted(host)
    if counts and wanted is None:
        wanted = int(counts[0].part("wanted"))
    awaited = host.all("gpu-file-awaited")
    if there is not None and wanted is not None and there < wanted:
        yield _lost(there, wanted, how, host, (*files, *counts, *xids))
    elif counts and not files and _unwritten(host):
        text = (
            f"slurm.conf promises {counts[0].part('wanted')} GPUs and the node finds "
            f"{counts[0].part('seen')}: "
            "gres.conf has no AutoDetect and no line with File= for it"
        )
        yield Told("DR002", text, (*counts, *awaited), place=host.config.place("Name", "gres.conf"))
    elif xids:
        seen = counts[0].part("seen") if counts else "fewer"
        bus = ", ".join(each(xids, "pci"))
        text = f"GPU {bus} fell off the bus (Xid 79), so the node has {seen} of {wanted or 'its'} GPUs"
        yield Told("DR001", text, (*xids, *files, *counts))
    elif (late := _late(host)) is not None and files:
        yield Told("DR003", late, (*awaited, *files, *counts))
    elif files:
        names = ", ".join(each(files, "file"))
        text = f"{names} of gres.conf is not there, and slurmd does not start without it"
        yield Told("DR004", text, (*awaited, *files, *counts))
    else:
        text = (
            f"slurmd found {counts[0].part('seen')} GPUs where slurm.conf says "
            f"{counts[0].part('wanted')}: the "
            "driver does not have the others, or gres.conf leaves them out"
        )
        yield Told("DR001", text, counts)


def _lost(there: int, wanted: int, how: str, host: Host, hits: tuple[Hit, ...]) -> Told:
    name = _name(host) or "HOST"
    text = (
        f"the hardware shows {there} GPUs ({how}) and the configuration has {wanted}: "
        f"{wanted - there} lost on the "
        "PCI bus; look for Xid 79 in the kernel's log"
    )
    fix = (
        "reseat or replace it; to keep the node serving: in cluster.yaml exceptions: "
        f"{{{name}: {{gpus_missing: [INDEX]}}}}, which renders Gres=gpu:{there} and the minors that are left"
    )
    return Told("DR001", text, hits, fix=fix)


def _there(host: Host) -> tuple[int | None, str]:
    text = host.text("nvidia-smi_-L.txt")
    if "GPU " in text:
        return len(re.findall(r"^GPU \d+:", text, re.MULTILINE)), "nvidia-smi -L"
    text = host.text("lspci.txt")
    if text:
        pattern = r"^\S+ (?:VGA compatible|3D) controller.*NVIDIA"
        return len(re.findall(pattern, text, re.MULTILINE)), "lspci"
    return None, ""


def _wanted(host: Host) -> int | None:
    line = host.node()
    return line.count("gpu") or None if line else None


def _name(host: Host) -> str:
    """As slurm.conf calls it; a folder without a name is the only node that its slurm.conf has."""
    line = host.node()
    if line is None or not line.names or host.name in line.names:
        return host.name
    return line.names[0]


def _unwritten(host: Host) -> bool:
    """Is gres.conf there, and silent about this node?"""
    if not host.has("gres.conf", "etc/slurm/gres.conf"):
        return False
    name = _name(host)
    return not host.config.detects(name) and not any(one.name == "gpu" for one in host.config.gres_of(name))


def _late(host: Host) -> str | None:
    """slurmd's unit, where it waits for nobody who makes the device files."""
    unit = host.text("systemctl_cat_slurmd.txt")
    if not unit:
        return None
    after = " ".join(value for value, _ in unit_settings(unit).get("After", ()))
    if "nvidia" in after or "wait_for_gpus" in unit or "nvidia-modprobe" in unit:
        return None
    return (
        "slurmd started before the driver had made its device files, and gave up: "
        "slurmd.service is not ordered "
        "After=nvidia-persistenced.service or another unit that makes them"
    )


def xid(host: Host) -> Iterator[Told]:
    """What the driver wrote into the kernel's log; a GPU off the bus is told with the count."""
    counted = bool(host.first("gpu-file-missing", "gpu-count-low"))
    groups: dict[str, list[str]] = {}
    for hit in host.all("xid"):
        groups.setdefault(hit.part("xid"), []).append(hit.part("pci"))
    for number, buses in groups.items():
        if number == _LOST and counted:
            continue
        hits = tuple(hit for hit in host.all("xid") if hit.part("xid") == number)
        what = XIDS.get(number, "see NVIDIA's table of Xid errors")
        mild = Severity.INFO if number in _OF_THE_JOB else None
        text = f"Xid {number} of GPU {', '.join(dict.fromkeys(buses))}: {what}"
        yield Told("DR005", text, hits, severity=mild, fix=what)


def fabric_manager(host: Host) -> Iterator[Told]:
    """NVSwitch machines: the fabric manager is of another version than the driver, or does not run."""
    driver = re.search(r"^version:\s+([\d.]+)", host.text("modinfo_nvidia.txt"), re.MULTILINE)
    package = re.search(
        r"\bnvidia-fabric-?manager(?:-\d+)?\s+(\d+(?:\.\d+)+)", host.text("dpkg_-l.txt", "rpm_-qa.txt")
    )
    failed = re.search(
        r"^.{0,4}nvidia-fabricmanager\.service.*\bfailed\b", host.text("systemctl.txt"), re.MULTILINE
    )
    waits = re.search(r"Fabric\s+State\s*:\s*(In Progress|Not Started)", host.text("nvidia-smi_-q.txt"))
    hits = host.all("cuda-not-ready")
    if not (failed or hits or waits):
        return
    seen = tuple(found[0].strip() for found in (driver, package, failed) if found)
    if driver and package and driver[1] != package[1]:
        text = (
            f"nvidia-fabricmanager is {package[1]} and the driver {driver[1]}: it must be of "
            "exactly that version"
        )
        fix = f"install nvidia-fabricmanager {driver[1]}, enable it, and order slurmd.service After= it"
        yield Told("DR006", text, hits, seen, fix)
    elif failed or (waits and package):
        text = "nvidia-fabricmanager does not run, so no CUDA program starts on this NVSwitch machine"
        yield Told("DR006", text, hits, seen)
    elif hits:
        text = "CUDA is not ready (error 802): on an NVSwitch machine nvidia-fabricmanager must run first"
        yield Told("DR006", text, hits, seen)


def device_links(host: Host) -> Iterator[Told]:
    """A container loses its GPUs at a daemon-reload where /dev/char has no links to them."""
    hits, links = host.all("nvml-lost"), host.text("ls_dev_char.txt")
    if hits and links and not re.search(r"\b195:\d+ ->", links):
        reload = re.search(r"Reloading requested", host.text("journal.txt"))
        text = (
            "running containers lose their GPUs when systemd reloads: there is no link "
            "/dev/char/195:N, so its own "
            "device rules leave the GPUs out"
        )
        yield Told("DR007", text, hits, (reload[0],) if reload else ())


def socket_boundary(host: Host) -> Iterator[Told]:
    """GPUs whose NUMA node is smaller than a socket of slurm.conf."""
    hits = host.all("socket-split")
    if not hits:
        return
    text = host.text("lscpu.txt")
    sockets, nodes = _number(r"Socket\(s\):\s+(\d+)", text), _number(r"NUMA node\(s\):\s+(\d+)", text)
    cores = _number(r"Core\(s\) per socket:\s+(\d+)", text)
    layout = ""
    if sockets and nodes and cores and nodes > sockets:
        layout = f" and Sockets={nodes} CoresPerSocket={cores * sockets // nodes}"
    message = (
        f"cores {', '.join(each(hits, 'cores'))} of a GPU are a part of a socket: its "
        "NUMA node is smaller than "
        "Slurm's socket, and since 24.05.5 such a node is refused; "
        "SlurmdParameters=numa_node_as_socket is missing"
    )
    fix = (
        f"SlurmdParameters=numa_node_as_socket{layout} (as slurmd -C prints it then); or "
        "Cores= of whole sockets"
    )
    yield Told("DR009", message, hits, fix=fix)


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1][:6]) if found else 0


def not_given(host: Host) -> Iterator[Told]:
    """IMEX: nodes of one NVLink domain that do not know each other."""
    name = next((name for name in host.texts if name.endswith("nvidia-imex/nodes_config.cfg")), "")
    clique = re.search(r"CliqueId\s*:\s*\d+", host.text("nvidia-smi_-q.txt"))
    channels = host.text("ls_dev.txt")
    if (
        not name
        or not clique
        or "nvidia-caps-imex-channels" not in channels
        or "No such file" not in channels
    ):
        return
    listed = {line.strip() for line in host.texts[name].split("\n") if line.strip() and line[0] != "#"}
    domain = re.findall(r"\b\d+\.\d+\.\d+\.\d+\b", host.text("inventory.yaml"))
    left = [address for address in dict.fromkeys(domain) if address not in listed]
    text = (
        f"no IMEX channel exists, and {name.rpartition('/')[2]} names {', '.join(sorted(listed)) or 'nobody'}"
    )
    text += f" but not {', '.join(left)} of the same NVLink domain" if left else ""
    yield Told("DR073", printable(text), (), (channels.split("\n")[0],))


LOOKS = (missing, xid, fabric_manager, device_links, socket_boundary, not_given)
