"""The Gres of a node line and its lines of gres.conf to words of cluster.yaml.

Lines that follow from a hardware map (every GPU of one Type, device numbers 0 to n-1, Cores= the whole
socket) become that map; all others are kept as they are. Cores= that name CPUs which the node's cores cannot
have are OS CPU ids, the classic mistake, and are turned into the cores of their socket.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from slurmwright.catalogue.node_types import gpu_models
from slurmwright.conf.meaning.devices import DeviceLine, detection
from slurmwright.conf.meaning.nodes import gres_entries
from slurmwright.conf.meaning.said import files, span_numbers
from slurmwright.core.release import Release
from slurmwright.importing.draft import plain
from slurmwright.importing.yaml_text import Flow, Noted
from slurmwright.model.cluster import AsWritten
from slurmwright.model.kept_gpus import kept_minors

_MAX_PER_GPU = {"shard": 1024, "mps": 1000}


@dataclass(frozen=True)
class GpuWords:
    """What goes into the node type, into the group and under as_written; `cpu_ids` are lines whose Cores
    were CPU ids, `odd` those whose Cores are no whole socket."""

    of_type: dict[str, object] = field(default_factory=dict)
    of_group: dict[str, object] = field(default_factory=dict)
    kept: dict[str, object] = field(default_factory=dict)
    detect: str = ""
    cpu_ids: tuple[DeviceLine, ...] = ()
    odd: tuple[DeviceLine, ...] = ()


@dataclass(frozen=True)
class _Device:
    kind: str
    file: str
    numa: int | None
    whole: bool


def gpu_words(
    gres: str, lines: Sequence[DeviceLine], sockets: int, cores: int, threads: int, release: Release
) -> GpuWords:
    """The words for nodes of one line; `sockets` are those that Slurm counts, each with `cores`."""
    entries = gres_entries(gres)
    if not entries:
        return GpuWords()
    wrong = tuple(line for line in lines if _cpu_ids(line, sockets * cores))
    fixed = {id(line): _mended(line, sockets, cores) for line in wrong}
    devices = [one for line in lines if line.name == "gpu" for one in _devices(line, fixed, sockets, cores)]
    regular = _regular(entries, lines, devices, release)
    if regular is not None:
        of_type, of_group, detect = regular
        return GpuWords(of_type, of_group, {}, detect, wrong)
    kept = _kept(gres, entries, lines, devices, fixed, wrong)
    said = [line for line in lines if line.name == "gpu" and (line.get("cores") or line.get("cpus"))]
    right = [
        line for line in said if _socket_of(line.get("cores") or line.get("cpus"), sockets, cores) is not None
    ]
    return replace(kept, odd=tuple(line for line in said if line not in right and line not in wrong))


def _regular(
    entries: Sequence[tuple[str, str, str]],
    lines: Sequence[DeviceLine],
    devices: Sequence[_Device],
    release: Release,
) -> tuple[dict[str, object], dict[str, object], str] | None:
    """(words of the type, words of the group, AutoDetect) where they say everything; None otherwise."""
    gpus = [entry for entry in entries if entry[0] == "gpu"]
    if len(gpus) != 1 or entries[0][0] != "gpu" or not gpus[0][2].isdigit():
        return None
    _, kind, text = gpus[0]
    models = [name for name, model in gpu_models().items() if model.slurm_type == kind]
    count = int(text)
    if not models or gpu_models()[models[0]].vendor == "amd" or not 0 < count <= 64:
        return None
    shared = _shared(entries[1:], lines, count)
    if shared is None:
        return None
    detect = detection(list(lines))
    others = [line for line in lines if line.name not in ("", "gpu", "shard", "mps")]
    chosen = Flow({"model": models[0], "count": count})
    several = f"Type {kind} may be any of {', '.join(models)}" if len(models) > 1 else ""
    of_type: dict[str, object] = {"gpu": Noted(chosen, several)}
    if detect:
        known = detect == "nvml" or (detect == "nvidia" and release.at_least("24.11"))
        if devices or others or not known:
            return None
        return of_type, {"autodetect": detect, **shared}, detect
    numbered = [f"/dev/nvidia{minor}" for minor in range(count)]
    fits = [one.file for one in devices] == numbered and all(
        one.whole and one.kind == kind and one.numa is not None for one in devices
    )
    if not fits or others or any(not line.name and line.detect not in ("off",) for line in lines):
        return None
    of_type["gpus"] = [Flow({"index": at, "numa": one.numa}) for at, one in enumerate(devices)]
    return of_type, shared, ""


def _shared(
    entries: Sequence[tuple[str, str, str]], lines: Sequence[DeviceLine], count: int
) -> dict[str, object] | None:
    """Shards or MPS that are a bare count, the same on both sides; None for any other form."""
    named = [line for line in lines if line.name in _MAX_PER_GPU]
    if not entries and not named:
        return {}
    if len(entries) != 1 or len(named) != 1:
        return None
    name, kind, text = entries[0]
    line = named[0]
    bare = line.name == name and not kind and line.get("count") == text and text.isdigit()
    if not bare or set(line.values) - {"nodename", "name", "count"}:
        return None
    each, rest = divmod(int(text), count)
    if rest or not 0 < each <= _MAX_PER_GPU[name]:
        return None
    return {f"{name}{'s' if name == 'shard' else ''}_per_gpu": each}


def _kept(
    gres: str,
    entries: Sequence[tuple[str, str, str]],
    lines: Sequence[DeviceLine],
    devices: Sequence[_Device],
    fixed: dict[int, str],
    wrong: tuple[DeviceLine, ...],
) -> GpuWords:
    rows = [_row(line, fixed.get(id(line))) for line in lines]
    detect = detection(list(lines))
    rows = [*([{"AutoDetect": detect}] if detect else []), *(row for row in rows if row)]
    minors = kept_minors(AsWritten(gres_conf=tuple(rows)))
    said = sum(int(text) for name, _, text in entries if name == "gpu" and text.isdigit())
    # Devices other than /dev/nvidiaN are in no map of ours; what is detected has the numbers of its count.
    count = len(minors) or (min(said, 64) if detect else 0)
    kinds = dict.fromkeys(kind for name, kind, _ in entries if name == "gpu")
    kept: dict[str, object] = {"gres": gres.replace(" ", "")}
    if rows:
        kept["gres_conf"] = [Flow({key: plain(text) for key, text in row.items()}) for row in rows]
    if not count:
        return GpuWords(kept=kept, cpu_ids=wrong)
    of_type: dict[str, object] = {"gpu": Flow({"count": count})}
    by_minor = {one.file: one.numa for one in devices}
    places = [by_minor.get(f"/dev/nvidia{minor}") for minor in minors]
    if places and all(place is not None for place in places):
        of_type["gpus"] = [Flow({"index": at, "numa": place}) for at, place in enumerate(places)]
    kept["gpu_type"] = next(iter(kinds), "")
    return GpuWords(of_type, {}, kept, detect, wrong)


def _row(line: DeviceLine, cores: str | None) -> dict[str, str]:
    """A line without its hosts and AutoDetect, in the order in which it was written."""
    left_out = ("nodename", "autodetect")
    row = {line.keys[key]: value for key, value in line.values.items() if key not in left_out}
    if cores is not None:
        row = {key: cores if key.lower() in ("cores", "cpus") else value for key, value in row.items()}
    return row


def _devices(line: DeviceLine, fixed: dict[int, str], sockets: int, cores: int) -> Iterator[_Device]:
    text = fixed.get(id(line)) or line.get("cores") or line.get("cpus")
    numa = _socket_of(text, sockets, cores)
    whole = not set(line.values) - {"nodename", "name", "type", "file", "cores", "cpus", "autodetect"}
    paths = files(line.get("file")) if line.get("file") else files(line.get("multiplefiles"))[:1]
    for path in paths:
        yield _Device(line.get("type"), path, numa, whole)


def _socket_of(text: str, sockets: int, cores: int) -> int | None:
    """The socket that has exactly these cores."""
    numbers = span_numbers(text) if text else None
    if numbers is None:
        return None
    found = sorted({int(number) for number in numbers})
    first, rest = divmod(found[0], cores)
    whole = found == list(range(found[0], found[0] + cores))
    return first if whole and not rest and first < sockets else None


def _cpu_ids(line: DeviceLine, all_cores: int) -> bool:
    """Does the line name a core that the node cannot have?"""
    numbers = span_numbers(line.get("cores") or line.get("cpus") or "")
    return numbers is not None and any(int(number) >= all_cores for number in numbers)


def _mended(line: DeviceLine, sockets: int, cores: int) -> str:
    """The cores of the sockets of these CPUs, where the system numbers CPUs socket by socket."""
    numbers = span_numbers(line.get("cores") or line.get("cpus") or "") or []
    meant = sorted({int(number) % (sockets * cores) // cores for number in numbers})
    spans = [f"{at * cores}-{(at + 1) * cores - 1}" if cores > 1 else str(at) for at in meant]
    return ",".join(spans)
