"""Turns the hwloc exports beside an inventory, `facts/HOST.hwloc.xml`, into the maps of these hosts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from slurmwright.core.cpu_list import fold_cpus
from slurmwright.core.errors import InputError, Problem, did_you_mean
from slurmwright.model.facts import FORMAT, CpuFact, GpuFact, HostFacts, NumaFact, facts_file
from slurmwright.model.own_type_checks import PCI, normal_pci
from slurmwright.topology.hwloc_map import HostMap, read_map

SUFFIX = ".hwloc.xml"
MAX_BYTES = 5_000_000


def load_maps(inventory: Path, hosts: Collection[str], facts: Mapping[str, HostFacts]) -> dict[str, HostMap]:
    """All maps by host; raises InputError with the faults of every file, and for files of other hosts."""
    folder = facts_file(inventory, "x").parent
    maps: dict[str, HostMap] = {}
    problems: list[Problem] = []
    for path in sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else ():
        host = path.name.removesuffix(SUFFIX)
        if host not in hosts:
            message = f"'{host}' is no node of this cluster; rename or remove the file"
            problems.append(Problem(str(path), 0, 0, f"{message}; {did_you_mean(host, hosts)}"))
            continue
        try:
            maps[host] = _load(path, facts.get(host))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return maps


def facts_of(host: str, own: HostFacts | None, found: HostMap) -> HostFacts:
    """The facts of a host as its map has them: CPUs, and GPUs with their NUMA nodes.

    No map tells device numbers and MIG instances: they stay those of `own` facts, and without them the GPUs
    are counted in the order of their PCI addresses.
    """
    known = {normal_pci(gpu.pci): gpu for gpu in (own and own.gpus) or ()}
    sure = all(normal_pci(gpu.pci) in known for gpu in found.gpus)
    gpus = tuple(
        GpuFact(
            pci=gpu.pci,
            minor=known[normal_pci(gpu.pci)].minor if sure else at,
            numa=gpu.numa,
            mig=known[normal_pci(gpu.pci)].mig if sure else None,
        )
        for at, gpu in enumerate(found.gpus)
    )
    numa = tuple(NumaFact(id=n.id, socket=n.package, cpus=fold_cpus(n.cpus)) for n in found.numa)
    return HostFacts(
        format=FORMAT,
        host=host,
        cpu=CpuFact(threads_per_core=found.threads, numa=numa),
        gpus=gpus,
    )


def _load(path: Path, own: HostFacts | None) -> HostMap:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError.of(f"is longer than {MAX_BYTES} bytes, which no export of hwloc is", str(path))
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError.of(f"cannot be read: {error.strerror or error}", str(path)) from None
    except UnicodeDecodeError:
        raise InputError.of("is not UTF-8; expected what `lstopo --of xml` writes", str(path)) from None
    found = read_map(text, str(path), own.cpu.threads_per_core if own and own.cpu else None)
    for gpu in found.gpus:
        if not PCI.match(gpu.pci):
            raise InputError.of(f"'{gpu.pci[:20]}' of a GPU is no PCI address", str(path))
    return found
