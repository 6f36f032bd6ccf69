"""A held allocation to better settings of NCCL for its nodes, each run kept and scored over several sizes.

The score is a geometric mean with weights: a setting that helps 4 GiB and ruins 1 MiB is no gain. Results
belong to the node type, the number of nodes, the network and NCCL's version, and to nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

from slurmwright.catalogue.nccl_tuning import tried, weights
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.files import write_text
from slurmwright.nccl.allocation import Allocation
from slurmwright.nccl.journal import Journal
from slurmwright.nccl.keep import scrub
from slurmwright.nccl.program import Program
from slurmwright.nccl.results import Output, read_output
from slurmwright.nccl.traps import traps
from slurmwright.nccl.tune_search import NoBaselineError, Setting, Tuned, tune

FORMAT = "slurmwright/nccl-tune/1"
_SIZES, _FACTOR = ("1M", "4G"), 16


def score(output: Output) -> float | None:
    """The weighted geometric mean of the sizes that count; None where one is missing."""
    total = 0.0
    for size, weight in weights().items():
        speed = output.at(size)
        if not speed:
            return None
        total += weight * log(speed)
    return exp(total / sum(weights().values()))


@dataclass
class Measured:
    """Runs the settings that the search asks for, or takes them from the journal."""

    held: Allocation
    program: Program
    journal: Journal
    raw: Path
    progress: Callable[[str], None]
    nccl: str = ""

    def __call__(self, setting: Setting) -> float | None:
        known, value = self.journal.take(setting)
        if known:
            return value
        number = self.journal.runs + 1
        words = ", ".join(f"{name}={one}" for name, one in sorted(setting.items())) or "nothing set"
        self.progress(f"run {number}: {words}")
        step = self.program.step("run", self.held.nodes, _SIZES, setting, factor=_FACTOR)
        done = self.held.run([step])["run"]
        self.raw.mkdir(parents=True, exist_ok=True)
        write_text(
            self.raw / f"run-{number:03}.txt", scrub(f"# {words}\n{done.out}\n# error output\n{done.err}\n")
        )
        output = read_output(done.out)
        if self.nccl and output.nccl not in ("", self.nccl):
            raise SlurmwrightError(
                f"NCCL is {output.nccl} now and was {self.nccl} in the runs before; --new begins afresh"
            )
        self.nccl = self.nccl or output.nccl
        bad = traps(output, self.program.ranks(len(self.held.nodes)), self.program.operation)
        failed = done.code != 0 or any(trap.fatal for trap in bad)
        value = None if failed else score(output)
        why = "time limit" if done.timed_out else bad[0].name if bad else "" if value else "failed"
        self.journal.add(setting, value, why=why, nccl=output.nccl)
        return value


def search(measured: Measured, fabric: str, budget: int, seed: int) -> Tuned:
    """Raises SlurmwrightError where not even the untouched cluster can be measured."""
    try:
        return tune(tried(fabric), measured, budget, seed)
    except NoBaselineError:
        raise SlurmwrightError(
            f"the nodes could not be measured without any setting; read {measured.raw}, or try nccl bench"
        ) from None


def document(found: Tuned, about: Mapping[str, Any]) -> dict[str, Any]:
    """What other programs read, and what is kept."""
    return {
        "format": FORMAT,
        **about,
        "setting": dict(found.setting),
        "gain": round(found.gain, 4),
        "noise": round(found.noise, 5),
        "baseline": round(found.baseline, 2),
        "best": round(found.best, 2),
        "runs": found.runs,
        "rejected": dict(found.rejected),
        "budget_spent": found.spent,
    }
