"""Evidence and rules to findings: each rule under each release that is in question, suppressed ones taken
out.

Without a release every rule that depends on one is asked under all of them. What then holds in the newest one
keeps its severity and names its releases; what holds only in older ones is an info.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from slurmwright.core.finding import Finding, Severity
from slurmwright.core.release import SERIES, Release
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import Fault, Repair, Rule
from slurmwright.rules.suppress import Allowed, allowed, is_allowed

#: More findings of one rule in one file are counted, not listed.
MAX_PER_FILE = 50
#: So many of them know of each other: the same mistake made twice is mended twice.
MAX_OTHERS = 5

_ORDER = {severity: at for at, severity in enumerate(Severity)}


@dataclass(frozen=True)
class Judged:
    """One finding with what `--fix` would do about it."""

    finding: Finding
    repair: Repair | None = field(default=None, compare=False)


def judge(
    hosts: Sequence[Evidence], rules: Iterable[Rule], release: Release | None = None
) -> tuple[Judged, ...]:
    """Every finding on every host, worst first within its file's lines; equal ones of several hosts are
    one."""
    found: dict[tuple[object, ...], Judged] = {}
    names: dict[tuple[object, ...], list[str]] = {}
    chosen = tuple(rules)
    for seen in hosts:
        for judged in _on_host(seen, chosen, release):
            one = judged.finding
            key = (one.rule, one.file, one.line, one.message)
            found.setdefault(key, judged)
            names.setdefault(key, []).append(seen.host)
    result = [
        replace(judged, finding=replace(judged.finding, host=",".join(sorted(set(filter(None, names[key]))))))
        for key, judged in found.items()
    ]
    return tuple(sorted(result, key=lambda judged: _position(judged.finding)))


def _position(finding: Finding) -> tuple[object, ...]:
    return (_ORDER[finding.severity], finding.file, finding.line, finding.rule, finding.message)


def _on_host(seen: Evidence, rules: tuple[Rule, ...], release: Release | None) -> Iterator[Judged]:
    comments = {path: allowed(file.text) for path, file in seen.files.items()}
    for rule in rules:
        faults = _under_one(rule, seen, release) if release else _under_all(rule, seen)
        yield from _listed(rule, faults, seen, comments)


def _under_one(rule: Rule, seen: Evidence, release: Release) -> Iterator[Fault]:
    if rule.holds_in(release):
        yield from rule.check(seen.with_release(release))


def _under_all(rule: Rule, seen: Evidence) -> Iterator[Fault]:
    """The faults under every release, told once with the releases they occur in."""
    newest = SERIES[-1]
    if not rule.varies:
        yield from rule.check(seen.with_release(Release(newest)))
        return
    found: dict[tuple[object, ...], dict[str, Fault]] = {}
    for series in SERIES:
        for fault in _under_one(rule, seen, Release(series)):
            found.setdefault((fault.place, fault.about or fault.fix), {})[series] = fault
    for by_series in found.values():
        last = by_series[max(by_series)]
        if len(by_series) == len(SERIES):
            yield last
            continue
        severity = last.severity if newest in by_series else Severity.INFO
        where = _spans(tuple(by_series))
        yield replace(last, severity=severity, message=f"in Slurm {where}: {last.message}")


def _spans(series: tuple[str, ...]) -> str:
    """("22.05", "23.02", "24.05") → `22.05 to 23.02 and 24.05`."""
    runs: list[list[str]] = []
    for one in sorted(series):
        if runs and SERIES.index(one) == SERIES.index(runs[-1][-1]) + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    texts = []
    for run in runs:
        later = " and later" if run[-1] == SERIES[-1] else ""
        texts.append(run[0] + later if len(run) == 1 or later else f"{run[0]} to {run[-1]}")
    return " and ".join(texts)


def _listed(
    rule: Rule, faults: Iterator[Fault], seen: Evidence, comments: dict[str, tuple[Allowed, ...]]
) -> Iterator[Judged]:
    """The faults that no comment allows, as findings that know of each other; too many are counted."""
    by_file: dict[str, list[Fault]] = {}
    for fault in faults:
        if not is_allowed(rule.id, rule.name, fault.place.line, comments.get(fault.place.file, ())):
            by_file.setdefault(fault.place.file, []).append(fault)
    for found in by_file.values():
        for fault in found[:MAX_PER_FILE]:
            others = tuple(f"also {_told(one)}" for one in found[:MAX_OTHERS] if one is not fault)
            with_others = replace(fault, evidence=fault.evidence + others)
            yield Judged(_finding(rule, with_others, seen), fault.repair)
        more = len(found) - MAX_PER_FILE
        if more > 0:
            last = found[MAX_PER_FILE]
            yield Judged(_finding(rule, replace(last, message=f"{more} more places like these follow"), seen))


def _told(fault: Fault) -> str:
    where = f"line {fault.place.line}: " if fault.place.line else ""
    return where + fault.message[:200]


def _finding(rule: Rule, fault: Fault, seen: Evidence) -> Finding:
    file = seen.files.get(fault.place.file) or seen.captures.get(fault.place.file)
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=fault.severity or rule.severity,
        message=printable(fault.message),
        file=printable(file.shown if file else fault.place.file),
        line=fault.place.line,
        host=seen.host,
        evidence=tuple(printable(text) for text in fault.evidence),
        fix=printable(fault.fix or rule.fix),
    )


def printable(text: str) -> str:
    """The text with every byte that no terminal or report should get written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape", "backslashreplace").decode()
        for c in text
    )
