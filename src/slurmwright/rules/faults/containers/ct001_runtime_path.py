"""CT001: enroot's runtime folder is that of a login session, which a job does not have."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.containers_seen import ENROOT, enroot_settings, has_enroot
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Place, rule


@rule(
    "CT001",
    "enroot-runtime-of-a-session",
    ERROR,
    why="""The default is ${XDG_RUNTIME_DIR:-/run}/enroot. In a batch job XDG_RUNTIME_DIR is unset, or
        /run/user/UID is gone with the login session: enroot cannot make its folder and the container does
        not start.""",
    fix="ENROOT_RUNTIME_PATH /run/enroot/user-$(id -u), its parent made by the prolog or by tmpfiles.d "
    "(mode 1777)",
    references=(
        "https://github.com/NVIDIA/pyxis/issues/4",
        "https://github.com/NVIDIA/enroot/blob/master/doc/configuration.md",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    if not has_enroot(seen):
        return
    found = enroot_settings(seen).get("ENROOT_RUNTIME_PATH")
    log = seen.capture("slurmd.log", "job_output.txt")
    lines = [line for line in log.text.split("\n") if "/run/enroot" in line][:2] if log else []
    if found is None:
        text = "ENROOT_RUNTIME_PATH is not set, and the default below XDG_RUNTIME_DIR is missing in jobs"
        yield Fault(text, Place(ENROOT), evidence=tuple(lines))
    elif "XDG_RUNTIME_DIR" in found.text or found.text.startswith("/run/user"):
        text = f"ENROOT_RUNTIME_PATH {found.text} is a folder of a login session, which jobs do not have"
        yield Fault(text, found.place, evidence=tuple(lines))
