"""What discovery read from one host, as frozen values; kept below `facts/` beside cluster.yaml.

A fact beats the catalogue. A fact that was not read is absent, never a default. A host that differs from its
type is never averaged away: `check_facts` names both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.errors import InputError, Problem, did_you_mean
from slurmwright.model.cluster import Cluster, Part
from slurmwright.model.facts_compare import differences
from slurmwright.model.facts_json import own_parts, read_json
from slurmwright.model.faults import Faults
from slurmwright.model.own_type_checks import PCI, normal_pci
from slurmwright.model.plain_words import kind, short
from slurmwright.model.shapes import tuples
from slurmwright.model.yaml_source import Where, parse_yaml, read_yaml, text_of

FORMAT = "slurmwright/facts/1"
FOLDER = "facts"

_NEXT = (
    "describe the host as it is, with a type of its own under node_types and a group of its own, "
    "or drain it until it is mended"
)
#: A suggestion costs a comparison with every host, and a few are enough.
_MAX_HINTS = 5


class NumaFact(Part):
    """One NUMA node with CPUs: its id, its package and its OS CPU ids as a list such as `0-55,112-167`."""

    id: int = Field(ge=0, description="the kernel's number of the NUMA node")
    socket: int = Field(ge=0, description="the package that it belongs to")
    cpus: str = Field(description='its OS CPU ids, for example "0-55,112-167"')


class CpuFact(Part):
    """The CPU layout that the host shows: threads per core and every NUMA node that has CPUs."""

    threads_per_core: int = Field(ge=1, le=8, description="hardware threads of one core")
    model: str | None = Field(None, description="the processor as lscpu names it")
    numa: tuple[NumaFact, ...] = Field(min_length=1, description="every NUMA node that has CPUs")


class MemoryFact(Part):
    """`real_memory_mb` is MemTotal in MiB, as `slurmd -C` prints it."""

    real_memory_mb: int = Field(ge=1, description="RealMemory as `slurmd -C` prints it, in MiB")


class MigFact(Part):
    """One MIG instance: its profile and the minors of its two capability files."""

    profile: str = Field(description="its profile, for example 1g.10gb")
    caps: tuple[int, int] = Field(
        description="minors of its GPU instance and compute instance in /proc/driver/nvidia-caps/mig-minors"
    )


class GpuFact(Part):
    """One GPU: PCI address, the N of its /dev/nvidiaN, and its NUMA node (None where the kernel says -1)."""

    pci: str = Field(description='its PCI address, for example "0000:1b:00.0"')
    minor: int = Field(ge=0, le=255, description="the N of its /dev/nvidiaN")
    numa: int | None = Field(None, ge=0, description="its NUMA node; left out where the kernel knows none")
    model: str | None = Field(None, description="its name as nvidia-smi prints it")
    memory_mb: int | None = Field(None, ge=1, description="its memory in MiB as nvidia-smi prints it")
    firmware: str | None = Field(None, description="its video BIOS")
    pcie_width: int | None = Field(None, ge=0, description="lanes of its PCIe link, as it runs now")
    pcie_width_max: int | None = Field(None, ge=0, description="lanes that its PCIe link could have")
    mig: tuple[MigFact, ...] | None = Field(
        None, description="its MIG instances; empty where MIG is off, left out where nobody looked"
    )


class NicFact(Part):
    """One RDMA device and where it sits."""

    name: str = Field(description="its name, for example mlx5_0")
    pci: str = Field(description="its PCI address")
    numa: int | None = Field(None, ge=0, description="its NUMA node")
    rate_gbps: int | None = Field(None, ge=0, description="the rate of its port in Gbit/s")
    link: str | None = Field(None, description="InfiniBand or Ethernet")
    state: str | None = Field(None, description="the state of its port, for example ACTIVE")
    interface: str | None = Field(None, description="its network interface")
    firmware: str | None = Field(None, description="its firmware")
    pcie_width: int | None = Field(None, ge=0, description="lanes of its PCIe link, as it runs now")
    pcie_width_max: int | None = Field(None, ge=0, description="lanes that its PCIe link could have")


class SystemFact(Part):
    """Versions of what runs on the host; nothing here is written into Slurm's files."""

    os: str | None = Field(None, description="the operating system")
    kernel: str | None = Field(None, description="the kernel's release")
    driver: str | None = Field(None, description="NVIDIA's driver")
    cuda: str | None = Field(None, description="the newest CUDA that the driver serves")
    cgroup: str | None = Field(None, description="v1 or v2")
    user_namespaces: bool | None = Field(None, description="may users make them, as enroot has to")
    slurm: str | None = Field(None, description="the version that slurmd says")
    munge: str | None = Field(None, description="the version that munge says")
    enroot: str | None = Field(None, description="the version that enroot says")
    pyxis: str | None = Field(None, description="where pyxis' plugin lies")
    pyxis_slurm: str | None = Field(None, description="the Slurm that pyxis' plugin was built for")


