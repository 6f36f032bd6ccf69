"""What hosts hold against what was pushed last: files edited there, line by line and by meaning.

What surprises: a file that is what the plan brings anyway is no drift, and neither is one that only a later
rendering says otherwise; both are seen as soon as the bundle that was pushed last is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from slurmwright.conf.meaning.said import folded
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand
from slurmwright.plan.changes import raw_changes
from slurmwright.plan.lines import difference
from slurmwright.plan.secrets import without_secrets
from slurmwright.plan.sides import MAIN, is_slurms, side_of


@dataclass(frozen=True)
class Drift:
    """One file that hosts hold otherwise. `lines` are those of a diff; `meaning` is (subject, pushed, held),
    empty where the edit means nothing to Slurm or the file is not one of its own."""

    hosts: tuple[str, ...]
    path: str
    lines: tuple[str, ...]
    meaning: tuple[tuple[str, str | None, str | None], ...] = ()
    slurms: bool = False

    def as_json(self) -> dict[str, object]:
        return {
            "hosts": list(self.hosts),
            "path": self.path,
            "lines": list(self.lines),
            "meaning": [dict(zip(("subject", "old", "new"), row, strict=True)) for row in self.meaning],
        }


def drift_of(live: Bundle, new: Bundle, former: Bundle | None) -> tuple[Drift, ...]:
    """`former` was pushed last; where it is not known, copies that differ among themselves tell alone."""
    live, new = without_secrets(live, new)
    pushed = without_secrets(live, former)[1] if former else None
    held, wanted = _by_host(live), _by_host(new)
    expected = _by_host(pushed) if pushed else _widest(live, held)
    found: dict[tuple[str, BundleFile | None, str], list[str]] = {}
    for (path, host), file in held.items():
        last, next_ = expected.get((path, host)), wanted.get((path, host))
        if not any(other is not None and _content(file) == _content(other) for other in (last, next_)):
            found.setdefault((path, last, repr(_content(file))), []).append(host)
    read = {host for _, host in held}
    for (path, host), last in expected.items():
        # A host of which nothing is known, or that leaves, holds no file that could be missing.
        if (path, host) not in held and (path, host) in wanted and host in read:
            found.setdefault((path, last, ""), []).append(host)
    return tuple(
        _drift(path, last, held.get((path, hosts[0])), tuple(sorted(hosts)), live, pushed or new)
        for (path, last, _), hosts in sorted(found.items(), key=lambda item: (item[0][0], item[1]))
    )


def _drift(
    path: str,
    last: BundleFile | None,
    now: BundleFile | None,
    hosts: tuple[str, ...],
    live: Bundle,
    pushed: Bundle,
) -> Drift:
    lines = tuple(_lines(last, now))
    try:
        own = is_slurms(path, side_of(live).folder)
        meaning = tuple(_meaning(path, hosts[0], live, pushed)) if own and last and now else ()
    except InputError:
        own, meaning = True, ()
    return Drift(hosts, path, lines, meaning, own)


def _lines(last: BundleFile | None, now: BundleFile | None) -> Iterator[str]:
    if last is None:
        yield "was not pushed from here"
        return
    if now is None:
        yield "was pushed and is gone"
        return
    for word in ("owner", "group", "mode"):
        one, two = getattr(last, word), getattr(now, word)
        if one != two:
            yield f"{word} {one} is now {two}"
    yield from difference(last.text, now.text)


def _meaning(
    path: str, host: str, live: Bundle, pushed: Bundle
) -> Iterator[tuple[str, str | None, str | None]]:
    """The differences of one host's copy, the other files being as they were pushed."""
    one = [file for file in live.files if file.path == path and host in expand(file.hosts)]
    others = [file for file in pushed.files if file.path != path]
    before = [file for file in pushed.files if file.path == path and host in expand(file.hosts)]
    sides = [side_of(replace(pushed, files=tuple(sorted([*others, *own])))) for own in (before, one)]
    name = path.rpartition("/")[2]
    for raw in raw_changes(*sides):
        if raw.file == name or name == MAIN:
            yield raw.subject, raw.old, raw.new


def _by_host(bundle: Bundle) -> dict[tuple[str, str], BundleFile]:
    return {(file.path, host): file for file in bundle.files for host in expand(file.hosts)}


def _widest(live: Bundle, held: Mapping[tuple[str, str], BundleFile]) -> dict[tuple[str, str], BundleFile]:
    """For each host the copy that most hosts hold."""
    best: dict[str, BundleFile] = {}
    for file in live.files:
        other = best.get(file.path)
        if other is None or len(expand(file.hosts)) > len(expand(other.hosts)):
            best[file.path] = file
    return {(path, host): best[path] for path, host in held}


def _content(file: BundleFile) -> tuple[str, ...]:
    return file.owner, file.group, file.mode, file.text


def told(drift: Drift) -> str:
    """`/etc/slurm/slurm.conf on ctl2`, as a heading."""
    return f"{drift.path} on {folded(drift.hosts)}"
