"""What an admin asks of a verification: where, as whom, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """`timeout` are seconds for each launch: to be let in, and to run. `nodes` are host names, all where
    empty. `read`: may Slurm's files be evidence? `ssh`: are sessions over SSH tried? `only` are
    names of launches and of `hosts`, the look at hosts; all of them where empty."""

    nodes: tuple[str, ...] = ()
    partition: str = ""
    account: str = ""
    qos: str = ""
    reservation: str = ""
    timeout: int = 60
    read: bool = True
    ssh: bool = True
    config_dir: str = "/etc/slurm"
    only: frozenset[str] = frozenset()

    def tries(self, name: str) -> bool:
        """Is this launch, or the look at hosts, wanted?"""
        return not self.only or name in self.only

    @property
    def options(self) -> tuple[str, ...]:
        """For sbatch, srun and salloc alike."""
        named = (("account", self.account), ("qos", self.qos), ("reservation", self.reservation))
        return tuple(f"--{name}={value}" for name, value in named if value)
