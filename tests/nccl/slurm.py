"""Real Slurm of a rehearsal as the runner of bench and tune; the stand-in for nccl-tests on its hosts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from slurmwright.core.run import Local, Result
from slurmwright.nccl.bounds import Shape
from slurmwright.nccl.standin.stand_in import PROGRAM, Planted, model_text
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.sandbox import BASE_ENV

#: What srun reads: its tasks answer to the address that its request came from, which on one machine is the
#: node's own, so it must listen on every address.
CLIENT = "/opt/nccl-tests/slurm.conf"
STAND_IN = "/opt/nccl-tests/all_reduce_perf"
MODEL = "/opt/nccl-tests/model.conf"


class Through:
    """Commands run behind this one; another program can be told it, since it is only words."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> Result:
        return Local().run([*self._words, *argv], stdin=stdin, env=BASE_ENV, limit_s=limit_s)


def on_controller(machine: Machine) -> list[str]:
    """What runs a command as root on the first controller, where jobs find the stand-in's model."""
    enter = str(Path(machine.root).parent / "hosts" / machine.cast.controllers[0] / "enter")
    told = (f"SLURM_CONF={CLIENT}", f"SLURMWRIGHT_STANDIN={MODEL}")
    return shlex.split(machine.sandbox.enter_command(["sh", enter, "env", *told]))


def lay_stand_in(machine: Machine) -> None:
    """The program lies where every host sees it."""
    path = machine.sandbox.path(f"{machine.root}{STAND_IN}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PROGRAM.read_text(encoding="utf-8"), encoding="utf-8")
    path.chmod(0o755)
    text = machine.ctl("cat", machine.cast.conf_path).out
    client = machine.sandbox.path(f"{machine.root}{CLIENT}")
    client.write_text(re.sub(r",?NoInAddrAny\b", "", text), encoding="utf-8")


def plant(machine: Machine, shape: Shape, rails: Sequence[str], planted: Planted) -> None:
    """What the stand-in answers from now on."""
    path = machine.sandbox.path(f"{machine.root}{MODEL}")
    path.write_text(model_text(shape, rails, planted), encoding="utf-8")
