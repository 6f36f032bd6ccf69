"""AC005: a feature that needs PrologFlags=Contain, without it."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "AC005",
    "contain-missing",
    ERROR,
    by_release=True,
    why="""A private /tmp (job_container/tmpfs, namespace/*) and stepmgr live in the extern step that
        PrologFlags=Contain makes. Without it the daemons do not start.""",
    fix="PrologFlags=Contain",
    references=(
        "Slurm source, src/common/read_config.c: PrologFlags=Contain is required",
        "https://slurm.schedmd.com/slurm.conf.html (JobContainerType)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if any(word in ("contain", "x11", "runinjob") for word in config.words("PrologFlags")):
        return
    for key in ("JobContainerType", "NamespaceType"):
        value = config.value(key).lower()
        if value and "none" not in value:
            yield Fault(
                f"{key}={value} needs PrologFlags=Contain; no daemon starts", config.place(key), about=key
            )
    if seen.release.at_least("24.05") and config.has("SlurmctldParameters", "enable_stepmgr"):
        yield Fault(
            "SlurmctldParameters=enable_stepmgr needs PrologFlags=Contain; slurmctld does not start",
            config.place("SlurmctldParameters"),
            about="stepmgr",
        )