class HostFacts(Part):
    """Facts of one host; `gpus` is None when GPUs were not looked at, and empty when there are none."""

    format: Literal["slurmwright/facts/1"] = Field(description="the format of this file")
    host: str = Field(description="the host's name, which is also the name of the file")
    cpu: CpuFact | None = Field(None, description="the CPU layout")
    memory: MemoryFact | None = Field(None, description="the memory")
    gpus: tuple[GpuFact, ...] | None = Field(None, description="all GPUs")
    gpu_links: tuple[str, ...] | None = Field(
        None, description="the matrix of `nvidia-smi topo -m` between GPUs, a row for each in PCI order"
    )
    nics: tuple[NicFact, ...] | None = Field(None, description="all RDMA devices")
    system: SystemFact | None = Field(None, description="versions of what runs on it")


def load_facts(inventory: Path) -> dict[str, HostFacts]:
    """All facts beside a cluster.yaml, by host; raises InputError with the faults of every file.

    Every file is read each time. Hosts whose JSON differs in nothing but name and memory share the rest.
    """
    facts: dict[str, HostFacts] = {}
    problems: list[Problem] = []
    alike: dict[str, HostFacts] = {}
    for path in _files(inventory):
        try:
            facts[path.stem] = _load(path, alike)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return facts


def load_host_facts(path: Path) -> HostFacts:
    """One facts file."""
    return _load(path, {})


def _load(path: Path, alike: dict[str, HostFacts]) -> HostFacts:
    text = text_of(path)
    own = own_parts(text)
    if own is not None and own.host == path.stem and own.rest in alike:
        memory = MemoryFact(real_memory_mb=own.memory_mb) if own.memory_mb else None
        return alike[own.rest].model_copy(update={"host": own.host, "memory": memory})
    facts = _quick(text, path) or _with_places(text, path)
    if own is not None:
        alike[own.rest] = facts
    return facts


def _quick(text: str, path: Path) -> HostFacts | None:
    """Faultless facts in JSON."""
    data = read_json(text)
    if not isinstance(data, dict):
        return None
    try:
        facts = HostFacts.model_validate(data, strict=True)
    except ValidationError:
        return None
    return facts if next(_faults_of(facts, path), None) is None else None


def _with_places(text: str, path: Path) -> HostFacts:
    source = parse_yaml(text, str(path))
    faults = Faults(source)
    if not isinstance(source.data, dict):
        raise InputError.of(f"is {kind(source.data)}; expected format, host, cpu and gpus", str(path), 1)
    facts = faults.build(HostFacts, tuples(source.data), ())
    if facts is not None:
        for where, message in _faults_of(facts, path):
            faults.add(where, message)
    faults.stop()
    assert facts is not None  # noqa: S101 - a fault is noted wherever building fails
    return facts


def check_host(facts: HostFacts) -> None:
    """Raise InputError for facts that `load_facts` would refuse; for who is about to write them."""
    faults = [message for _, message in _faults_of(facts, Path(f"{facts.host}.yaml"))]
    if faults:
        raise InputError(Problem(facts.host, 0, 0, message) for message in faults)


def facts_file(inventory: Path, host: str) -> Path:
    """Where the facts of a host lie; `inventory` is the folder or its cluster.yaml."""
    folder = (inventory if inventory.is_dir() else inventory.parent) / FOLDER
    written = folder / f"{host}.json"
    return written if written.exists() else folder / f"{host}.yaml"


def _files(inventory: Path) -> Iterator[Path]:
    folder = facts_file(inventory, "x").parent
    if not folder.is_dir():
        return
    seen: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".yml":
            raise InputError.of(f"facts files are named HOST.yaml; rename it to {path.stem}.yaml", str(path))
        if path.suffix in (".yaml", ".json") and not path.name.startswith("."):
            first = seen.setdefault(path.stem, path)
            if first != path:
                raise InputError.of(f"{first.name} holds facts of the same host; keep one", str(path))
            yield path


