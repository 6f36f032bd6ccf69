"""CG005: PrologFlags=Contain with a process tracker that cannot contain anything."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import changes
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Repair, rule


@rule(
    "CG005",
    "contain-without-cgroup-tracking",
    ERROR,
    why="""PrologFlags=Contain (X11 and RunInJob imply it) makes an extern step for each job, into which
        pam_slurm_adopt puts SSH sessions. Only proctrack/cgroup can hold them there; with another tracker
        they run outside every limit of the job.""",
    fix="ProctrackType=proctrack/cgroup",
    references=(
        "https://github.com/BiBiServ/bibigrid/issues/470",
        "Seen with slurmctld 22.05.8, 24.11.5 and 26.05.5",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    flag = next((word for word in config.words("PrologFlags") if word in ("contain", "x11", "runinjob")), "")
    tracker = config.value("ProctrackType", "proctrack/cgroup").lower()
    if config.slurm is None or not flag or "cgroup" in tracker or "cray" in tracker:
        return
    found = config.setting("ProctrackType")
    assert found is not None  # noqa: S101 - the default is proctrack/cgroup
    yield Fault(
        f"PrologFlags={config.value('PrologFlags')} needs ProctrackType=proctrack/cgroup; with {tracker} "
        "the extern step contains nothing",
        config.place("ProctrackType"),
        repair=Repair(found.doc, changes.set_key(found.doc, "ProctrackType", "proctrack/cgroup")),
    )
