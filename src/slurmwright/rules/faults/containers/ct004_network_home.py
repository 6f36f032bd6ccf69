"""CT004: the root file systems of containers lie on a network file system."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.containers_seen import ENROOT, enroot_settings, has_enroot
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.listings_seen import mount_of, mounts
from slurmwright.rules.rule import WARNING, Fault, Place, Scope, rule


@rule(
    "CT004",
    "containers-on-the-network",
    WARNING,
    scope=Scope.FACTS,
    why="""A root file system on NFS has no upper layer of overlayfs, unpacks slowly, and when several nodes
        share the folder removing it ends with stale file handles. Only the read-only cache may be
        shared.""",
    fix="ENROOT_DATA_PATH and ENROOT_TEMP_PATH on a local disk, for example /raid/enroot-data/user-$(id -u)",
    references=(
        "https://github.com/NVIDIA/pyxis/issues/18",
        "https://github.com/NVIDIA/enroot/blob/master/doc/configuration.md",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    if not has_enroot(seen):
        return
    settings, known = enroot_settings(seen), mounts(seen)
    for key in ("ENROOT_DATA_PATH", "ENROOT_TEMP_PATH", "ENROOT_RUNTIME_PATH"):
        found = settings.get(key)
        if found is None and key != "ENROOT_DATA_PATH":
            continue
        text = found.text if found else "${HOME}/.local/share/enroot"
        path = _HOME.sub("/home/user", text).partition("$")[0]
        mount = mount_of(path.rstrip("/"), known)
        if mount is not None and mount.over_network:
            yield Fault(
                f"{key} {text} lies on {mount.path}, which is {mount.kind}",
                found.place if found else Place(ENROOT),
                about=key,
            )


_HOME = re.compile(r"\$\{?(?:HOME|XDG_DATA_HOME|XDG_CACHE_HOME)\}?")
