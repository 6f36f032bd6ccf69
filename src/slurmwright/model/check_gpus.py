"""Finds exceptions, MIG layouts, shards and core reservations that do not fit the type of their group.

A MIG profile is written as Type without the model's name: `1g.10gb` is part of every name that Slurm's
detection gives such an instance, `h100_1g.10gb` of none (gpu_nvml.c cuts the model's name at its first dash
and appends the profile: nvidia_h100_80gb_hbm3_1g.10gb).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from slurmwright.catalogue.node_types import NodeType, gpu_models
from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.hosts import expand, fold
from slurmwright.model.check_hosts import Groups
from slurmwright.model.cluster import NodeGroup
from slurmwright.model.faults import Faults
from slurmwright.model.plain_words import short
from slurmwright.model.yaml_source import Where

_PROFILE = re.compile(r"([1-7])g\.([1-9]\d{0,2})gb\Z", re.ASCII)
#: A GPU has seven compute slices (four on an A30).
_SLICES = 7


def check_gpus(faults: Faults, groups: Groups, types: Mapping[str, NodeType]) -> None:
    """What each group says about its GPUs and reserved cores, against its type."""
    for at, group in groups:
        where: Where = ("nodes", at)
        node_type = types.get(group.type)
        if node_type is None:
            continue
        count = node_type.gpu.count
        _check_exceptions(faults, (*where, "exceptions"), group, count)
        _check_mig(faults, (*where, "mig"), group, node_type)
        _check_sharing(faults, where, group, count)
        for key, wrong in _bad_reservations(group, node_type):
            faults.add((*where, "options", key), wrong)


def _check_exceptions(faults: Faults, where: Where, group: NodeGroup, count: int) -> None:
    members, seen = set(group.hosts), set[str]()
    for hosts, entry in group.exceptions.items():
        place = (*where, hosts)
        names = expand(hosts)
        strangers = [name for name in names if name not in members]
        if strangers:
            text = f"{fold(strangers)} is not in this group, which has {fold(group.hosts)}"
            faults.add(place, text, key=True)
        again = [name for name in names if name in seen]
        if again:
            faults.add(place, f"{fold(again)} already has an exception; say all of it in one", key=True)
        seen.update(names)
        if not entry.model_fields_set:
            faults.add(
                place, "says nothing; expected gpus_missing, gpus_withheld or real_memory_mb", key=True
            )
        taken: set[int] = set()
        for role in ("gpus_missing", "gpus_withheld"):
            for index in getattr(entry, role):
                if wrong := _bad_index(index, count, group.type) or _twice(index, taken):
                    faults.add((*place, role), wrong)
                taken.add(index)
        if entry.gpus_withheld and group.autodetect:
            text = (
                f"autodetect {group.autodetect} finds this GPU all the same, and Slurm may drop another one "
                "instead; take autodetect out, or give the host a group of its own without it"
            )
            faults.add((*place, "gpus_withheld"), text)
        if entry.gpus_missing and any(layout.caps for layout in group.mig):
            text = (
                "without this GPU the others get other device numbers, and so do their MIG instances; give "
                "the host a group of its own with the caps that it has now"
            )
            faults.add((*place, "gpus_missing"), text)


def _bad_index(index: int, count: int, type_name: str) -> str | None:
    if 0 <= index < count:
        return None
    has = f"the {count} GPUs of {type_name} are 0 to {count - 1}" if count else f"{type_name} has no GPUs"
    return f"GPU {index} does not exist: {has}"


def _twice(index: int, taken: set[int]) -> str | None:
    return f"GPU {index} stands twice; name each once" if index in taken else None


def _check_mig(faults: Faults, where: Where, group: NodeGroup, node_type: NodeType) -> None:
    taken: set[int] = set()
    caps: set[int] = set()
    for at, layout in enumerate(group.mig):
        place = (*where, at)
        for index in layout.gpus:
            wrong = _bad_index(index, node_type.gpu.count, group.type) or _twice(index, taken)
            if wrong:
                faults.add((*place, "gpus"), wrong)
            taken.add(index)
        bad = _bad_profiles(layout.profiles) or _hidden(group, node_type, layout.profiles)
        if bad:
            faults.add((*place, "profiles"), bad)
        if layout.caps and len(layout.gpus) > 1:
            faults.add((*place, "caps"), "caps belong to one GPU; write an entry of its own for each GPU")
        elif layout.caps and len(layout.caps) != len(layout.profiles):
            text = f"caps names {len(layout.caps)} instances but profiles {len(layout.profiles)}"
            faults.add((*place, "caps"), f"{text}; expected one pair for each, in the same order")
        for number in (number for pair in layout.caps for number in pair):
            if number in caps or not 1 <= number < 65536:
                why = "stands twice" if number in caps else "is no minor number"
                faults.add((*place, "caps"), f"{number} {why}; each instance has two numbers of its own")
            caps.add(number)
    if group.mig and group.autodetect == "nvidia":
        faults.add(where, "autodetect nvidia finds no MIG instances; take autodetect: nvml or give caps")
    if group.mig and group.autodetect == "nvml" and caps:
        faults.add(where, "autodetect nvml finds the instances' files itself; leave caps out")


def _bad_profiles(profiles: tuple[str, ...]) -> str | None:
    slices = 0
    for profile in profiles:
        match = _PROFILE.match(profile)
        if not match:
            return f"'{short(profile)}' is no MIG profile that can be written; expected for example 1g.10gb"
        slices += int(match[1])
    if slices > _SLICES:
        return f"the profiles take {slices} compute slices of one GPU; it has {_SLICES}"
    return None


def _hidden(group: NodeGroup, node_type: NodeType, profiles: tuple[str, ...]) -> str | None:
    """Slurm compares a detected name with the longest configured type first (gres_gpu.c)."""
    model = gpu_models().get(node_type.gpu.model or "")
    if group.autodetect != "nvml" or model is None:
        return None
    longer = [p for p in profiles if len(model.slurm_type) >= len(p)]
    if not longer or len({i for layout in group.mig for i in layout.gpus}) >= node_type.gpu.count:
        return None
    return (
        f"beside whole GPUs autodetect would take an instance {longer[0]} for a whole {model.slurm_type}; "
        "leave autodetect out and give caps, or divide all GPUs"
    )


def _check_sharing(faults: Faults, where: Where, group: NodeGroup, count: int) -> None:
    chosen = [key for key in ("shards_per_gpu", "mps_per_gpu") if getattr(group, key)]
    if len(chosen) > 1:
        faults.add((*where, chosen[1]), "a node takes shards or MPS, not both; keep one of them")
    for key in chosen[:1]:
        if not count:
            faults.add((*where, key), f"{group.type} has no GPUs to share; leave {key} out")
        elif group.mig:
            faults.add((*where, key), f"MIG instances are not shared further; leave {key} or mig out")


def _bad_reservations(group: NodeGroup, node_type: NodeType) -> Iterator[tuple[str, str]]:
    """Cores kept for the system or for GPU jobs, as far as the type's numbers tell."""
    given = {key.lower(): (key, value) for key, value in group.options.items()}
    cpu = node_type.cpu
    cores = cpu.sockets * cpu.cores_per_socket if cpu.sockets and cpu.cores_per_socket else None
    numbers = [given.get(name, ("", "0"))[1] for name in ("corespeccount", "restrictedcorespergpu")]
    if not all(re.match(r"\d{1,9}\Z", number, re.ASCII) for number in numbers):
        return  # check_settings.py has said so
    key, value = given.get("corespeccount", ("", "0"))
    if key and cores is not None and int(value) >= cores:
        yield key, f"{key} is {value} but {group.type} has {cores} cores; leave some to jobs"
    if key and "cpuspeclist" in given:
        yield key, f"Slurm drops {key} where CpuSpecList stands; keep one of them"
    key, value = given.get("cpuspeclist", ("", ""))
    if key:
        yield from ((key, wrong) for wrong in _bad_cpus(value, cores, cpu.threads_per_core))
    key, value = given.get("restrictedcorespergpu", ("", "0"))
    count = node_type.gpu.count
    if key and not count:
        yield key, f"{group.type} has no GPUs to keep cores for; leave {key} out"
    elif key and cores is not None and int(value) * count > cores:
        yield key, f"{key}={value} for {count} GPUs takes {int(value) * count} of {cores} cores"


def _bad_cpus(value: str, cores: int | None, threads: int | None) -> Iterator[str]:
    try:
        numbers = parse_cpus(value)
    except ValueError:
        yield f"'{short(value)}' is no list of CPU ids; expected for example 0-1"
        return
    if cores and threads and max(numbers, default=0) >= cores * threads:
        yield f"CPU {max(numbers)} does not exist: the node has CPUs 0 to {cores * threads - 1}"
    twice = [number for number, times in Counter(numbers).items() if times > 1]
    if twice:
        yield f"CPU {twice[0]} stands twice"
