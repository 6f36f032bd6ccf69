"""Turns facts into findings: every host against most of its siblings, and what most have against the type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.hosts import fold
from slurmwright.discover.judge_devices import gpu_counts, links, memory, nic_rates, nics, widths
from slurmwright.discover.majority import majority
from slurmwright.discover.traits import TRAITS, Trait
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts, facts_file

_SLOW_GBPS = 100
_SHOWN = 160
_OF_ALL_GPUS = ("FA010", "FA011")


def judge(cluster: Cluster, facts: Mapping[str, HostFacts], inventory: Path) -> tuple[Finding, ...]:
    """All findings, worst first, then by host. Hosts without facts are named: not looked at is not sound."""
    found = list(_of_types(cluster, facts, inventory))
    found += _mixed(cluster, facts)
    found += _slow(cluster, facts)
    found += _without(cluster, facts)
    order = list(Severity)
    return tuple(sorted(found, key=lambda one: (order.index(one.severity), one.rule, one.host, one.message)))


def _of_types(cluster: Cluster, facts: Mapping[str, HostFacts], inventory: Path) -> Iterator[Finding]:
    exceptions = {host: entry for group in cluster.nodes for host, entry in group.differing().items()}
    for name in sorted({group.type for group in cluster.nodes}):
        hosts = [
            host for group in cluster.nodes if group.type == name for host in group.hosts if host in facts
        ]
        own = {host: facts[host] for host in hosts}
        kind = cluster.node_types[name]
        missing = {host: len(entry.gpus_missing) for host, entry in exceptions.items() if host in own}
        found = [finding for trait in TRAITS for finding in _compared(trait, own, kind)]
        for look in (links, widths, memory, nics, nic_rates):
            found += look(own, kind)
        counted = list(gpu_counts(own, kind, missing))
        other = {one.host for one in counted if one.host}
        # Where a GPU is gone every list of all GPUs differs; that is said once.
        found = [one for one in found if one.host not in other or one.rule not in _OF_ALL_GPUS] + counted
        for finding in found:
            yield _placed(finding, inventory)


def _placed(finding: Finding, inventory: Path) -> Finding:
    if not finding.host:
        return finding
    return replace(finding, file=str(facts_file(inventory, finding.host)))


def _compared(trait: Trait, facts: Mapping[str, HostFacts], kind: NodeType) -> Iterator[Finding]:
    values = {host: value for host, own in facts.items() if (value := trait.of(own)) is not None}
    most = majority(values)
    if most.value is None and most.sides:
        sides = "; ".join(f"{fold(hosts)}: {_short(value)}" for value, hosts in most.sides)
        text = f"hosts of type {kind.name} do not agree about {trait.noun}, and no value is that of most"
        yield Finding(trait.rule, trait.name, Severity.WARNING, text, evidence=(sides,), fix=trait.fix)
        return
    for host in most.outliers:
        text = (
            f"{trait.noun}: {_short(values[host])}, but {most.count} of {len(values)} hosts of type "
            f"{kind.name} have {_short(most.value)}"
        )
        yield Finding(trait.rule, trait.name, trait.severity, text, host=host, fix=trait.fix)
    said = trait.said(kind)
    if said is not None and most.value is not None and said != most.value:
        yield other_type(trait.noun, said, most.value, most.count, kind)


def other_type(noun: str, said: object, seen: object, count: int, kind: NodeType) -> Finding:
    """One finding for the type, not one for each host: most of its hosts agree with each other."""
    text = (
        f"type {kind.name} says {noun} {_short(said)}, but {count} of its hosts, which is most, have "
        f"{_short(seen)}; the type is wrong for them rather than they are"
    )
    fix = f"describe them: node_types: {{my-type: {{extends: {kind.name}, …}}}}"
    return Finding("FA001", "type-differs-from-its-hosts", Severity.WARNING, text, fix=fix)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _mixed(cluster: Cluster, facts: Mapping[str, HostFacts]) -> Iterator[Finding]:
    for partition in cluster.partitions:
        hosts = partition.nodes.select(cluster.nodes)
        models: dict[str, list[str]] = {}
        for host, model in _models(cluster, facts, hosts):
            models.setdefault(model, []).append(host)
        if len(models) > 1:
            yield Finding(
                "FA017",
                "mixed-gpu-models",
                Severity.WARNING,
                f"partition {partition.name} has {len(models)} GPU models: a job across them runs as slowly "
                "as its slowest GPU, and NCCL may refuse what one of them cannot do",
                evidence=tuple(f"{fold(hosts)}: {model}" for model, hosts in sorted(models.items())),
                fix="give each model a partition, or have jobs ask for --gres=gpu:TYPE or a feature",
            )


def _models(
    cluster: Cluster, facts: Mapping[str, HostFacts], hosts: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Host and model: as facts name it where all hosts have facts, else as the catalogue names it."""
    type_of = {host: group.type for group in cluster.nodes for host in group.hosts}
    whole = all(host in facts and facts[host].gpus is not None for host in hosts)
    for host in hosts:
        if whole:
            yield from (
                (host, model) for model in sorted({g.model for g in facts[host].gpus or () if g.model})
            )
        elif said := cluster.node_types[type_of[host]].gpu.model:
            yield host, said


def _slow(cluster: Cluster, facts: Mapping[str, HostFacts]) -> Iterator[Finding]:
    slow: dict[int, list[str]] = {}
    for group in cluster.nodes:
        for host in group.hosts:
            own = facts.get(host)
            rates = [nic.rate_gbps for nic in (own and own.nics) or () if nic.rate_gbps]
            if own and own.gpus and rates and max(rates) < _SLOW_GBPS:
                slow.setdefault(max(rates), []).append(host)
    for rate, hosts in sorted(slow.items()):
        yield Finding(
            "FA018",
            "slow-compute-fabric",
            Severity.WARNING,
            f"the fastest network card of {fold(hosts)} has {rate} Gbit/s: training across nodes is bound "
            f"by it below {_SLOW_GBPS} Gbit/s",
            fix="look for a port that came up at a lower rate; else keep jobs on one node",
        )


def _without(cluster: Cluster, facts: Mapping[str, HostFacts]) -> Iterator[Finding]:
    hosts = [host for group in cluster.nodes for host in group.hosts if host not in facts]
    if hosts:
        text = f"{len(hosts)} hosts have no facts and were not checked: {fold(hosts)}"
        yield Finding("FA019", "not-checked", Severity.INFO, text, fix="slurmwright discover -i DIR HOSTS")
