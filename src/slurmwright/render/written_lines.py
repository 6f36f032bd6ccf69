"""Refuses device lines that a person wrote where the facts of a host contradict them.

`as_written.gres_conf` is taken on trust as long as nobody has looked. Once facts are there, a device file
that the host does not have, or cores of another NUMA node than its GPU's, would bind jobs wrongly in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.errors import InputError, Problem
from slurmwright.core.hosts import fold
from slurmwright.model.cluster import Cluster, NodeGroup
from slurmwright.model.facts import HostFacts
from slurmwright.topology.cpus import CpuLayout

_FILE = re.compile(r"/dev/nvidia(?:(\d{1,3})|\[([\d,\-]+)\])(?![\w\-])", re.ASCII)
_COUNT = re.compile(r"gpu(?::[^:,()]+)?(?::(\d{1,4}))?(?=[,(]|\Z)", re.ASCII)


def refuse_contradicted(cluster: Cluster, facts: Mapping[str, HostFacts]) -> None:
    """Raises InputError, naming the word in cluster.yaml and the hosts, for what facts contradict."""
    problems = []
    for at, group in enumerate(cluster.nodes):
        if not (group.as_written.gres_conf or group.as_written.gres):
            continue
        said: dict[tuple[tuple[str | int, ...], str], list[str]] = {}
        for host in group.hosts:
            for where, text in _contradictions(group, facts.get(host)):
                said.setdefault((where, text), []).append(host)
        for (where, text), hosts in said.items():
            message = f"{text} (facts of {fold(hosts)}); correct the line, or take it out: facts give it"
            problems.append(Problem("", 0, 0, message, ("nodes", at, "as_written", *where)))
    if problems:
        raise InputError(problems)


def _contradictions(group: NodeGroup, facts: HostFacts | None) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if facts is None or facts.gpus is None:
        return
    minors = {gpu.minor: gpu.numa for gpu in facts.gpus}
    shown = ",".join(map(str, sorted(minors))) or "none"
    for at, line in enumerate(group.as_written.gres_conf):
        words = {key.lower(): value for key, value in line.items()}
        if words.get("name", "").lower() != "gpu":
            continue
        named = _minors(words.get("file", ""))
        gone = sorted(set(named) - minors.keys())
        if gone:
            text = f"gres_conf names /dev/nvidia{gone[0]}, but the host's device minors are {shown}"
            yield ("gres_conf", at, "File"), text
        for key in ("cores", "cpus"):
            for minor in named:
                if key in words and minor in minors and _far(facts, minors[minor], words[key]):
                    text = (
                        f"gres_conf gives /dev/nvidia{minor} the cores {words[key]}, none of which is on its "
                        f"NUMA node {minors[minor]}"
                    )
                    yield ("gres_conf", at), text
    count = _COUNT.search(group.as_written.gres or "")
    if count and int(count[1] or 1) > len(minors):
        text = f"gres says {count[0]}, but the host has {len(minors)} GPUs (minors {shown})"
        yield ("gres",), text


def _minors(files: str) -> tuple[int, ...]:
    """Those that the File= of a line names; nothing where it is no device of NVIDIA's or no range."""
    found: list[int] = []
    for one in _FILE.finditer(files):
        try:
            found += parse_cpus(one[1] or one[2])
        except ValueError:
            continue
    return tuple(found)


def _far(facts: HostFacts, numa: int | None, cores: str) -> bool:
    """Is no core of the list on the NUMA node? False where that cannot be said."""
    if facts.cpu is None or numa is None:
        return False
    try:
        rows = ((node.id, node.socket, parse_cpus(node.cpus)) for node in facts.cpu.numa)
        layout = CpuLayout.from_lists(rows, facts.cpu.threads_per_core)
        wanted = set(parse_cpus(cores))
    except ValueError:
        return False
    node = next((node for node in layout.nodes if node.id == numa), None)
    if node is None:
        return False
    first, last = node.core_range
    return bool(wanted) and wanted.isdisjoint(range(first, last + 1))
