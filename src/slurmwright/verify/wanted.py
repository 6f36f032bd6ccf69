"""What an admin asks of a verification: where, as whom, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """`timeout` are seconds for each launch: to be let in, and to run. `nodes` are host names, all where
    empty. `read`: may Slurm's files be evidence? `ssh`: are sessions over SSH tried?"""

    nodes: tuple[str, ...] = ()
    partition: str = ""
    account: str = ""
    qos: str = ""
    reservation: str = ""
    timeout: int = 60
    read: bool = True
    ssh: bool = True
    config_dir: str = "/etc/slurm"

    @property
    def options(self) -> tuple[str, ...]:
        """For sbatch, srun and salloc alike."""
        named = (("account", self.account), ("qos", self.qos), ("reservation", self.reservation))
        return tuple(f"--{name}={value}" for name, value in named if value)
