"""The devices of two sides to what changed on which nodes: count, type, files, cores, links, detection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from slurmwright.conf.meaning import Said
from slurmwright.conf.meaning.said import folded
from slurmwright.plan.raw import Raw
from slurmwright.plan.sides import GRES, Devices

_DETECT = "AutoDetect"
_COUNT = "Count"
#: What differs → the row of the catalogue that holds.
_ROWS = {
    _COUNT: "gpu-count",
    "Type": "gpu-type",
    "File": "gpu-files",
    "MultipleFiles": "mig-layout",
    "Cores": "gpu-cores",
}
_SHARED = ("shard", "mps")


def device_changes(old: Devices, new: Devices, nodes: Iterable[str]) -> Iterator[Raw]:
    """What gres.conf says otherwise of nodes that both sides have."""
    alike: dict[tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]], list[str]] = {}
    for node in nodes:
        one, two = old.get(node, ()), new.get(node, ())
        if one is not two and one != two:
            alike.setdefault((_plain(one), _plain(two)), []).append(node)
    for (left, right), names in alike.items():
        if [text.lower() for _, text in left] != [text.lower() for _, text in right] or len(left) != len(
            right
        ):
            yield from _differing(dict(left), dict(right), names)


def _plain(devices: tuple[tuple[str, Said], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((what, said.written if what != _DETECT else said.normal) for what, said in devices)


def _differing(old: Mapping[str, str], new: Mapping[str, str], names: list[str]) -> Iterator[Raw]:
    found: dict[tuple[str, str], tuple[list[tuple[str, str]], list[tuple[str, str]]]] = {}
    for what in (*old, *(what for what in new if what not in old)):
        resource, _, number = what.partition(" ")
        one, two = _pairs(what, old.get(what)), _pairs(what, new.get(what))
        keys = [_COUNT] if not one or not two else sorted(k for k in {*one, *two} if _differ(one, two, k))
        for key in keys if what != _DETECT else [_DETECT]:
            left, right = found.setdefault((resource, key), ([], []))
            for side, pairs in ((left, one), (right, two)):
                text = " ".join(f"{k}={v}" for k, v in pairs.items()) if key == _COUNT else pairs.get(key)
                if text:
                    side.append((number, text))
    for (resource, key), (left, right) in found.items():
        yield _raw(resource, key, _shown(left), _shown(right), names)


def _raw(resource: str, key: str, old: str | None, new: str | None, names: list[str]) -> Raw:
    subject = f"node {folded(names)} {_DETECT if key == _DETECT else f'{resource} {key}'}"
    row = "shared-gres-count" if resource in _SHARED and key == _COUNT else _ROWS.get(key, "gpu-links")
    kind = "added" if old is None else "removed" if new is None else "changed"
    return Raw(GRES, subject, kind, old, new, nodes=tuple(names), rows=(row,))


def _pairs(what: str, text: str | None) -> dict[str, str]:
    """`Type=h100 File=/dev/nvidia0` → its pairs, spelled as gres.conf(5) spells them."""
    if text is None:
        return {}
    if what == _DETECT:
        return {_DETECT: text}
    spelled = {
        key.lower(): key for key in ("Type", "File", "MultipleFiles", "Cores", "Links", "Flags", _COUNT)
    }
    pairs = (word.partition("=") for word in text.split(" "))
    return {spelled.get(key.lower(), key): value for key, _, value in pairs}


def _differ(one: Mapping[str, str], two: Mapping[str, str], key: str) -> bool:
    return one.get(key, "").lower() != two.get(key, "").lower()


def _shown(entries: list[tuple[str, str]]) -> str | None:
    """[("0", "0-55"), ("1", "0-55")] → `0-1: 0-55`."""
    if not entries:
        return None
    groups: dict[str, list[str]] = {}
    for number, text in entries:
        groups.setdefault(text, []).append(number)
    return "; ".join(f"{_spans(numbers)}: {text}" if numbers[0] else text for text, numbers in groups.items())


def _spans(numbers: list[str]) -> str:
    found: list[list[int]] = []
    for number in map(int, numbers):
        if found and number == found[-1][-1] + 1:
            found[-1][1:] = [number]
        else:
            found.append([number])
    return ",".join("-".join(map(str, span)) for span in found)
