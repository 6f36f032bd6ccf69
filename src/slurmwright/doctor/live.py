"""Living hosts to `Host`: one connection and one script for each, many at once; who cannot be asked is told.

A host's log is searched where it lies, so that what comes over the wire is small however large the log is.
"""

from __future__ import annotations

import io
import re
import statistics
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from importlib.resources import files

from slurmwright.catalogue.log_signs import log_signs
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand
from slurmwright.discover.collect import Collected, collect
from slurmwright.discover.evidence import discover_host
from slurmwright.discover.sections import script as discover_script
from slurmwright.discover.ssh import Reader
from slurmwright.doctor.host import Host
from slurmwright.doctor.reading import host_of, logs_of
from slurmwright.doctor.scan import Hit, printable, scan
from slurmwright.doctor.told import Told
from slurmwright.model.facts import HostFacts

_NAMES = {
    "slurmd-c": "slurmd_-C.txt",
    "slurmd-v": "slurmd_-V.txt",
    "nvidia-smi-l": "nvidia-smi_-L.txt",
    "lspci": "lspci.txt",
    "lscpu": "lscpu.txt",
    "lsmod": "lsmod.txt",
    "modinfo": "modinfo_nvidia.txt",
    "packages": "dpkg_-l.txt",
    "units": "systemctl.txt",
    "unit": "systemctl_cat_slurmd.txt",
    "limits": "systemctl_show_slurmd.txt",
    "mounts": "proc_mounts.txt",
    "hierarchy": "stat_cgroup.txt",
    "sysctl": "sysctl.txt",
    "slurm-conf": "slurm.conf",
    "gres-conf": "gres.conf",
    "cgroup-conf": "cgroup.conf",
    "plugstack": "plugstack.conf",
    "queue": "squeue.txt",
    "left": "find_cgroup.txt",
    "exporters": "exporter_flags.txt",
    "exporter-log": "journal_exporters.txt",
    "job": "scontrol_show_job.txt",
    "slurmd-log": "slurmd.log",
    "slurmctld-log": "slurmctld.log",
    "slurmdbd-log": "slurmdbd.log",
    "kernel": "dmesg.txt",
    "devices": "ls_dev_nvidia.txt",
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_NODE = re.compile(r"^NodeName=(\S+)", re.MULTILINE)
#: Clocks that differ by less do no harm, and a slow host answers late.
_SKEW_S, _LIFE_S = 60, 300
#: slurmctld asks its nodes every hundred seconds or so: a credential that is still refused is told anew.
_SOON = {"credential-expired": timedelta(minutes=15), "credential-invalid": timedelta(minutes=15)}
#: What slurmctld makes of a node whose messages nobody can read.
_FOLLOWS = ("not-responding",)


@dataclass(frozen=True)
class Seen:
    """All hosts that were asked, and the causes that only several of them together show."""

    hosts: tuple[Host, ...]
    more: tuple[tuple[str, Told], ...] = ()


@dataclass
class _Timed:
    """A reader that notes when each host had answered."""

    reader: Reader
    at: dict[str, float] = field(default_factory=dict)

    def read(self, host: str, script: str) -> str:
        text = self.reader.read(host, script)
        self.at[host] = time.time()
        return text

    def stop(self) -> None:
        self.reader.stop()


def script(job: str = "") -> str:
    """What runs on a host; `job` is the number of a job that a controller is asked about."""
    texts = [text for sign in log_signs() for text in sign.any if "daemon" in sign.sources]
    quoted = "\n".join(dict.fromkeys(texts)).replace("'", "'\\''")
    number = job if re.fullmatch(r"\d{1,10}(?:_\d{1,10})?", job) else ""
    body = (files("slurmwright.doctor") / "collect.sh").read_text()
    # What discover reads of devices is read in the same way here.
    shared = discover_script().partition("\nsection ")[0]
    return f"JOB='{number}'\nTEXTS='{quoted}'\n{shared}\n{body}"


def look(
    names: Sequence[str], reader: Reader, at_once: int, ended: Callable[[Collected], None], job: str = ""
) -> Seen:
    """Ask every host; none stops the others."""
    timed = _Timed(reader)
    done = collect(names, timed, at_once, ended, script(job))
    lost = [(one.host, _lost(one)) for one in done if one.error]
    read = {one.host: one.sections for one in done if not one.error}
    of_nodes = _nodes(read)
    hosts = tuple(_host(name, sections, of_nodes.pop(name, "")) for name, sections in read.items())
    clocks, keys, sums = _clocks(read, timed.at), _keys(read), _sums(read)
    # What hosts show together is so now; logs have it from before the push, and do not name the culprit.
    summed = {name for name, own in read.items() if own.get("sum")}
    everyone = not of_nodes and not lost and len(read) > 1
    keyed = everyone and all(own.get("munge-key", "").strip() for own in read.values())
    known = {
        *(["credential-expired"] if clocks or everyone else ()),
        *(["credential-invalid"] if keys or keyed else ()),
    }
    hosts = tuple(_without(host, known, summed if len(summed) > 1 else ()) for host in hosts)
    return Seen(_rest(hosts, of_nodes), (*lost, *clocks, *keys, *sums))


def _lost(one: Collected) -> Told:
    reason = printable(one.error)
    return Told("DR090", f"cannot be looked at: {reason}", nodes=(one.host,))


def _host(name: str, sections: Mapping[str, str], node: str) -> Host:
    texts = {_NAMES[key]: text for key, text in sections.items() if key in _NAMES}
    if node:
        texts["scontrol_show_node.txt"] = node
    hits = [
        hit
        for key, text in texts.items()
        if (kinds := logs_of(key))
        for hit in scan(io.BytesIO(text.encode(errors="replace")), key, kinds)
    ]
    plain = {key: text for key, text in texts.items() if not logs_of(key) or key == "systemctl.txt"}
    host = host_of(name, plain, _recent(hits, sections.get("now", "").strip()), ())
    return replace(host, whole=True, facts=_facts(name, sections))


def _facts(name: str, sections: Mapping[str, str]) -> HostFacts | None:
    try:
        return discover_host(name, sections).facts
    except InputError:
        return None


def _recent(hits: Iterable[Hit], now: str) -> tuple[Hit, ...]:
    """What a log tells of the last day, by the host's own clock; what it told before is over, or comes again.
    An Xid counts until the host boots."""
    try:
        until = datetime.fromisoformat(now)
    except ValueError:
        return tuple(hits)
    return tuple(
        hit
        for hit in hits
        if hit.sign == "xid"
        or not (found := _TIME.search(hit.text))
        or found[0] >= (until - _SOON.get(hit.sign, timedelta(days=1))).isoformat()
    )


def _without(host: Host, signs: Collection[str], summed: Collection[str]) -> Host:
    """Without lines of these kinds, and without those about the slurm.conf of hosts that showed theirs."""
    kept = (
        hit
        for hit in host.hits
        if hit.sign not in signs and not (hit.sign == "config-differs" and hit.part("node") in summed)
    )
    return replace(host, hits=tuple(kept))


def _nodes(read: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Node → its block of the first controller that answered for all."""
    text = next((own["nodes"] for own in read.values() if own.get("nodes")), "")
    blocks = re.split(r"(?m)^(?=NodeName=)", text)
    return {found[1]: block for block in blocks if (found := _NODE.match(block))}


def _rest(hosts: tuple[Host, ...], left: Mapping[str, str]) -> tuple[Host, ...]:
    """Nodes that nobody asked, as slurmctld sees them: only those that are out of service say something."""
    return hosts + tuple(
        host
        for name, block in left.items()
        if (host := host_of(name, {"scontrol_show_node.txt": block}, (), ())).reasons
    )


def _clocks(read: Mapping[str, Mapping[str, str]], at: Mapping[str, float]) -> list[tuple[str, Told]]:
    """Against most hosts, since the clock of this machine may itself be wrong."""
    off = {
        host: int(text) - at[host]
        for host, own in read.items()
        if re.fullmatch(r"\d{9,11}", text := own.get("clock", "").strip()) and host in at
    }
    usual = statistics.median(off.values()) if off else 0
    found = []
    for host, seconds in off.items():
        skew = round(seconds - usual)
        if abs(skew) >= _SKEW_S:
            where = "ahead of" if skew > 0 else "behind"
            text = f"the clock is {abs(skew)} s {where} those of most hosts"
            text += f"; munge takes credentials for {_LIFE_S} s"
            found.append((host, Told("DR040", text, also=_FOLLOWS)))
    return found


def _keys(read: Mapping[str, Mapping[str, str]]) -> list[tuple[str, Told]]:
    odd, _ = _odd(read, "munge-key")
    text = "munge has another key than on most hosts: the others cannot read its credentials"
    return [(host, Told("DR044", text, also=_FOLLOWS)) for host in odd]


def _sums(read: Mapping[str, Mapping[str, str]]) -> list[tuple[str, Told]]:
    odd, usual = _odd(read, "sum")
    text = "slurm.conf is another than on most hosts: this one missed the last push or reconfigure"
    return [
        (host, Told("DR030", text, seen=(f"{host} {value[:16]}, most {usual[:16]}",)))
        for host, value in odd.items()
    ]


def _odd(read: Mapping[str, Mapping[str, str]], section: str) -> tuple[dict[str, str], str]:
    """Hosts with another value than most, and the value of most; nothing where no value is that of most."""
    sums = {host: own[section].split()[0] for host, own in read.items() if own.get(section, "").strip()}
    values = list(sums.values())
    usual = max(values, key=values.count) if values else ""
    if values.count(usual) * 2 <= len(values):
        return {}, usual
    return {host: value for host, value in sums.items() if value != usual}, usual


def job_hosts(seen: Seen) -> list[str] | None:
    """The nodes of the job that a controller told of; None where it knows no such job."""
    text = next((text for host in seen.hosts if (text := host.text("scontrol_show_job.txt"))), "")
    if "JobId=" not in text:
        return None
    found = [
        name for nodes in re.findall(r"^\s*NodeList=(\S+)", text, re.MULTILINE) for name in _expanded(nodes)
    ]
    return list(dict.fromkeys(found))


def _expanded(nodes: str) -> list[str]:
    try:
        return [] if nodes in ("(null)", "None") else list(expand(nodes))
    except InputError:
        return []


def joined(controllers: Seen, nodes: Seen) -> Seen:
    """The job as the controllers see it and its nodes; what slurmctld says of other nodes is left out."""
    own = {host.name for host in nodes.hosts}
    asked = tuple(
        replace(host, reasons=tuple(one for one in host.reasons if one[0] in own))
        for host in controllers.hosts
    )
    kept = tuple(host for host in asked if host.texts.keys() != {"scontrol_show_node.txt"})
    return Seen((*kept, *nodes.hosts), (*controllers.more, *nodes.more))
