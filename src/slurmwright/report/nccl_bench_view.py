"""What NCCL reached to a text with a table, and to an SVG plot with its bound and earlier results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import log2
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

_WIDE, _HIGH, _LEFT, _TOP = 760, 420, 60, 30
_COLOURS = ("#1f77b4", "#999999", "#bbbbbb", "#dddddd")


def draw_bench(one: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> RenderableType:
    """Measured, bound and ratio; sizes; rails; the nodes that hold the others back; causes in their order."""
    return Group(*_parts(one, before))


def _parts(one: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[RenderableType]:
    head = f"{one['operation']} over {one['node_count']} nodes of {one['type']} ({one['fabric']})"
    yield Text.assemble((head, "bold"), f", {one['program']}, NCCL {one['nccl'] or 'not told'}")
    yield Text(_verdict(one))
    for trap in one["traps"]:
        yield Text.assemble((f"{trap['name']}: ", "bold red"), trap["message"])
        yield Text(f"  fix: {trap['fix']}")
    if one["sizes"]:
        yield _sizes(one, before)
        yield Text(
            f"peak {max(row['busbw'] for row in one['sizes']):.1f} GB/s; the average of all sizes says little"
        )
    if one["rails"]:
        yield _rails(one)
    yield from _nodes(one)
    if before and before.get("measured") and one["measured"]:
        change = one["measured"] / before["measured"] - 1
        yield Text(f"earlier, {before['time']}: {before['measured']:.1f} GB/s ({change:+.1%} since)")
    for at, cause in enumerate(one["causes"], 1):
        yield Text(f"{at}. {cause['cause']}\n   check: {cause['check']}")


def _verdict(one: Mapping[str, Any]) -> str:
    reach, measured = one["bound"], one["measured"]
    if measured is None:
        return "measured: nothing that counts"
    told = f"measured {measured:.1f} GB/s"
    if reach["expected"]:
        told += f", expected {reach['expected']:.1f}, ratio {one['ratio']:.0%}"
        told += f" ({_word(one)})"
    if reach["limit"]:
        told += f"; no algorithm passes {reach['limit']:.1f}"
    return f"{told}; bound by {reach['why']}"


def _word(one: Mapping[str, Any]) -> str:
    if one["flagged"]:
        return "too slow"
    return "good" if one["ratio"] >= one["good_from"] else f"fair; good from {one['good_from']:.0%}"


def _sizes(one: Mapping[str, Any], before: Mapping[str, Any] | None) -> Table:
    table = Table(box=None, pad_edge=False)
    earlier = {row["size"]: row["busbw"] for row in (before or {}).get("sizes", ())}
    for name in ("size", "busbw GB/s", *(("earlier",) if earlier else ()), "of expected"):
        table.add_column(name, justify="right")
    for row in one["sizes"]:
        reach = one["bound"]["expected"]
        old = [f"{earlier[row['size']]:.1f}" if row["size"] in earlier else ""] if earlier else []
        table.add_row(
            _size(row["size"]), f"{row['busbw']:.1f}", *old, f"{row['busbw'] / reach:.0%}" if reach else ""
        )
    return table


def _rails(one: Mapping[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("rail", "busbw GB/s", "expected", ""):
        table.add_column(name)
    for name, rail in one["rails"].items():
        told = "failed" if rail["measured"] is None else f"{rail['measured']:.1f}"
        mark = "slow" if name in one["slow_rails"] else ""
        table.add_row(name, told, f"{rail['expected']:.1f}" if rail["expected"] else "", mark)
    return table


def _nodes(one: Mapping[str, Any]) -> Iterator[Text]:
    where = f" on rail {one['searched_rail']}" if one["searched_rail"] else ""
    for node, speed in one["slow_nodes"].items():
        told = "failed" if speed is None else f"{speed:.1f} GB/s with a good partner"
        yield Text.assemble(("slow node ", "bold red"), f"{node}{where}: {told}")
    for group in one["slow_together"]:
        yield Text(f"slow together{where}: {', '.join(group)}; no good partner tells them apart")
    if one["nodes_alike"]:
        yield Text(f"no node is slower than the others{where}: the cause is common to all")
    if one["left_out"]:
        yield Text("left out: " + ", ".join(f"{node} ({state})" for node, state in one["left_out"].items()))


def _size(size: int) -> str:
    for unit, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


def bench_svg(one: Mapping[str, Any], before: Sequence[Mapping[str, Any]] = ()) -> str:
    """Bus bandwidth by size, with what is expected and possible as lines."""
    series = [one, *before[:3]]
    points = [row for part in series for row in part["sizes"]]
    lines = {name: one["bound"][name] for name in ("expected", "limit") if one["bound"][name]}
    top: float = max([row["busbw"] for row in points] + list(lines.values()) + [1.0]) * 1.05
    sizes = sorted({row["size"] for row in points}) or [1, 2]
    low, high = log2(sizes[0]), max(log2(sizes[-1]), log2(sizes[0]) + 1)

    def x(size: int) -> float:
        return _LEFT + (log2(size) - low) / (high - low) * (_WIDE - _LEFT - 20)

    def y(speed: float) -> float:
        return _TOP + (1 - speed / top) * (_HIGH - _TOP - 40)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{_WIDE}" height="{_HIGH}" fill="white"/>',
        f'<text x="{_LEFT}" y="18">{escape(one["operation"])}, {one["node_count"]} nodes of '
        f"{escape(one['type'])}: bus bandwidth, GB/s</text>",
    ]
    for name, value in lines.items():
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDE - 20}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#d62728" '
            f'stroke-dasharray="5"/><text x="{_LEFT + 4}" y="{y(value) - 3:.1f}">{name} {value:g}</text>'
        )
    for colour, part in reversed(list(zip(_COLOURS, series, strict=False))):
        way = " ".join(f"{x(row['size']):.1f},{y(row['busbw']):.1f}" for row in part["sizes"])
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for size in sizes[:: max(1, len(sizes) // 8)]:
        parts.append(f'<text x="{x(size):.1f}" y="{_HIGH - 18}" text-anchor="middle">{_size(size)}</text>')
    for step in range(5):
        value = top * step / 4
        parts.append(f'<text x="{_LEFT - 6}" y="{y(value):.1f}" text-anchor="end">{value:.0f}</text>')
    return "\n".join([*parts, "</svg>", ""])
