"""Steps of one allocation, side by side, to one shell script, and what it prints back to their outputs.

One script for a round of steps, because disjoint groups of nodes are measured at the same time. Variables of
NCCL in the environment of the caller are unset first: they would be measured instead of the cluster.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from slurmwright.core.hosts import fold

_MARK = "@nccl-step"
_UNSET = "for v in $(env | sed -n 's/^\\(NCCL_[A-Za-z0-9_]*\\)=.*/\\1/p'); do unset \"$v\"; done\n"
#: `timeout` gives this when the limit passed, and the other when it had to kill.
TIMED_OUT = (124, 137)


@dataclass(frozen=True)
class Step:
    """One srun in the allocation: `argv` in `tasks` on each node; every task reads `stdin`."""

    name: str
    nodes: tuple[str, ...]
    tasks: int
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    limit_s: int = 300
    stdin: str = ""


@dataclass(frozen=True)
class Done:
    """What one step printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def timed_out(self) -> bool:
        return self.code in TIMED_OUT


def script(job: str, steps: Sequence[Step]) -> str:
    """Run all steps side by side, then print their outputs one after the other."""
    lines = ["d=$(mktemp -d) || exit 1\ntrap 'rm -rf \"$d\"' EXIT\n", _UNSET]
    for at, step in enumerate(steps):
        if step.stdin:
            lines.append(f"cat >\"$d/{at}.in\" <<'END_OF_PROGRAM'\n{step.stdin}\nEND_OF_PROGRAM\n")
        source = f'"$d/{at}.in"' if step.stdin else "/dev/null"
        command = shlex.join(["timeout", "-k", "10", str(step.limit_s), "env", *_srun(job, step)])
        lines.append(f'( {command} <{source} >"$d/{at}.out" 2>"$d/{at}.err"; echo $? >"$d/{at}.code" ) &\n')
    lines.append("wait\n")
    for at in range(len(steps)):
        lines.append(
            f'echo "{_MARK} {at} $(cat "$d/{at}.code")"\n'
            f'sed "s/^/o /" "$d/{at}.out"; sed "s/^/e /" "$d/{at}.err"\n'
        )
    return "".join(lines)


def _srun(job: str, step: Step) -> Iterator[str]:
    yield from (f"{name}={value}" for name, value in sorted(step.env.items()))
    count = len(step.nodes)
    yield from ("srun", f"--jobid={job}", f"--nodes={count}", f"--nodelist={fold(step.nodes)}")
    yield from (f"--ntasks={count * step.tasks}", f"--ntasks-per-node={step.tasks}", "--kill-on-bad-exit=1")
    yield from (*step.options, *step.argv)


def outputs(text: str, steps: Sequence[Step]) -> dict[str, Done]:
    """Step → what it left; a step that the text does not have was cut off."""
    found: dict[int, tuple[int, list[str], list[str]]] = {}
    here: tuple[int, list[str], list[str]] | None = None
    for line in text.splitlines():
        words = line.split()
        if line.startswith(f"{_MARK} ") and len(words) >= 2:
            code = int(words[2]) if len(words) > 2 and words[2].isdigit() else 1
            here = found.setdefault(int(words[1]), (code, [], []))
        elif here and line[:2] in ("o ", "e "):
            (here[1] if line[0] == "o" else here[2]).append(line[2:])
    cut: tuple[int, list[str], list[str]] = (TIMED_OUT[0], [], ["the step gave no answer"])
    return {
        step.name: Done(found.get(at, cut)[0], *("\n".join(part) for part in found.get(at, cut)[1:]))
        for at, step in enumerate(steps)
    }
