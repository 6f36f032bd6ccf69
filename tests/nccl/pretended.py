"""A Slurm that only pretends: srun runs the stand-in for nccl-tests here, once, in the name of its nodes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from slurmwright.cli.nccl_bench import rails_of
from slurmwright.core.run import Local, Result
from slurmwright.model.load import load_cluster
from slurmwright.nccl.bounds import shape_of
from slurmwright.nccl.standin.stand_in import PROGRAM, Planted, model_text

_SRUN = """#!/bin/sh
echo "$@" >>"$PRETENDED/srun.log"
for w; do case $w in
--nodelist=*) export SLURM_STEP_NODELIST=${w#*=};;
--ntasks=*) export SLURM_STEP_NUM_TASKS=${w#*=};; esac; done
export SLURM_JOB_ID=7 SLURM_STEP_ID=$(wc -l <"$PRETENDED/srun.log") SLURM_PROCID=0
while [ "${1#-}" != "$1" ]; do shift; done
exec "$@"
"""
#: `gpu[001-004,007]` to one name a line, which is all these tests ask for.
_SCONTROL = """#!/bin/sh
echo "$3" | awk -F'[][]' '{
  if (NF < 2) { n = split($0, name, ","); for (i = 1; i <= n; i++) print name[i]; exit }
  n = split($2, part, ",")
  for (i = 1; i <= n; i++) {
    m = split(part[i], end, "-"); last = m > 1 ? end[2] : end[1]
    for (at = end[1] + 0; at <= last + 0; at++) printf "%s%0" length(end[1]) "d\\n", $1, at
  }
}'
"""


class Pretended:
    """Answers sinfo and salloc, and runs scripts with its own srun; `asked` are the commands it was given."""

    def __init__(self, folder: Path, nodes: Sequence[str], model: str = "") -> None:
        self._folder, self._nodes = folder, nodes
        self.asked: list[tuple[str, ...]] = []
        self.states: dict[str, str] = {}
        for name, text in (
            ("srun", _SRUN),
            ("scontrol", _SCONTROL),
        ):
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o755)
        for name in ("scancel", "squeue"):
            (folder / name).write_text(
                f'#!/bin/sh\necho {name} "$@" >>"$PRETENDED/other.log"\n', encoding="utf-8"
            )
            (folder / name).chmod(0o755)
        (folder / "srun.log").touch()
        for name in ("all_reduce_perf", "all_gather_perf"):
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(PROGRAM)
        if model or not (folder / "model.conf").exists():
            self.plant(model)

    def plant(self, model: str) -> None:
        (self._folder / "model.conf").write_text(model, encoding="utf-8")

    @property
    def steps(self) -> list[str]:
        """The arguments of every srun, in the order of their start."""
        return (self._folder / "srun.log").read_text(encoding="utf-8").splitlines()

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> Result:
        self.asked.append(tuple(argv))
        if argv[0] == "sinfo":
            told = "".join(f"{node}|{self.states.get(node, 'idle')}\n" for node in self._nodes)
            return Result(tuple(argv), 0, told, "")
        if "salloc" in argv:
            return Result(tuple(argv), 0, "", "salloc: Granted job allocation 7\n")
        if argv[0] == "scancel":
            return Result(tuple(argv), 0, "", "")
        own = {
            **os.environ,
            "PATH": f"{self._folder}:{os.environ['PATH']}",
            "PRETENDED": str(self._folder),
            "SLURMWRIGHT_STANDIN": str(self._folder / "model.conf"),
        }
        return Local().run(argv, stdin=stdin, env=own, limit_s=limit_s)


def plant(slurm: Pretended, inventory: Path, planted: Planted) -> None:
    """What the stand-in answers from now on on the nodes of this inventory."""
    cluster = load_cluster(inventory)
    kind = cluster.node_types["dgx-h100"]
    rails = [rail.name for rail in rails_of(kind)]
    slurm.plant(model_text(shape_of(kind, cluster.fabric), rails, planted))
