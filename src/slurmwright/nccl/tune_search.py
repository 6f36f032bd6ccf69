"""Measurements of settings to the one that is better beyond the noise, or to none.

Coordinate search: one variable after the other on top of the best so far, values in random order, the best so
far measured again in between. A gain counts only when fresh runs repeat it, since the best of many noisy runs
is too good by chance; and at the end fresh runs of the result and of the untouched start must differ again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log, sqrt
from statistics import fmean

#: A gain below this is none, however quiet the cluster is.
LEAST_GAIN = 0.02
_SIGMAS, _BASELINE, _CONFIRM, _FINAL, _BETWEEN = 3.0, 4, 3, 4, 5
Setting = Mapping[str, str]
#: The score of one run under a setting; None where it failed, hung or gave wrong results.
Measure = Callable[[Setting], float | None]


class NoBaselineError(Exception):
    """The untouched cluster could not be measured."""


@dataclass(frozen=True)
class Tuned:
    """`gain`: fresh runs against fresh runs of the start; without a setting nothing beat the noise."""

    setting: Setting
    gain: float
    noise: float
    baseline: float
    best: float
    runs: int
    rejected: Mapping[str, str]
    spent: bool


@dataclass
class _Search:
    measure: Measure
    budget: int
    #: Logarithms of scores of repeated settings: what differs within one list is noise.
    repeated: dict[tuple[tuple[str, str], ...], list[float]] = field(default_factory=dict)
    runs: int = 0
    rejected: dict[str, str] = field(default_factory=dict)

    def run(self, setting: Setting) -> float | None:
        self.runs += 1
        score = self.measure(setting)
        value = log(score) if score and score > 0 else None
        if value is not None:
            self.repeated.setdefault(tuple(sorted(setting.items())), []).append(value)
        return value

    def several(self, setting: Setting, count: int) -> list[float]:
        return [value for value in (self.run(setting) for _ in range(count)) if value is not None]

    @property
    def left(self) -> int:
        return self.budget - self.runs

    @property
    def noise(self) -> float:
        """Standard deviation of one run, pooled over every setting that was repeated."""
        groups = [group for group in self.repeated.values() if len(group) > 1]
        squares = sum(sum((value - fmean(group)) ** 2 for value in group) for group in groups)
        freedom = sum(len(group) - 1 for group in groups)
        return sqrt(squares / freedom) if freedom else 0.0

    def beats(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Is the mean of `one` above that of `other` beyond the noise?"""
        if not one or not other:
            return False
        margin = _SIGMAS * self.noise * sqrt(1 / len(one) + 1 / len(other))
        return fmean(one) - fmean(other) > max(log(1 + LEAST_GAIN), margin)


def tune(
    variables: Mapping[str, Sequence[str | None]], measure: Measure, budget: int = 60, seed: int = 1
) -> Tuned:
    """At most `budget` runs. Deterministic for a seed and given scores, so that it can be replayed."""
    order = random.Random(seed)  # noqa: S311 - the order of measurements is no secret
    search = _Search(measure, budget)
    start = search.several({}, _BASELINE)
    if len(start) < 2:
        raise NoBaselineError
    best: dict[str, str] = {}
    known = list(start)
    again = True
    while again and search.left > 2 * _FINAL:
        again = False
        for name, values in variables.items():
            found, known = _one(search, best, known, name, values, order)
            again |= found is not None and len(variables) > 1
            if found is not None:
                best = found
    return _final(search, best, start)


def _one(
    search: _Search,
    best: Mapping[str, str],
    known: list[float],
    name: str,
    values: Sequence[str | None],
    order: random.Random,
) -> tuple[dict[str, str] | None, list[float]]:
    """The better setting of one variable with its scores, or None with what is known of the best so far."""
    todo = [value for value in values if value != best.get(name)]
    order.shuffle(todo)
    winner: tuple[float, dict[str, str]] | None = None
    for value in todo:
        if search.left <= 2 * _FINAL + _CONFIRM + 1:
            break
        if search.runs % _BETWEEN == 0 and (fresh := search.run(best)) is not None:
            known.append(fresh)
        setting = _with(best, name, value)
        score = search.run(setting)
        if score is None:
            search.rejected[f"{name}={value or 'unset'}"] = "failed, hung or gave wrong results"
        elif score - fmean(known) > log(1 + LEAST_GAIN) and (winner is None or score > winner[0]):
            winner = score, setting
    if winner is None or search.left < 2 * _FINAL + _CONFIRM + 1:
        return None, known
    fresh_scores, against = [], []
    for at in range(_CONFIRM):
        fresh_scores += search.several(winner[1], 1)
        against += search.several(best, 1) if at == 1 else []
    known = known + against
    if len(fresh_scores) == _CONFIRM and search.beats(fresh_scores, known):
        return winner[1], fresh_scores
    return None, known


def _with(best: Mapping[str, str], name: str, value: str | None) -> dict[str, str]:
    rest = {key: kept for key, kept in best.items() if key != name}
    return rest if value is None else {**rest, name: value}


def _final(search: _Search, best: Mapping[str, str], start: Sequence[float]) -> Tuned:
    spent = search.left < 2 * _FINAL
    if not best:
        return Tuned(
            {}, 0.0, search.noise, exp(fmean(start)), exp(fmean(start)), search.runs, search.rejected, spent
        )
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(_FINAL):
        ours += search.several(best, 1)
        theirs += search.several({}, 1)
    proved = len(ours) == _FINAL and search.beats(ours, theirs)
    gain = exp(fmean(ours) - fmean(theirs)) - 1 if ours and theirs else 0.0
    baseline, reached = (exp(fmean(part)) if part else 0.0 for part in (theirs, ours))
    if not proved:
        return Tuned({}, 0.0, search.noise, baseline, baseline, search.runs, search.rejected, spent)
    return Tuned(dict(best), gain, search.noise, baseline, reached, search.runs, search.rejected, spent)
