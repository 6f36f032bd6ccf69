"""A difference and a release to its effects: the catalogue's rows, the one that asks most for each daemon.

A key that no release knows counts as the worst there is, and the plan says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slurmwright.catalogue.effects import OTHER, Effect, Rule, effect, rows_of
from slurmwright.catalogue.file_effects import file_effect
from slurmwright.conf.meaning.nodes import gres_entries
from slurmwright.core.release import Release
from slurmwright.plan.raw import DRIFT, HELD, Raw
from slurmwright.plan.values import DRAINS, Change, Effects, worst

_GRES = "slurm.conf:NodeName.Gres"
_SHARED = ("shard", "mps")
_WORST = Effects("stop", "stop", "stop", drain="all", everywhere=True, clients=True)
_NOTHING = ("none", "none", "none")
#: action of the catalogue → what slurmctld, slurmd and slurmdbd do.
_ACTIONS = {
    "reconfigure": ("reconfigure", "reconfigure", "none"),
    "restart_ctld": ("restart", "none", "none"),
    "restart_slurmd": ("none", "restart", "none"),
    "restart_slurmd_all": ("none", "restart", "none"),
    "restart_dbd": ("none", "none", "restart"),
    "stop_ctld": ("stop", "none", "none"),
    "stop_all": ("stop", "stop", "stop"),
    "reboot": ("none", "restart", "none"),
}
_EVERYWHERE = ("restart_slurmd_all", "stop_all")


def change_of(raw: Raw, release: Release) -> Change:
    """The difference with everything that follows from it."""
    if raw.unknown:
        why = f"no Slurm from 22.05 to 26.05 is known to have {raw.subject}: taken for the worst there is"
        return _change(raw, _WORST, "no row of the catalogue", "none may run", why)
    if raw.rows == (HELD,):
        return _change(raw, Effects(), "the same text for other hosts", "unaffected", "")
    if raw.rows == (DRIFT,):
        why = "edited by hand, or left out of the last push: look at it before it is overwritten"
        return _change(
            raw, Effects("reconfigure", "restart"), "the copies of the other hosts", "unaffected", why
        )
    if raw.file.startswith("/"):
        return _file_change(raw)
    rows = tuple(_rows(raw))
    rules = [(row, row.rule_in(release)) for row in rows]
    held = [(row, rule) for row, rule in rules if rule is not None]
    return _change(
        raw,
        _together(_effects(rule) for _, rule in held),
        "; ".join(_source(row, rule) for row, rule in held) or f"nothing of Slurm {release} reads it",
        " / ".join(dict.fromkeys(row.running_jobs for row, _ in held if row.running_jobs)),
        " / ".join(dict.fromkeys(text for row, rule in held for text in _why(row, rule))),
        tuple(row.id for row, _ in held),
    )


def _rows(raw: Raw) -> Iterator[Effect]:
    if raw.rows:
        yield from map(effect, raw.rows)
        return
    if raw.keys == (_GRES,):
        yield from map(effect, _gres_rows(raw))
        return
    covered, whole = set[str](), False
    for row in rows_of(raw.keys):
        words = {word.lower() for key in raw.keys for word in row.words_of(key)}
        if words and not words & raw.words:
            continue
        covered |= words
        whole = whole or not words
        yield row
    if not whole and not (raw.words and raw.words <= covered):
        yield effect(OTHER)


def _gres_rows(raw: Raw) -> Iterator[str]:
    sides = [
        {(name, kind): count for name, kind, count in gres_entries(text or "")} for text in (raw.old, raw.new)
    ]
    differing = {key for key in {*sides[0], *sides[1]} if sides[0].get(key) != sides[1].get(key)}
    if any(name in _SHARED for name, _ in differing):
        yield "shared-gres-count"
    types = [{kind.lower() for name, kind in side if name not in _SHARED} for side in sides]
    if any(name not in _SHARED for name, _ in differing):
        yield "gpu-type" if all(types) and types[0] != types[1] else "gpu-count"
    if not differing:
        yield "gpu-type"


def _effects(rule: Rule) -> Effects:
    found = [Effects(*_ACTIONS.get(action, _NOTHING)) for action in rule.actions]
    stops = "stop_all" in rule.actions
    return _together(
        (
            *found,
            Effects(
                drain="all" if stops else rule.drain or "",
                everywhere=any(action in _EVERYWHERE for action in rule.actions),
                clients="restart_clients" in rule.actions or stops,
                reboot="reboot" in rule.actions,
                around=(rule.note,) if "on_host" in rule.actions and rule.note else (),
            ),
        )
    )


def _together(found: Iterable[Effects]) -> Effects:
    every = tuple(found)
    return Effects(
        slurmctld=worst(one.slurmctld for one in every),
        slurmd=worst(one.slurmd for one in every),
        slurmdbd=worst(one.slurmdbd for one in every),
        drain=worst((one.drain for one in every), DRAINS),
        everywhere=any(one.everywhere for one in every),
        clients=any(one.clients for one in every),
        reboot=any(one.reboot for one in every),
        units=tuple(dict.fromkeys(unit for one in every for unit in one.units)),
        reload_units=any(one.reload_units for one in every),
        around=tuple(dict.fromkeys(text for one in every for text in one.around)),
    )


def _file_change(raw: Raw) -> Change:
    row = file_effect(raw.file)
    if row is None:
        why = f"nobody is known to read {raw.file}: taken for the worst there is"
        return _change(raw, _WORST, "no row of the catalogue", "none may run", why)
    effects = Effects(
        slurmctld=row.slurmctld,
        slurmd=row.slurmd,
        slurmdbd=row.slurmdbd,
        drain="nodes" if row.drain else "",
        units=(row.unit,) if row.unit else (),
        reload_units=row.reload,
    )
    return _change(raw, effects, f"{row.id}: {row.source}", row.jobs, row.why, (row.id,))


def _change(
    raw: Raw, effects: Effects, source: str, jobs: str, why: str, rows: tuple[str, ...] = ()
) -> Change:
    return Change(
        raw.file,
        raw.subject,
        raw.kind,
        raw.old,
        raw.new,
        effects,
        source,
        jobs,
        why,
        raw.nodes,
        raw.hosts,
        rows,
        raw.partition,
    )


def _source(row: Effect, rule: Rule) -> str:
    words = [rule.tested and f"tested {rule.tested}", rule.doc or row.doc, rule.certainty]
    return f"{row.id}: {', '.join(word for word in words if word) or 'source code'}"


def _why(row: Effect, rule: Rule) -> Iterator[str]:
    yield from (
        text for text in (rule.danger or row.danger, rule.note, row.note, row.condition, row.also) if text
    )
