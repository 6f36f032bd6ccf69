"""Two bundles to which file differs on which hosts, Slurm's own files by whom they are held only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slurmwright.conf.meaning.said import folded
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.hosts import expand
from slurmwright.plan.lines import difference
from slurmwright.plan.raw import DRIFT, HELD, Raw
from slurmwright.plan.sides import Side, is_slurms

#: Lines of a copy that differs, as the plan shows them.
_SHOWN = 3
_Held = tuple[BundleFile | None, BundleFile | None]


def differing(old: Bundle, new: Bundle) -> Mapping[tuple[str, _Held], tuple[str, ...]]:
    """(path, (former, new)) → the hosts on which that file differs; a side is None where a host has none."""
    sides = [_by_path(bundle) for bundle in (old, new)]
    found: dict[tuple[str, _Held], list[str]] = {}
    for path in sorted({*sides[0], *sides[1]}):
        one, two = sides[0].get(path, {}), sides[1].get(path, {})
        left, right = _apart(one, two), _apart(two, one)
        for host in sorted({*left, *right}):
            pair = (left.get(host), right.get(host))
            if _content(pair[0]) != _content(pair[1]):
                found.setdefault((path, pair), []).append(host)
    return {key: tuple(hosts) for key, hosts in found.items()}


def file_changes(old: Side, new: Side) -> Iterator[Raw]:
    """What differs beside the meaning of Slurm's own files."""
    gone, come = set(old.nodes.values()), set(new.nodes.values())
    for (path, (one, two)), hosts in differing(old.bundle, new.bundle).items():
        own = is_slurms(path, new.folder) or is_slurms(path, old.folder)
        if own and one and two and _owner(one) == _owner(two):
            main = old.files.get(path.rpartition("/")[2])
            if main is not None and main.text != one.text:
                yield _drift(path, one, two, hosts)
            continue
        if own and (path in (f.path for f in old.bundle.files)) != (
            path in (f.path for f in new.bundle.files)
        ):
            continue
        if one is None or two is None:
            # What a host gets or loses with its node goes with the node.
            other = come - gone if one is None else gone - come
            hosts = tuple(host for host in hosts if host not in other)
        if not hosts:
            continue
        kind = "added" if one is None else "removed" if two is None else "changed"
        yield Raw(
            path if not own else path.rpartition("/")[2],
            f"file {path} on {folded(hosts)}",
            kind,
            _told(one, two),
            _told(two, one),
            rows=(HELD,) if own else (),
            hosts=hosts,
        )


def _drift(path: str, one: BundleFile, two: BundleFile, hosts: tuple[str, ...]) -> Raw:
    """Some hosts hold another text than the rest."""
    subject = f"file {path} on {folded(hosts)}, unlike the other hosts"
    lines = tuple(difference(one.text, two.text))
    sides = (_few(lines, "-"), _few(lines, "+"))
    return Raw(path.rpartition("/")[2], subject, "changed", *sides, rows=(DRIFT,), hosts=hosts)


def _few(lines: tuple[str, ...], sign: str) -> str:
    """The first lines of one side; the rest is counted."""
    own = [line[1:].strip() for line in lines if line[:1] == sign]
    more = f" and {len(own) - _SHOWN} lines more" if len(own) > _SHOWN else ""
    return "; ".join(own[:_SHOWN]) + more if own else "no such line"


def _apart(one: Mapping[str, BundleFile], two: Mapping[str, BundleFile]) -> dict[str, BundleFile]:
    """Host → its file, without hosts of a file that stands on both sides in the same words."""
    return {
        host: file
        for hosts, file in one.items()
        if _content(file) != _content(two.get(hosts))
        for host in expand(hosts)
    }


def _by_path(bundle: Bundle) -> dict[str, dict[str, BundleFile]]:
    found: dict[str, dict[str, BundleFile]] = {}
    for file in bundle.files:
        found.setdefault(file.path, {})[file.hosts] = file
    return found


def _content(file: BundleFile | None) -> tuple[str, ...] | None:
    return (*_owner(file), file.text) if file is not None else None


def _owner(file: BundleFile) -> tuple[str, ...]:
    return file.owner, file.group, file.mode


def _told(file: BundleFile | None, other: BundleFile | None) -> str | None:
    if file is None:
        return None
    text = f"{file.owner}:{file.group} {file.mode}"
    if other is None or _owner(file) == _owner(other):
        return f"sha256 {file.sha256[:12]}"
    return text
