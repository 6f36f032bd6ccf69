"""Output of nccl-tests, any release of it, to rows, ranks and what is wrong with the run.

Columns are found by the header: releases before 2.13 have `error` and no `root`, some print neither redop nor
root for collectives without them, and options add columns. `# Avg bus bandwidth` averages all sizes and both
places, so it says little about the peak; nothing here uses it as one (NVIDIA/nccl-tests src/util.cu).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_LABEL = re.compile(r"^\s*\d+: (?=[ #\d])")
_RANK = re.compile(r"#\s+Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?Pid\s+\d+ on\s+(\S+) device\s+(\d+) (.*)")
_LIBRARY = re.compile(r"nccl-library=(\d+)|NCCL version (\d+\.\d+\.\d+)")
_TEST = re.compile(r"Collective test starting: (\S+?)(?:_perf\S*)?$")
_BOUNDS = re.compile(r"# Out of bounds values\s*:\s*(\d+)")
_AVERAGE = re.compile(r"# Avg bus bandwidth\s*:\s*(\S+)")
_FAILED = re.compile(
    r"Test (?:NCCL|CUDA|MPI) failure.*|.*Test timeout.*|.*: Test failure.*|Invalid number of GPUs.*"
)


@dataclass(frozen=True)
class Place:
    """One measurement: microseconds, GB/s, and wrong elements (None where they were not counted)."""

    time_us: float
    algbw: float
    busbw: float
    wrong: int | None


@dataclass(frozen=True)
class Row:
    """One size, out of place and in place."""

    size: int
    count: int
    type: str
    out_of_place: Place | None
    in_place: Place | None

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(place for place in (self.out_of_place, self.in_place) if place)

    @property
    def busbw(self) -> float:
        """The better of both places."""
        return max((place.busbw for place in self.places), default=0.0)


@dataclass(frozen=True)
class Rank:
    """One `# Rank` line; `group` is the communicator of a split."""

    number: int
    group: int
    host: str
    device: int
    gpu: str


@dataclass(frozen=True)
class Output:
    """What one run printed. `starts` counts programs that began: more than one is a run without MPI."""

    test: str
    nccl: str
    ranks: tuple[Rank, ...]
    rows: tuple[Row, ...]
    starts: int
    out_of_bounds: int | None
    average: float | None
    errors: tuple[str, ...]
    units: str = "GB/s"

    @property
    def peak(self) -> float:
        """The best bus bandwidth of any size."""
        return max((row.busbw for row in self.rows), default=0.0)

    @property
    def wrong(self) -> int:
        """Wrong elements over all rows."""
        return sum(place.wrong or 0 for row in self.rows for place in row.places)

    @property
    def ended(self) -> bool:
        return self.out_of_bounds is not None

    def at(self, size: int) -> float | None:
        """Bus bandwidth of one size."""
        return next((row.busbw for row in self.rows if row.size == size), None)


def read_output(text: str) -> Output:
    """Never raises: what cannot be read is an error of the output, or is missing in it."""
    lines = [_LABEL.sub("", line.rstrip()) for line in text.splitlines()]
    test = nccl = units = ""
    starts = _starts(lines)
    bounds: int | None = None
    average: float | None = None
    ranks: list[Rank] = []
    rows: list[Row] = []
    errors: list[str] = []
    header: list[str] = []
    for line in lines:
        if line.startswith("#"):
            header = _header(line) or header
            if found := _RANK.match(line):
                ranks.append(
                    Rank(int(found[1]), int(found[2] or 0), found[3], int(found[4]), found[5].strip())
                )
            elif found := _TEST.search(line):
                test = found[1].rsplit("/", 1)[-1]
            elif found := _BOUNDS.match(line):
                bounds = (bounds or 0) + int(found[1])
            elif found := _AVERAGE.match(line):
                average = _number(found[1])
            units = units or _units(line)
        elif header and (row := _row(line, header)):
            rows.append(row)
        elif _FAILED.match(line.strip()):
            errors.append(line.strip())
        if not nccl and (found := _LIBRARY.search(line)):
            nccl = found[2] or _version(int(found[1]))
    return Output(
        test, nccl, tuple(ranks), tuple(rows), starts, bounds, average, tuple(errors), units or "GB/s"
    )


def _starts(lines: Sequence[str]) -> int:
    return sum(line.startswith("# nThread ") for line in lines)


def _version(code: int) -> str:
    """22707 is 2.27.7; up to 2.8 the code was 2708."""
    if code < 10000:
        return f"{code // 1000}.{code // 100 % 10}.{code % 100}"
    return f"{code // 10000}.{code // 100 % 100}.{code % 100}"


def _header(line: str) -> list[str]:
    words = line.lstrip("#").split()
    return words if words[:2] == ["size", "count"] and "busbw" in words else []


def _units(line: str) -> str:
    found = re.findall(r"\((\w+/s)\)", line)
    return found[0] if found else ""


def _row(line: str, header: Sequence[str]) -> Row | None:
    words = line.split()
    if not words or not words[0].isdigit():
        return None
    names = list(header)
    if names[-1] == "timestamp":
        names = names[:-1]
    for optional in ("root", "redop"):
        if len(words) < len(names) and optional in names:
            names.remove(optional)
    first = _first_time(names)
    body = words[first:]
    block = (len(names) - first) // 2
    if len(body) not in (block, 2 * block) and len(body) < 2 * block:
        return None
    labels = names[first : first + block]
    places = [_place(body[:block], labels), _place(body[block : 2 * block], labels)]
    if len(body) == block:
        # A replayed trace is measured in place only.
        places = [None, places[0]]
    count = words[1] if len(words) > 1 and words[1].isdigit() else "0"
    kind = words[names.index("type")] if "type" in names else ""
    if places == [None, None]:
        return None
    return Row(int(words[0]), int(count), kind, places[0], places[1])


def _first_time(names: Sequence[str]) -> int:
    return next((at for at, name in enumerate(names) if name in ("time", "cputime")), len(names))


def _place(words: Sequence[str], labels: Sequence[str]) -> Place | None:
    cells = dict(zip(labels, words, strict=False))
    time, alg, bus = (
        _number(cells.get(name, "")) for name in (labels[0] if labels else "", "algbw", "busbw")
    )
    if time is None or alg is None or bus is None:
        return None
    wrong = _number(cells.get("#wrong", cells.get("error", "N/A")))
    if "error" in cells and wrong is not None:
        # The largest relative difference of old releases: rounding of half precision stays far below.
        wrong = 0.0 if wrong < 0.05 else 1.0
    return Place(time, alg, bus, None if wrong is None else int(wrong))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def read_json(text: str) -> Output:
    """The document that `-J` writes, without the environment that it holds. Raises ValueError for others."""
    data: Any = json.loads(text)
    if not isinstance(data, dict) or not isinstance(data.get("results"), list):
        raise ValueError("no document of nccl-tests: it has no results")
    bounds = data.get("out_of_bounds") or {}
    average = data.get("average_bus_bandwidth") or {}
    devices = (data.get("config") or {}).get("devices") or data.get("devices") or []
    ranks = (
        Rank(
            int(d.get("rank", at)),
            int(d.get("group", 0)),
            str(d.get("hostname", "")),
            int(d.get("device", 0)),
            "",
        )
        for at, d in enumerate(devices)
    )
    return Output(
        "",
        str(data.get("nccl_version", "")),
        tuple(ranks),
        tuple(_json_rows(data["results"])),
        1,
        bounds.get("count"),
        average.get("bandwidth"),
        tuple(str(one) for one in data.get("errors") or () if one),
    )


def _json_rows(results: Sequence[Any]) -> Iterator[Row]:
    for one in results:
        places = [_json_place(one.get(name)) for name in ("out_of_place", "in_place")]
        yield Row(int(one["size"]), int(one.get("count", 0)), str(one.get("type", "")), places[0], places[1])


def _json_place(one: Any) -> Place | None:
    if not one:
        return None
    wrong = one.get("nwrong")
    counted = None if wrong in (None, "N/A") else int(float(wrong))
    return Place(float(one["time"]), float(one["alg_bw"]), float(one["bus_bw"]), counted)
