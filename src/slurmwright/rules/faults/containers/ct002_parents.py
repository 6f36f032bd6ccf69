"""CT002: each user has folders of his own for enroot, and nobody makes their parents."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.containers_seen import enroot_settings, has_enroot
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.listings_seen import entries
from slurmwright.rules.rule import ERROR, Fault, Scope, rule

_PATHS = ("ENROOT_RUNTIME_PATH", "ENROOT_CACHE_PATH", "ENROOT_DATA_PATH", "ENROOT_TEMP_PATH")
_USER = re.compile(r"\$\(|\$\{?(?:UID|USER|SLURM)")


@rule(
    "CT002",
    "enroot-parents-missing",
    ERROR,
    scope=Scope.FACTS,
    why="""enroot runs as the user of the job, who cannot make a folder below one of root's. Without a
        Prolog that makes and hands over the user's folders, or a parent that everybody may write to, no
        container starts.""",
    fix="""a Prolog with mkdir -p -m 0700 and chown $SLURM_JOB_UID for each path, or tmpfiles.d: d
        /run/enroot 1777 root root""",
    references=(
        "https://github.com/NVIDIA/enroot/blob/master/doc/configuration.md",
        "https://github.com/NVIDIA/pyxis/wiki/Setup",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if not has_enroot(seen) or config.setting("Prolog") or config.slurm is None:
        return
    known = entries(seen)
    made = "\n".join(file.text for file in seen.under("/etc/tmpfiles.d"))
    for key, value in enroot_settings(seen).items():
        own = _USER.search(value.text)
        if key not in _PATHS or not own or not value.text.startswith("/"):
            continue
        parent = value.text[: own.start()].rpartition("/")[0]
        while parent and parent not in known:
            parent = parent.rpartition("/")[0]
        entry = known.get(parent)
        if entry is None or f" {entry.path} " in made:
            continue
        open_to_all = entry.exists and entry.mode is not None and entry.mode & 0o002
        if not open_to_all:
            what = "does not exist" if not entry.exists else f"belongs to {entry.owner or 'root'}"
            yield Fault(
                f"{key} {value.text}: {entry.path} {what}, and no Prolog makes the user's folder",
                value.place,
                about=key,
            )
