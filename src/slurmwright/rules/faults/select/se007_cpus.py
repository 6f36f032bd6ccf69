"""SE007: the CPUs of a node line are not those of its sockets, cores and threads."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "SE007",
    "cpus-unlike-the-layout",
    ERROR,
    why="""CPUs= must be the sockets, the cores or the threads of the line. Otherwise slurmctld logs an
        error and works with its own number: the node offers other CPUs than the line says, or becomes
        INVAL.""",
    fix="CPUs= with Sockets x CoresPerSocket x ThreadsPerCore, as slurmd -C prints it",
    references=("Slurm source, src/common/read_config.c: match no Sockets, Sockets*CoresPerSocket",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for node in seen.config.nodes:
        cpus, shape = node.number("CPUs", "Procs"), node.shape
        if cpus is None or shape is None:
            continue
        right = shape.all_cores * shape.threads
        if cpus not in (shape.sockets, shape.all_cores, right):
            yield Fault(
                f"{node.written}: CPUs={cpus}, and {shape.sockets} sockets of {shape.cores} cores of "
                f"{shape.threads} "
                f"threads are {right}",
                node.line_of("CPUs"),
                fix=f"CPUs={right}",
                about=node.written,
            )
