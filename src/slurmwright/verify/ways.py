"""Ways to the host where jobs are submitted: this machine, or another over SSH."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slurmwright.core.run import Local, Result, Runner
from slurmwright.model.cluster import Cluster

#: Never asks anything, so that nothing waits for an answer that nobody gives.
SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20")


@dataclass(frozen=True)
class Through:
    """Commands that a prefix carries to another host, whose shell reads them: `ssh login1`."""

    prefix: tuple[str, ...]
    runner: Runner

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> Result:
        words = [*(f"{key}={value}" for key, value in env.items())] if env else []
        line = shlex.join(["env", *words, *argv] if words else argv)
        return self.runner.run([*self.prefix, line], stdin=stdin, limit_s=limit_s)


def over_ssh(address: str, runner: Runner | None = None) -> Through:
    """A host as ~/.ssh/config and the address say."""
    return Through((*SSH, address, "--"), runner or Local())


def way(cluster: Cluster, login: str = "") -> Runner:
    """To where jobs are submitted: `login` where one was named, this machine where it has srun, else the
    first login host or controller."""
    if login:
        return over_ssh(login)
    if shutil.which("srun"):
        return Local()
    server = (*cluster.control.login, *cluster.control.controllers)[0]
    return over_ssh(server.address or server.host)
