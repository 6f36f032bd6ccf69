"""Global settings of slurm.conf, cgroup.conf and slurmdbd.conf to what they mean."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.catalogue.options import Option, lookup
from slurmwright.catalogue.words import vocabulary
from slurmwright.conf.meaning.said import Key, Said, truth
from slurmwright.conf.tree import Line, Tree
from slurmwright.conf.values import RECORD_KEYS
from slurmwright.core.release import Release

#: Older names of SlurmctldHost: (host, address), primary first (slurm.conf(5)).
_OLD_HOSTS = (("controlmachine", "controladdr"), ("backupcontroller", "backupaddr"))
_OLD = frozenset(key for pair in _OLD_HOSTS for key in pair)
_CONTROLLERS = "slurmctldhost"
#: Settings whose lines Slurm collects in every release; `Prolog` and its like from 24.05 on.
_COLLECTED_SINCE = {
    _CONTROLLERS: "22.05",
    **dict.fromkeys(("prolog", "epilog", "prologslurmctld", "epilogslurmctld"), "24.05"),
}


def settings_of(file: str, tree: Tree, release: Release) -> Iterator[tuple[Key, Said]]:
    """Every global setting of one file, by its key in lower case."""
    found: dict[str, list[Line]] = {}
    for line in tree.lines:
        key = line.statement.key.lower()
        if key and key not in RECORD_KEYS:
            found.setdefault(key, []).append(line)
    if file == "slurm.conf":
        yield from _old_controllers(file, found)
    for key, lines in found.items():
        if file == "slurm.conf" and key in _OLD:
            continue
        kept = lines if collected(key, release) else lines[-1:]
        option = lookup(file, "global", key)
        values = [line.statement.pairs[0].value for line in kept]
        normal = "\n".join(normal_value(option, key, value, release) for value in values)
        place = kept[0]
        yield (file, "", key), Said(normal, ", ".join(values), place.doc.file, place.statement.line)


def collected(key: str, release: Release) -> bool:
    """Does this release take every line of a global key, instead of the last one?"""
    since = _COLLECTED_SINCE.get(key.lower())
    return since is not None and release.at_least(since)


def normal_value(option: Option | None, key: str, value: str, release: Release) -> str:
    """One value as the daemon takes it. Plugins run in their order, flags and words have none."""
    text = value.strip()
    if key == "clustername" or option is None:
        return text.lower() if key == "clustername" else text
    if option.type_in(release) == "bool":
        return truth(text)
    if option.words is None:
        return text
    words = vocabulary(option.words)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if words.kind == "parameters":
        return ",".join(sorted(parts))
    low = [part.lower() for part in parts]
    if words.kind == "enums" or key.lower() == "grestypes":
        low.sort()
    return ",".join(p if "/" in p or not words.prefix else words.prefix + p for p in low)


def _old_controllers(file: str, found: dict[str, list[Line]]) -> Iterator[tuple[Key, Said]]:
    """ControlMachine and BackupController, as SlurmctldHost would say them."""
    if _CONTROLLERS in found:
        return
    said: list[str] = []
    place: Line | None = None
    for host_key, address_key in _OLD_HOSTS:
        if host_key not in found:
            continue
        line = found[host_key][-1]
        place = place or line
        host = line.statement.pairs[0].value
        address = found[address_key][-1].statement.pairs[0].value if address_key in found else ""
        said.append(f"{host}({address})" if address and address != host else host)
    if place is not None:
        text = "\n".join(said)
        yield (file, "", _CONTROLLERS), Said(text, ", ".join(said), place.doc.file, place.statement.line)
