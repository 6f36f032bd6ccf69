"""Cluster to TRESBillingWeights: what of a job's GPUs, CPUs and memory is billed to its account.

Slurm bills CPUs alone unless it is told otherwise, so that fair share on a GPU cluster would count what is
cheap there. With PriorityFlags=MAX_TRES the largest of a job's weighted shares counts: whoever takes all the
memory of a node takes its GPUs from everybody. Fractions of a billing unit are cut off, hence 100 for a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence

from slurmwright.model.cluster import Cluster
from slurmwright.render.described import Described, Shape
from slurmwright.render.rows import Line, setting

#: What one GPU bills: a job with a hundredth of a GPU's share of CPUs or memory still bills something.
PER_GPU = 100
_WORDS = {"cpu": ("CPU", ""), "mem_gb": ("Mem", "G")}


def billing_flags(cluster: Cluster, rows: Sequence[Described]) -> tuple[Line, ...]:
    """PriorityFlags, where something is weighted."""
    weighted = _weights(cluster, [row.shape for row in rows])
    return (setting("PriorityFlags", "MAX_TRES"),) if weighted else ()


def billing_pairs(
    cluster: Cluster, shapes: Sequence[Shape], every: Sequence[Described]
) -> list[tuple[str, str]]:
    """The weights of a partition with these nodes. One without GPUs bills a CPU as the others do."""
    with_gpus = any(shape.devices for shape in shapes)
    weights = _weights(cluster, shapes if with_gpus else [row.shape for row in every])
    if not with_gpus:
        weights = {key: value for key, value in weights.items() if not key.startswith("GRES/")}
    return [("TRESBillingWeights", ",".join(f"{k}={v}" for k, v in weights.items()))] if weights else []


def _weights(cluster: Cluster, shapes: Sequence[Shape]) -> dict[str, str]:
    """Slurm's name → weight. Of several types the smallest weight counts: nobody bills more than a share."""
    billing, accounting = cluster.accounting.billing, cluster.accounting.enabled
    with_gpus = [shape for shape in shapes if shape.devices]
    if not accounting or billing is False:
        return {}
    if not isinstance(billing, bool):
        return {_name(word): f"{weight:g}{_unit(word)}" for word, weight in billing.items()}
    if not with_gpus:
        return {}
    cpu = min(PER_GPU * len(shape.devices) / shape.layout.cpus for shape in with_gpus)
    memory = min(PER_GPU * len(shape.devices) * 1024 / shape.memory_mb for shape in with_gpus)
    return {"CPU": _cut(cpu), "Mem": f"{_cut(memory)}G", "GRES/gpu": str(PER_GPU)}


def _name(word: str) -> str:
    return _WORDS[word][0] if word in _WORDS else f"GRES/{word}"


def _unit(word: str) -> str:
    return _WORDS.get(word, ("", ""))[1]


def _cut(weight: float) -> str:
    """Three decimals, rounded down: the fair share of a GPU must not bill more than the GPU."""
    return f"{int(weight * 1000) / 1000:g}"
