"""A node's shape and what is planted to the model file of the stand-in for nccl-tests.

The stand-in is no benchmark: it answers from this model, so that the search for slow nodes and rails and the
tuning can be tried through real Slurm without a GPU.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slurmwright.nccl.bounds import Shape

PROGRAM = Path(__file__).with_name("all_reduce_perf")
#: Where the program looks for its model.
MODEL = "/etc/nccl-stand-in.conf"


@dataclass(frozen=True)
class Planted:
    """What the model makes slow (host, rail or host/rail → part of the speed), wrong (host → elements),
    faster or slower by a variable ((name, value) → factor), or hang."""

    slow_nodes: Mapping[str, float] = field(default_factory=dict)
    slow_rails: Mapping[str, float] = field(default_factory=dict)
    wrong_nodes: Mapping[str, int] = field(default_factory=dict)
    effects: Mapping[tuple[str, str], float] = field(default_factory=dict)
    hangs: Sequence[tuple[str, str]] = ()
    noise: float = 0.01
    seed: int = 1


def model_text(shape: Shape, rails: Sequence[str], planted: Planted) -> str:
    """The lines of the model file."""
    lines = [f"nvlink {shape.nvlink.ring if shape.nvlink else shape.pcie or 20}", "latency_us 30"]
    lines += [f"noise {planted.noise}", f"seed {planted.seed}"]
    lines += [f"rail {name} {shape.rail}" for name in rails]
    lines += [f"slow_node {name} {part}" for name, part in planted.slow_nodes.items()]
    lines += [f"slow_rail {name} {part}" for name, part in planted.slow_rails.items()]
    lines += [f"wrong_node {name} {count}" for name, count in planted.wrong_nodes.items()]
    lines += [f"effect {name} {value} {factor}" for (name, value), factor in planted.effects.items()]
    lines += [f"hang {name} {value}" for name, value in planted.hangs]
    return "\n".join(lines) + "\n"
