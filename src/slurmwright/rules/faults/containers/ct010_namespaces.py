"""CT010: the kernel lets no user make a namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.containers_seen import has_enroot, spank_lines
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, WARNING, Fault, Place, rule

_SETTING = re.compile(r"^\s*([\w.]+)\s*=\s*(\d+)", re.M)
_SMALL = 1024


@rule(
    "CT010",
    "user-namespaces-off",
    ERROR,
    why="""enroot needs user namespaces for users. They are off with kernel.unprivileged_userns_clone=0 or
        user.max_user_namespaces=0, and on Ubuntu 24.04 with kernel.apparmor_restrict_unprivileged_userns=1
        unless enroot has a profile; a small limit ends with the first large job.""",
    fix="user.max_user_namespaces=65536, kernel.apparmor_restrict_unprivileged_userns=0 in /etc/sysctl.d",
    references=("https://github.com/NVIDIA/enroot/blob/master/doc/requirements.md",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    uses = has_enroot(seen) or any("pyxis" in line.plugin for line in spank_lines(seen))
    if not uses:
        return
    profile = any("enroot" in file.path for file in seen.under("/etc/apparmor.d"))
    listing = seen.capture("sysctl.txt")
    files = [*seen.under("/etc/sysctl.d"), *([listing] if listing else [])]
    for file in files:
        for match in _SETTING.finditer(file.text):
            key, number = match[1], int(match[2][:12])
            off = number == 0 and key in ("kernel.unprivileged_userns_clone", "user.max_user_namespaces")
            few = key == "user.max_user_namespaces" and 0 < number < _SMALL
            restricted = key == "kernel.apparmor_restrict_unprivileged_userns" and number and not profile
            if off or few or restricted:
                line = file.text.count("\n", 0, match.start(1)) + 1
                text = f"{key}={number} keeps users from making namespaces, which enroot needs"
                yield Fault(text, Place(file.path, line), severity=WARNING if few else None)
