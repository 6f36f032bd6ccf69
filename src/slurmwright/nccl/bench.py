"""A cluster and its Slurm to what NCCL reaches on it, what is possible, and which node or rail holds it back.

The whole set first, then each rail by itself (one GPU of each node, its adapter alone), then halves of the
set. The search forces the ring: on two nodes trees pass the rails' sum, and no two groups could be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slurmwright.catalogue.nccl_causes import NcclCause, likely_causes
from slurmwright.catalogue.nccl_speeds import flag_ratio, good_ratio
from slurmwright.core.hosts import fold
from slurmwright.nccl.allocation import Allocation
from slurmwright.nccl.bounds import Bound, Shape, bound, one_rail
from slurmwright.nccl.program import Program
from slurmwright.nccl.results import Output, read_output
from slurmwright.nccl.search import Found, Group, find_slow
from slurmwright.nccl.steps import Done
from slurmwright.nccl.traps import Trap, traps

FORMAT = "slurmwright/nccl-bench/1"
_RING = {"NCCL_ALGO": "Ring"}
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Rail:
    """An adapter and the GPU whose traffic it carries."""

    name: str
    gpu: int


@dataclass(frozen=True)
class Asked:
    """What to measure: which sizes, whether every rail, whether to look for slow nodes."""

    sizes: tuple[str, str] = ("1M", "8G")
    one_size: str = "1G"
    rails: str = "auto"
    search: bool = True


@dataclass(frozen=True)
class Run:
    """One measurement with its bound."""

    output: Output
    traps: tuple[Trap, ...]
    bound: Bound
    done: Done

    @property
    def busbw(self) -> float | None:
        """The peak, where it is one."""
        bad = any(trap.fatal for trap in self.traps) or not self.output.rows
        return None if bad else self.output.peak

    @property
    def ratio(self) -> float | None:
        value = self.busbw
        return value / self.bound.expected if value is not None and self.bound.expected else None


@dataclass
class Report:
    """Everything that was measured; `raw` is kept beside it."""

    about: Mapping[str, Any]
    whole: Run
    good: float
    rails: dict[str, Run] = field(default_factory=dict)
    slow_rails: tuple[str, ...] = ()
    found: Found | None = None
    searched: str = ""
    causes: tuple[NcclCause, ...] = ()
    raw: dict[str, str] = field(default_factory=dict)

    @property
    def slow(self) -> bool:
        ratio = self.whole.ratio
        return ratio is not None and ratio < flag_ratio()

    @property
    def exit_code(self) -> int:
        if not self.whole.output.rows:
            return 2
        found = self.found is not None and (self.found.slow or self.found.together)
        return int(self.slow or bool(self.whole.traps) or bool(self.slow_rails) or bool(found))

    def as_json(self) -> dict[str, Any]:
        """The document that is kept and that other programs read."""
        whole, found = self.whole, self.found
        return {
            "format": FORMAT,
            **self.about,
            "nccl": whole.output.nccl,
            "measured": whole.busbw,
            "bound": whole.bound.as_json(),
            "ratio": whole.ratio and round(whole.ratio, 4),
            "good_from": self.good,
            "flagged": self.slow,
            "sizes": [{"size": row.size, "busbw": row.busbw} for row in whole.output.rows],
            "average": whole.output.average,
            "traps": [{"name": t.name, "message": t.message, "fix": t.fix} for t in whole.traps],
            "rails": {
                name: {"measured": run.busbw, "expected": run.bound.expected}
                for name, run in self.rails.items()
            },
            "slow_rails": list(self.slow_rails),
            "slow_nodes": dict(found.slow) if found else {},
            "slow_together": [list(group) for group in found.together] if found else [],
            "nodes_alike": found.alike if found else None,
            "searched_rail": self.searched,
            "causes": [{"cause": one.cause, "check": one.check} for one in self.causes],
        }


class Bench:
    """Measures in one allocation; everything that was printed is in `raw`."""

    def __init__(
        self,
        held: Allocation,
        program: Program,
        shape: Shape,
        rails: Sequence[Rail],
        asked: Asked,
        progress: Progress = lambda _: None,
    ) -> None:
        self._held, self._program, self._shape = held, program, shape
        self._rails, self._asked, self._progress = rails, asked, progress
        self.raw: dict[str, str] = {}

    def report(self, fabric: str, about: Mapping[str, Any]) -> Report:
        """The whole set, and what the question asks for beyond it."""
        nodes = self._held.nodes
        self._progress(f"{self._program.operation} over {len(nodes)} nodes")
        whole = self._runs([("whole", nodes)], self._asked.sizes)["whole"]
        report = Report(about, whole, good_ratio(fabric), raw=self.raw)
        wrong = any(trap.name == "wrong-results" for trap in whole.traps)
        broken = any(trap.fatal for trap in whole.traps) and not wrong and bool(whole.output.rows)
        closer = report.slow or wrong or whole.busbw is None
        if len(nodes) > 1 and not broken:
            if self._asked.rails == "always" or (self._asked.rails == "auto" and closer):
                self._try_rails(report)
            if self._asked.search and (closer or report.slow_rails):
                self._search(report)
        report.causes = _causes(report, fabric, len(nodes))
        return report

    def _try_rails(self, report: Report) -> None:
        for rail in self._rails:
            self._progress(f"rail {rail.name}")
            name = f"rail-{rail.name}"
            report.rails[rail.name] = self._runs([(name, self._held.nodes)], None, rail)[name]
        speeds = {name: run.busbw or 0.0 for name, run in report.rails.items()}
        best = max(speeds.values(), default=0.0)
        report.slow_rails = tuple(name for name, speed in speeds.items() if speed < flag_ratio() * best)

    def _search(self, report: Report) -> None:
        """Among the nodes, on the slow rail alone where there is one."""
        rail = next((one for one in self._rails if one.name in report.slow_rails), None)
        report.searched = rail.name if rail else ""
        shape = one_rail(self._shape) if rail else self._shape
        rounds = 0

        def measure(groups: Sequence[Group]) -> Mapping[Group, float | None]:
            nonlocal rounds
            rounds += 1
            self._progress(f"looking for slow nodes, round {rounds}: {len(groups)} groups side by side")
            named = {f"search-{rounds}-{at}": group for at, group in enumerate(groups)}
            runs = self._runs(list(named.items()), None, rail, _RING)
            return {group: runs[name].busbw for name, group in named.items()}

        ring = bound(self._program.operation, shape, len(self._held.nodes)).ring
        known = ring or max((run.busbw or 0.0 for run in report.rails.values()), default=0.0)
        report.found = find_slow(self._held.nodes, measure, flag_ratio() * known or float("inf"))

    def _runs(
        self,
        groups: Sequence[tuple[str, Sequence[str]]],
        sizes: tuple[str, str] | None,
        rail: Rail | None = None,
        env: Mapping[str, str] | None = None,
    ) -> dict[str, Run]:
        one = (self._asked.one_size, self._asked.one_size)
        only = {"NCCL_IB_HCA": f"={rail.name}", "NCCL_TESTS_DEVICE": str(rail.gpu)} if rail else {}
        steps = [
            self._program.step(name, nodes, sizes or one, {**(env or {}), **only}, one_gpu=rail is not None)
            for name, nodes in groups
        ]
        done = self._held.run(steps)
        return {name: self._judge(name, len(nodes), done[name], rail) for name, nodes in groups}

    def _judge(self, name: str, nodes: int, done: Done, rail: Rail | None) -> Run:
        self.raw[name] = done.out + (f"\n# error output\n{done.err}\n" if done.err.strip() else "")
        output = read_output(done.out)
        operation = self._program.operation
        shape = one_rail(self._shape) if rail else self._shape
        reach = bound(operation, shape, nodes)
        tasks = self._program.ranks(nodes, rail is not None)
        found = traps(output, tasks, operation, reach.limit)
        if done.code and not found:
            text = done.err.strip().splitlines()[-1:] or [f"exit code {done.code}"]
            why = "ran past its time limit" if done.timed_out else f"failed: {text[0]}"
            found = (Trap("failed", f"the run {why}", "read its kept output; slurmwright nccl log"),)
        return Run(output, found, reach, done)


def _causes(report: Report, fabric: str, nodes: int) -> tuple[NcclCause, ...]:
    if report.found and report.found.slow:
        return likely_causes("node", fabric)
    if report.slow_rails:
        return likely_causes("rail", fabric)
    if not report.slow:
        return ()
    return likely_causes("inside" if nodes == 1 else "all", fabric)


def told_nodes(found: Found) -> str:
    """The slow nodes in words."""
    parts = [
        f"{node} {'failed' if value is None else f'{value:.1f} GB/s'}" for node, value in found.slow.items()
    ]
    parts += [f"{fold(group)} together" for group in found.together]
    return ", ".join(parts)
