"""Groups of nodes and what they measured to the nodes that hold the others back.

The slowest node sets the pace of a collective, so a set that is slow is halved until the slow ones are among
two or three; each of those is then tried with a partner that is known to be good. Both halves run at the same
time, so 64 nodes take six rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Group = tuple[str, ...]
#: Groups that share no node → GB/s of each; None where one failed.
Measure = Callable[[Sequence[Group]], Mapping[Group, float | None]]
#: A group is as good as the best when it reaches this part of it.
_ALIKE = 0.85


@dataclass(frozen=True)
class Found:
    """`slow` holds node → GB/s with a good partner; `alike`: no node is slower than the rest; `together` are
    groups that are slow without a good partner to tell their nodes apart."""

    slow: Mapping[str, float | None]
    together: tuple[Group, ...]
    alike: bool
    rounds: int
    measured: Mapping[Group, float | None]


def find_slow(nodes: Sequence[str], measure: Measure, good: float) -> Found:
    """`good`: GB/s from which a group needs no closer look."""
    measured: dict[Group, float | None] = {}
    rounds = 0
    suspects: list[Group] = [tuple(nodes)]
    last: list[Group] = []
    while suspects:
        pieces = [piece for group in suspects for piece in _halves(group)]
        if len(nodes) >= 4 and pieces:
            measured.update(measure(pieces))
            rounds += 1
        bad = [piece for piece in pieces if _bad(measured.get(piece), good)]
        suspects = [piece for piece in bad if len(piece) > 3]
        last += [piece for piece in bad if len(piece) <= 3]
        if len(nodes) < 4:
            last = [tuple(nodes)]
            break
    best = max((value for value in measured.values() if value), default=0.0)
    last = [group for group in last if not _near(measured.get(group), best)]
    if not last:
        return Found({}, (), True, rounds, measured)
    partners = _partners(measured, best, last)
    if not partners:
        return Found({}, tuple(last), False, rounds, measured)
    slow: dict[str, float | None] = {}
    candidates = list(dict.fromkeys(node for group in last for node in group))
    while candidates:
        now, candidates = candidates[: len(partners)], candidates[len(partners) :]
        pairs: list[Group] = [(node, partner) for node, partner in zip(now, partners, strict=False)]
        result = measure(pairs)
        rounds += 1
        measured.update(result)
        slow.update({pair[0]: result.get(pair) for pair in pairs if not _near(result.get(pair), best)})
    return Found(slow, (), not slow, rounds, measured)


def _halves(group: Group) -> list[Group]:
    middle = len(group) // 2
    return [group[:middle], group[middle:]] if len(group) >= 4 else [group]


def _bad(value: float | None, good: float) -> bool:
    return value is None or value < good


def _near(value: float | None, best: float) -> bool:
    return value is not None and value >= _ALIKE * best > 0


def _partners(measured: Mapping[Group, float | None], best: float, last: Sequence[Group]) -> list[str]:
    """Nodes of groups that are as good as the best."""
    suspected = {node for group in last for node in group}
    groups = [group for group, value in measured.items() if _near(value, best)]
    return list(dict.fromkeys(node for group in groups for node in group if node not in suspected))
