"""A plan and what hosts hold now: is it still the plan that was made for them?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slurmwright.apply import passwords, placing
from slurmwright.apply.control import names
from slurmwright.apply.hosts import UNREACHED, Hosts, on_each
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.hosts import expand
from slurmwright.plan import Plan

Files = Mapping[tuple[str, str], BundleFile]


@dataclass(frozen=True)
class Held:
    """What was seen: `away` are hosts with the reason why they did not answer, `stale` sentences about files
    that are neither the plan's former nor its new ones."""

    away: Mapping[str, str]
    stale: tuple[str, ...]


def files_of(bundle: Bundle) -> Files:
    """(host, path) → the file."""
    return {(host, file.path): file for file in bundle.files for host in expand(file.hosts)}


def pushed(plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """host → the paths that the plan changes there."""
    found: dict[str, list[str]] = {}
    for step in plan.steps:
        for host in names(step.hosts) if step.action == "stage" else ():
            found.setdefault(host, []).extend(step.files)
    return {host: tuple(sorted(set(paths))) for host, paths in sorted(found.items())}


def look(plan: Plan, hosts: Hosts) -> Held:
    """Ask every host that the plan contacts."""
    old, new, paths = files_of(plan.old), files_of(plan.new), pushed(plan)

    def ask(host: str) -> tuple[str, tuple[str, ...]]:
        mine = paths.get(host, ())
        done = hosts.run(host, placing.sums(mine).argv, limit_s=30)
        if not done.ok:
            return done.last_line if done.code != UNREACHED else f"not reached: {done.last_line}", ()
        sums = placing.read_sums(done.out)
        sides = {path: (old.get((host, path)), new.get((host, path))) for path in mine}
        return "", tuple(_stale(host, sides, sums, hosts))

    said = on_each(plan.hosts_contacted, ask)
    away = {host: why for host, (why, _) in said.items() if why}
    return Held(away, tuple(line for _, lines in said.values() for line in lines))


def _stale(
    host: str,
    sides: Mapping[str, tuple[BundleFile | None, BundleFile | None]],
    sums: Mapping[str, str],
    hosts: Hosts,
) -> Iterator[str]:
    for path, files in sides.items():
        seen = sums.get(path, "none")
        if seen in [placing.sha256(file.text) if file else "none" for file in files]:
            continue
        texts = [file.text for file in files if file is not None]
        if seen not in ("none", "link") and any(map(passwords.has_password, texts)):
            held = passwords.blank(hosts.run(host, ["cat", path]).out)
            if held in map(passwords.blank, texts):
                continue
        what = {"none": "is missing", "link": "is a link"}.get(seen, f"is another (sha256 {seen[:12]})")
        yield f"{host}: {path} {what}"
