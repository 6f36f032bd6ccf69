"""Turns the sections that one host printed into its facts, with a note for whatever they leave in doubt.

What sysfs and the driver's own files say is believed before what a program says: inside a job nvidia-smi and
lscpu see only the job's devices and CPUs.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from slurmwright.core.cpu_list import fold_cpus, parse_cpus
from slurmwright.core.errors import InputError
from slurmwright.core.spank_plugin import release_text
from slurmwright.discover import devices
from slurmwright.discover.parse import lscpu, slurmd_c
from slurmwright.discover.parse.lines import shown
from slurmwright.discover.parse.rows import rows_of
from slurmwright.model.facts import FORMAT, CpuFact, HostFacts, MemoryFact, NumaFact, SystemFact, check_host
from slurmwright.topology.hwloc_map import read_map

Parsed = TypeVar("Parsed")

_IN_JOB = re.compile(r"/slurm[^\n]*/(?:uid_\d+/)?job_(\d+)|/job_(\d+)/step_")


@dataclass
class Evidence:
    """The sections of a host. `read` parses one and turns a refusal into a note."""

    host: str
    sections: Mapping[str, str]
    notes: list[str] = field(default_factory=list)

    def read(self, section: str, parse: Callable[[str, str], Parsed]) -> Parsed | None:
        """What a section says; None where it is not there or refused."""
        text = self.sections.get(section, "")
        if not text.strip():
            return None
        try:
            return parse(text, section)
        except InputError as error:
            self.notes.append(f"not believed: {error.problems[0]}")
            return None

    def rows(self, section: str) -> tuple[dict[str, str], ...]:
        """The KEY=VALUE lines of a section of our own script."""
        return rows_of(self.sections.get(section, ""))


@dataclass(frozen=True)
class Discovered:
    """Facts of a host, and what a person should know of how they came about."""

    facts: HostFacts
    notes: tuple[str, ...]


def discover_host(host: str, sections: Mapping[str, str]) -> Discovered:
    """Raises InputError where nothing at all can be said about the host."""
    evidence = Evidence(host, sections)
    _note_job(evidence)
    try:
        facts = _facts(evidence)
    except ValueError as error:
        raise InputError.of(f"shows a number that cannot be: {shown(str(error))}", host) from None
    check_host(facts)
    if facts.cpu is None and facts.memory is None and facts.gpus is None:
        raise InputError.of("; ".join(["nothing of its hardware could be read", *evidence.notes]), host)
    return Discovered(facts, tuple(evidence.notes))


def _facts(evidence: Evidence) -> HostFacts:
    cpu = _cpu(evidence)
    gpus = devices.gpus(evidence, {node.id for node in cpu.numa} if cpu else None)
    return HostFacts(
        format=FORMAT,
        host=evidence.host,
        cpu=cpu,
        memory=_memory(evidence),
        gpus=gpus,
        gpu_links=devices.gpu_links(evidence, gpus or ()),
        nics=devices.nics(evidence),
        system=_system(evidence),
    )


def _note_job(evidence: Evidence) -> None:
    job = _IN_JOB.search(evidence.sections.get("cgroup", ""))
    if job:
        evidence.notes.append(
            f"ran inside the cgroup of job {job[1] or job[2]}: programs see only what the job may use; "
            "discover over SSH without a job"
        )
        return
    allowed = re.search(
        r"^Cpus_allowed_list:\s*([\d,\-]+)$", evidence.sections.get("status", ""), re.MULTILINE
    )
    every = [cpus for row in evidence.rows("numa") if (cpus := row.get("cpus"))]
    if allowed and every and not set(_cpus(",".join(every))) <= set(_cpus(allowed[1])):
        evidence.notes.append(f"ran bound to CPUs {allowed[1]}: programs may see only a part of the host")


def _cpus(text: str) -> tuple[int, ...]:
    try:
        return parse_cpus(text)
    except ValueError:
        return ()


def _cpu(evidence: Evidence) -> CpuFact | None:
    seen = evidence.read("lscpu", lscpu.parse)
    model = seen.model if seen else None
    rows = evidence.rows("numa")
    nodes = tuple(
        NumaFact(id=int(row["node"]), socket=int(row["package"]), cpus=fold_cpus(_cpus(row["cpus"])))
        for row in rows
        if row.get("node", "").isdecimal()
        and row.get("package", "").isdecimal()
        and _cpus(row.get("cpus", ""))
    )
    threads = next((len(_cpus(row["siblings"])) for row in rows if row.get("siblings")), 0)
    if nodes and threads:
        nodes = tuple(sorted(nodes, key=lambda node: node.id))
        return CpuFact(threads_per_core=threads, model=model, numa=nodes)
    return _cpu_of_lstopo(evidence, model) or _cpu_of_lscpu(evidence, seen)


def _cpu_of_lstopo(evidence: Evidence, model: str | None) -> CpuFact | None:
    """An export has it all, where sysfs was not captured."""
    seen = evidence.read("lstopo-xml", read_map)
    if seen is None:
        return None
    nodes = tuple(NumaFact(id=n.id, socket=n.package, cpus=fold_cpus(n.cpus)) for n in seen.numa)
    return CpuFact(threads_per_core=seen.threads, model=model, numa=nodes)


def _cpu_of_lscpu(evidence: Evidence, seen: lscpu.Lscpu | None) -> CpuFact | None:
    """lscpu does not say which socket a NUMA node is in; that is only sure where they are as many."""
    if seen is None or not seen.threads_per_core or not seen.sockets:
        return None
    nodes = [(node.id, node.cpus) for node in seen.numa if node.cpus]
    if not nodes or len(nodes) % seen.sockets:
        return None
    each = len(nodes) // seen.sockets
    if each > 1 and seen.sockets > 1:
        evidence.notes.append("lscpu alone: NUMA nodes were taken to lie in the sockets in rising order")
    numa = tuple(
        NumaFact(id=number, socket=at // each, cpus=fold_cpus(_cpus(cpus)))
        for at, (number, cpus) in enumerate(nodes)
    )
    return CpuFact(threads_per_core=seen.threads_per_core, model=seen.model, numa=numa)


def _memory(evidence: Evidence) -> MemoryFact | None:
    said = evidence.read("slurmd-c", slurmd_c.parse)
    total = re.search(
        r"^MemTotal:\s+(\d{1,15}) kB$", evidence.sections.get("meminfo", ""), re.MULTILINE | re.ASCII
    )
    kernel = int(total[1]) // 1024 if total else None
    if said and kernel and abs(said.real_memory_mb - kernel) > 1:
        evidence.notes.append(f"slurmd -C says {said.real_memory_mb} MiB of memory, /proc/meminfo {kernel}")
    found = said.real_memory_mb if said else kernel
    return MemoryFact(real_memory_mb=found) if found else None


_MOST_OF_PLUGIN = 1_000_000


def _system(evidence: Evidence) -> SystemFact | None:
    text = evidence.sections.get("system", "")
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    if not values:
        return None
    driver = re.search(
        r"^NVRM version:.*?\s(\d+\.\d+(?:\.\d+)?)\s", evidence.sections.get("nvidia-version", "")
    )
    hindrances = (
        values.get("max_user_namespaces") == "0",
        values.get("unprivileged_userns_clone") == "0",
        values.get("apparmor_restrict_unprivileged_userns") == "1",
    )
    return SystemFact(
        os=values.get("os") or None,
        kernel=values.get("kernel") or None,
        driver=driver[1] if driver else None,
        cuda=_version(values.get("cuda", "")),
        cgroup={"cgroup2fs": "v2", "tmpfs": "v1"}.get(values.get("cgroup", "")),
        user_namespaces=not any(hindrances) if "max_user_namespaces" in values else None,
        slurm=_version(values.get("slurm", "")),
        munge=_version(values.get("munge", "")),
        enroot=_version(values.get("enroot", "")),
        pyxis=values.get("pyxis") or None,
        pyxis_slurm=_built_for(values.get("pyxis_file", "")),
    )


def _built_for(text: str) -> str | None:
    """The Slurm of a plugin whose bytes came as gzip and base64; hosts may send anything."""
    try:
        reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
        return release_text(reader.decompress(base64.b64decode(text, validate=True), _MOST_OF_PLUGIN))
    except (ValueError, zlib.error):
        return None


def _version(text: str) -> str | None:
    found = re.search(r"\d+\.\d+(?:[.\-]\w+)*", text)
    return found[0] if found else None
