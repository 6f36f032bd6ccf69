"""A node as NCCL sees it to a drawing, a table of ways, a JSON document and an SVG picture."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from slurmwright.nccl.topology import TypeTopology
from slurmwright.topology.nccl_tree import Box

FORMAT = "slurmwright/nccl-topo/1"
_CELL, _HIGH = 74, 24
_COLOURS = {
    "LOC": "#ffffff",
    "NVL": "#76b900",
    "PIX": "#a6d96a",
    "PXB": "#d9ef8b",
    "PHB": "#fee08b",
    "SYS": "#f46d43",
}


def topology_json(types: list[TypeTopology]) -> dict[str, Any]:
    """Every type with its tree and its ways, GB/s in one direction, or with what is missing."""
    return {"format": FORMAT, "types": [_type_json(one) for one in types]}


def _type_json(one: TypeTopology) -> dict[str, Any]:
    rows = one.rows
    return {
        "type": one.name,
        "missing": list(one.missing),
        "unknown": list(one.unknown),
        "tree": _box_json(one.whole) if one.whole else None,
        "devices": [{"name": name, "kind": kind, "pci": pci} for name, kind, pci in one.devices],
        "ways": [{"from": a, "to": b, "class": way.kind, "gb_per_s": way.bandwidth} for a, b, way in rows],
    }


def _box_json(box: Box) -> dict[str, Any]:
    return {"element": box.name, **dict(box.attributes), "inside": [_box_json(child) for child in box.inside]}


def draw_topology(types: list[TypeTopology]) -> RenderableType:
    """Each type as a tree of NUMA nodes, switches, GPUs and NICs, then the ways between them."""
    return Group(*(part for one in types for part in _drawn(one)))


def _drawn(one: TypeTopology) -> Iterator[RenderableType]:
    yield Text(one.name, style="bold")
    if one.whole is None:
        yield Text("no topology can be told; missing:")
        yield from (Text(f"  {fact}") for fact in one.missing)
        return
    names = {pci: name for name, kind, pci in one.devices if kind == "gpu"}
    for cpu in one.whole.inside:
        tree = Tree(Text(f"NUMA node {dict(cpu.attributes)['numaid']}"))
        _grow(tree, cpu, names)
        yield tree
    yield from (Text(f"not known: {word}") for word in one.unknown)
    yield Text()
    yield _table(one)
    yield Text()


def _grow(tree: Tree, box: Box, names: dict[str, str]) -> None:
    for child in box.inside:
        words = dict(child.attributes)
        held = {inner.name for inner in child.inside}
        if child.name != "pci":
            continue
        busid = words["busid"]
        if "gpu" in held:
            links = [dict(link.attributes) for gpu in child.inside for link in gpu.inside]
            nvlink = sum(int(link["count"]) for link in links)
            text = f"{names.get(busid, 'GPU')} {busid}" + (f", {nvlink} NVLinks" if nvlink else "")
            tree.add(Text(text))
        elif "nic" in held:
            nets = [dict(net.attributes)["name"] for nic in child.inside for net in nic.inside]
            tree.add(Text(f"{', '.join(nets)} {busid}"))
        else:
            _grow(tree.add(Text(f"switch, {words['link_speed']} x{words['link_width']}")), child, names)


def _table(one: TypeTopology) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    names = [name for name, _, _ in one.devices]
    for name in ("", *names):
        table.add_column(name, no_wrap=True)
    for gpu in (name for name, kind, _ in one.devices if kind == "gpu"):
        ways = [one.way(gpu, name) for name in names]
        table.add_row(gpu, *(Text(f"{way.kind} {way.bandwidth:g}" if way else "X") for way in ways))
    return table


def topology_svg(types: list[TypeTopology]) -> str:
    """The table of ways as a picture, one below the other."""
    parts, top = [], 10
    for one in types:
        parts.append(f'<text x="10" y="{top + 14}" font-weight="bold">{escape(one.name)}</text>')
        top += 24
        if one.whole is None:
            for fact in one.missing:
                parts.append(f'<text x="10" y="{top + 14}">missing: {escape(fact)}</text>')
                top += _HIGH
            continue
        for row, cells in enumerate(_cells(one)):
            for column, (text, colour) in enumerate(cells):
                parts.append(_cell(10 + column * _CELL * 1.6, top + row * _HIGH, text, colour))
        top += _HIGH * (len(_cells(one)) + 1)
    wide = 30 + _CELL * 1.6 * (1 + max((len(one.devices) for one in types), default=0))
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{top}" font-family="sans-serif"'
    )
    return f'{start} font-size="12">\n' + "\n".join(parts) + "\n</svg>\n"


def _cells(one: TypeTopology) -> list[list[tuple[str, str]]]:
    names = [name for name, _, _ in one.devices]
    rows = [[("", "none"), *((name, "none") for name in names)]]
    for gpu in (name for name, kind, _ in one.devices if kind == "gpu"):
        row = [(gpu, "none")]
        for name in names:
            way = one.way(gpu, name)
            row.append(
                (f"{way.kind} {way.bandwidth:g}", _COLOURS.get(way.kind, "#dddddd")) if way else ("X", "none")
            )
        rows.append(row)
    return rows


def _cell(x: float, y: int, text: str, colour: str) -> str:
    box = f'<rect x="{x:g}" y="{y}" width="{_CELL * 1.6:g}" height="{_HIGH}" fill="{colour}" stroke="#ccc"/>'
    return f'{box}<text x="{x + 6:g}" y="{y + 16}">{escape(text)}</text>'
