"""Runs the launches of a verification and gives what came of them: documents, and why some are not there."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.outside_job import OUTSIDE_JOB
from slurmwright.core.run import Result, Runner
from slurmwright.verify import commands
from slurmwright.verify.documents import Document, read_documents
from slurmwright.verify.launches import ALL, HOSTS, Launch, srun_options
from slurmwright.verify.scripts import host_script, probe_script
from slurmwright.verify.slurm import SINFO, Chosen, Row, read_rows
from slurmwright.verify.wanted import Wanted

#: Seconds beyond the limit of Slurm itself, after which a command here is given up.
_GRACE_S = 60
#: The exit status of a command that ran past its limit.
_TIMED_OUT = 124
Progress = Callable[[str, int, int], None]
Admin = Callable[[str, str], Result]


@dataclass
class Session:
    """Use `close` at the end, whatever happened: it cancels what still runs."""

    runner: Runner
    wanted: Wanted
    progress: Progress = lambda *_: None
    launched: int = 0
    name: str = field(default_factory=lambda: f"slurmwright-verify-{secrets.token_hex(4)}")
    jobs: list[str] = field(default_factory=list)
    #: Why nothing more is started: where one launch gave no answer at all, the next would wait as long.
    stuck: str = ""

    def rows(self) -> tuple[Row, ...]:
        """What slurmctld says of its nodes; SlurmwrightError where it does not answer."""
        done = self.runner.run(SINFO, limit_s=_GRACE_S)
        if not done.ok:
            raise SlurmwrightError(f"slurmctld cannot be asked for its nodes: {done.last_line}")
        return read_rows(done.out)

    def launch(self, chosen: Chosen, one: Launch) -> tuple[tuple[Document, ...], str]:
        """The documents of all tasks, and what srun said where some are missing."""
        options = srun_options(one, len(chosen.nodes))
        argv = commands.srun(self.name, chosen.nodes, chosen.partition, self.wanted, options)
        smi = () if one.name == ALL else ("--smi-limit", "0")
        return self._documents([*argv, "--lines", one.name, *smi], probe_script())

    def lost(self, chosen: Chosen) -> dict[str, str]:
        """Node → its state, for those that have stopped to answer slurmctld since they were chosen: one such
        node keeps a job on all of them from starting, so that the others are tried without it."""
        rows = self.rows()
        found = {row.node: row.told for row in rows if row.gone and row.node in chosen.nodes}
        if found:
            self.close()
            self.stuck = ""
        return found

    def hosts(self, chosen: Chosen, credential: str) -> tuple[dict[str, dict[str, Any]], str]:
        """Node → what it says of itself."""
        size = (f"--nodes={len(chosen.nodes)}", f"--ntasks={len(chosen.nodes)}", "--ntasks-per-node=1")
        argv = commands.srun(self.name, chosen.nodes, chosen.partition, self.wanted, (*size, "--mem=64M"))
        before = self._now()
        found, said = self._documents([*argv, *self._host_options(credential)], host_script())
        after = self._now()
        return {one.node: self._timed(one.data, before, after) for one in found}, said

    def ours(self, credential: str) -> dict[str, Any] | None:
        """What the host where verify runs says of itself."""
        argv = ["sh", "-s", "--", *self._host_options(credential)]
        found = read_documents(self.runner.run(argv, stdin=host_script(), limit_s=_GRACE_S).out)
        return found[0].data if found else None

    def asked(self, host: str, admin: Admin, credential: str) -> dict[str, Any] | None:
        """What a host says over a way that does not need Slurm."""
        before = self._now()
        options = " ".join(self._host_options(credential))
        done = admin(host, f"set -- {options}\n{host_script()}")
        found = read_documents(done.out)
        return self._timed(found[0].data, before, self._now()) if found else None

    def credential(self) -> str:
        """One of munge's, made here for the hosts to take; "" without munge."""
        done = self.runner.run(["munge", "-n"], limit_s=20)
        return done.out.strip() if done.ok else ""

    def _host_options(self, credential: str) -> tuple[str, ...]:
        return (
            "--lines",
            HOSTS,
            "--config",
            self.wanted.config_dir,
            *(("--credential", credential) if credential else ()),
        )

    def _timed(self, data: dict[str, Any], before: float, after: float) -> dict[str, Any]:
        """The document with how far its clock is outside the time in which it must have been made."""
        told = float(data.get("time") or before)
        skew = min(told - before, 0.0) or max(told - after, 0.0)
        return {**data, "skew": skew, "ended": list(self.jobs)}

    def _now(self) -> float:
        done = self.runner.run(["date", "+%s"], limit_s=20)
        return float(done.out.strip()) if done.ok and done.out.strip().isdigit() else time.time()

    # -- jobs side by side ------------------------------------------------------------------------------

    def beside(self, chosen: Chosen) -> tuple[dict[str, tuple[Document, ...]], str]:
        """Job → documents of its step and of its batch script, all made while every job ran."""
        secret, count = secrets.token_hex(8), len(chosen.shape.gpus)
        argv = commands.array(self.name, chosen.nodes, chosen.partition, self.wanted, count)
        text = commands.batch_script(secret, 4 * self.wanted.timeout)
        done = self._run(argv, text)
        number = done.out.strip().split(";")[0]
        if not done.ok or not number.isdigit():
            return {}, done.last_line
        try:
            running = self._running(number, count)
            if len(running) < count:
                return {}, f"{len(running)} of {count} jobs of one GPU ran within {self.wanted.timeout} s"
            return dict(self._steps(running, len(chosen.nodes), secret)), ""
        finally:
            self.runner.run(["scancel", number], limit_s=_GRACE_S)
            self.gone()

    def _steps(
        self, running: Sequence[str], nodes: int, secret: str
    ) -> Iterator[tuple[str, tuple[Document, ...]]]:
        for job in running:
            options = ("--lines", f"job-{job}", "--smi-limit", "0")
            found, _ = self._documents([*commands.step(job, nodes), *options], commands.step_script(secret))
            yield job, found

    def _running(self, number: str, count: int) -> tuple[str, ...]:
        """The jobs of an array that run, when all do or the time is over."""
        end = time.monotonic() + self.wanted.timeout
        while True:
            done = self.runner.run(
                ["squeue", "-h", "-r", "-t", "R", "-j", number, "-o", "%A"], limit_s=_GRACE_S
            )
            jobs = tuple(word for word in done.out.split() if word.isdigit())
            if len(jobs) >= count or time.monotonic() > end:
                self.jobs += jobs
                return jobs
            time.sleep(0.5)

    # -- interactive ------------------------------------------------------------------------------------

    def interactive(self, chosen: Chosen, ssh: bool) -> tuple[tuple[Document, ...], str]:
        """Documents of an interactive step and, with `ssh`, of a session in the same job."""
        argv = commands.salloc(self.name, chosen.nodes[0], chosen.partition, self.wanted)
        return self._documents(argv, commands.salloc_script(chosen.nodes[0], ssh))

    def ssh_without_job(self, node: str) -> Result:
        """A session on a node where this user has no job."""
        return self.runner.run(["sh", "-c", f"{commands.ssh_line(node)} true"], limit_s=_GRACE_S)

    def uid(self) -> int:
        """Who we are where the jobs come from."""
        text = self.runner.run(["id", "-u"], limit_s=20).out.strip()
        return int(text) if text.isdigit() else 0

    # -- all of them ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Cancel every job of this session; there is none left where all went well."""
        self.runner.run(["scancel", f"--name={self.name}"], limit_s=_GRACE_S)

    def gone(self) -> None:
        """Wait until none of our jobs is left, as long as a launch may take."""
        end = time.monotonic() + self.wanted.timeout
        while self.runner.run(["squeue", "-h", f"--name={self.name}"], limit_s=_GRACE_S).out.strip():
            if time.monotonic() > end:
                return
            time.sleep(0.5)

    def _run(self, argv: Sequence[str], text: str) -> Result:
        if self.stuck:
            return Result(tuple(argv), _TIMED_OUT, "", self.stuck)
        self.launched += 1
        limit = 2 * self.wanted.timeout + 30
        done = self.runner.run(argv, stdin=text, limit_s=limit)
        if done.code == _TIMED_OUT and not read_documents(done.out):
            self.stuck = (
                f"{argv[len(OUTSIDE_JOB)]} gave no answer within {limit} s: can nodes reach this host?"
            )
        return done

    def _documents(self, argv: Sequence[str], text: str) -> tuple[tuple[Document, ...], str]:
        done = self._run(argv, text)
        found = read_documents(done.out)
        self.jobs += sorted(
            {str(one.data.get("env", {}).get("SLURM_JOB_ID", "")) for one in found} - {"", *self.jobs}
        )
        errors = [line.strip() for line in done.err.splitlines() if line.strip()]
        return found, (errors[-1] if errors else "" if done.ok else done.last_line)


def by_node(found: Sequence[Document]) -> Mapping[str, list[Document]]:
    """The documents of each node."""
    nodes: dict[str, list[Document]] = {}
    for one in found:
        nodes.setdefault(one.node, []).append(one)
    return nodes