def _faults_of(facts: HostFacts, path: Path) -> Iterator[tuple[Where, str]]:
    """(where, what) for what the fields alone do not tell."""
    if facts.host != path.stem:
        yield ("host",), f"host is '{short(facts.host)}' but the file is {path.name}; rename one"
    of_cpu = _cpu_faults(facts.cpu) if facts.cpu else ()
    yield from of_cpu
    known_numa = {node.id for node in facts.cpu.numa} if facts.cpu and not of_cpu else None
    minors: dict[int, int] = {}
    addresses: dict[str, int] = {}
    for at, gpu in enumerate(facts.gpus or ()):
        if minors.setdefault(gpu.minor, at) != at:
            yield ("gpus", at, "minor"), f"minor {gpu.minor} stands twice; two GPUs cannot be one device"
        if not PCI.match(gpu.pci):
            yield ("gpus", at, "pci"), f"'{short(gpu.pci)}' is no PCI address; expected \"0000:1b:00.0\""
        elif addresses.setdefault(normal_pci(gpu.pci), at) != at:
            yield ("gpus", at, "pci"), f"PCI address {gpu.pci} stands twice; expected one entry per GPU"
        if known_numa and gpu.numa is not None and gpu.numa not in known_numa:
            nodes = ", ".join(map(str, sorted(known_numa)))
            yield ("gpus", at, "numa"), f"numa is {gpu.numa} but the host's NUMA nodes are {nodes}"


@lru_cache(maxsize=256)
def _cpu_faults(cpu: CpuFact) -> tuple[tuple[Where, str], ...]:
    """Of one layout, which many hosts share."""
    return tuple(_each_cpu_fault(cpu))


def _each_cpu_fault(cpu: CpuFact) -> Iterator[tuple[Where, str]]:
    """Every CPU belongs to one node."""
    owner: dict[int, int] = {}
    known: set[int] = set()
    for at, node in enumerate(cpu.numa):
        if node.id in known:
            yield ("cpu", "numa", at, "id"), f"NUMA node {node.id} stands twice; keep one"
        known.add(node.id)
        try:
            cpus = parse_cpus(node.cpus)
        except ValueError:
            message = f"'{short(node.cpus)}' is no list of CPU ids; expected for example \"0-55,112-167\""
            yield ("cpu", "numa", at, "cpus"), message
            continue
        if len(cpus) % cpu.threads_per_core:
            message = f"{len(cpus)} CPUs do not divide into cores of {cpu.threads_per_core} threads"
            yield ("cpu", "numa", at, "cpus"), message
        for number in cpus:
            if owner.setdefault(number, at) != at:
                where = cpu.numa[owner[number]].id
                message = f"CPU {number} is already in NUMA node {where}; a CPU is in one node"
                yield ("cpu", "numa", at, "cpus"), message
                break


def check_facts(cluster: Cluster, facts: Mapping[str, HostFacts], inventory: Path = Path()) -> None:
    """Raise InputError for every host that differs from its type, and for facts of hosts unknown here."""
    group_of = {host: group for group in cluster.nodes for host in group.hosts}
    exceptions = {host: entry for group in cluster.nodes for host, entry in group.differing().items()}
    problems = list(_strangers(facts, group_of, inventory))
    for host in sorted(facts.keys() & group_of.keys()):
        group = group_of[host]
        node_type = cluster.node_types[group.type]
        for where, text, advice in differences(node_type, facts[host], group, exceptions.get(host)):
            file = facts_file(inventory, host)
            problems.append(Problem(str(file), *_place(file, where), f"{host} {text}; {advice or _NEXT}"))
    if problems:
        raise InputError(problems)


def _place(file: Path, where: Where) -> tuple[int, int]:
    """Line and column, read again only where there is something to say; 0 for facts that lie in no file."""
    return read_yaml(file).place(where, key=len(where) == 1) if file.exists() else (0, 0)


def _strangers(
    facts: Mapping[str, HostFacts], known: Mapping[str, object], inventory: Path
) -> Iterator[Problem]:
    """Left-over facts are refused: after a host was renamed they would be dropped in silence, and the new
    name would be written with assumed device minors."""
    for number, host in enumerate(sorted(facts.keys() - known.keys())):
        hint = f"; {did_you_mean(host, known)}" if number < _MAX_HINTS else ""
        message = f"'{host}' is no node of this cluster; rename or remove the file{hint}"
        yield Problem(str(facts_file(inventory, host)), 0, 0, message)
