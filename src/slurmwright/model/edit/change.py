"""A cluster.yaml in which some hosts have other values: as exceptions, or in a group of their own."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError

from slurmwright.core.errors import InputError, did_you_mean
from slurmwright.core.hosts import expand, fold, fold_in_order
from slurmwright.model.cluster import HostException, NodeGroup
from slurmwright.model.edit.pieces import cut_exceptions, pieces, rewrite
from slurmwright.model.edit.remove import check_units
from slurmwright.model.edit.text import Document
from slurmwright.model.edit.words import Edited, by_group, cluster_of, names_of

_OF_HOST = tuple(HostException.model_fields)
_OF_GROUP = tuple(
    name for name in NodeGroup.model_fields if name not in ("hosts", "address", "racks", "exceptions")
)
_LISTS = ("features", "gpus_missing", "gpus_withheld")
_OPTIONS = "options."


def change(text: str, file: str, hosts: Sequence[str], values: Mapping[str, str]) -> Edited:
    """`values` are key → YAML, "" takes the key out. `options.KEY` is a key of the NodeName line."""
    cluster = cluster_of(text, file)
    groups = by_group(cluster, hosts)
    wanted = {key: _value(key, written) for key, written in values.items()}
    document, wide = Document(text, file), {k: v for k, v in wanted.items() if k not in _OF_HOST}
    own = {k: v for k, v in wanted.items() if k in _OF_HOST}
    notes = []
    for at in sorted(groups, reverse=True):
        chosen = set(groups[at])
        entries = [document.data["nodes"][at]]
        if wide and chosen != set(cluster.nodes[at].hosts):
            parts = pieces(cluster, at, lambda _: True, chosen.__contains__)
            written = rewrite(document.data, cluster, at, parts)
            entries = [one for one, part in zip(written, parts, strict=True) if part.chosen]
            notes.append(f"{fold(groups[at])} get a group of their own")
        for entry in entries:
            mine = [name for name in names_of(entry["hosts"]) if name in chosen]
            _set(entry, wide)
            _except(entry, mine, own)
    result = document.text()
    after = cluster_of(result, file)
    check_units(cluster, after, set(), file)
    return Edited(result, after, notes=tuple(notes))


def _value(key: str, written: str) -> Any:
    known = (*_OF_HOST, *_OF_GROUP, "options.KEY")
    if key not in known and not (key.startswith(_OPTIONS) and len(key) > len(_OPTIONS)):
        raise InputError.of(f"'{key}' is nothing that a node has in cluster.yaml; {did_you_mean(key, known)}")
    if not written.strip():
        return None
    if key in _LISTS and not written.lstrip().startswith("["):
        written = f"[{written}]"
    try:
        value = YAML().load(written)
    except YAMLError as error:
        raise InputError.of(f"{key}: '{written}' is not YAML: {str(error).splitlines()[0]}") from None
    if isinstance(value, (CommentedSeq, CommentedMap)):
        value.fa.set_flow_style()
    return value


def _set(entry: Any, values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if not key.startswith(_OPTIONS):
            _put(entry, key, value)
            continue
        options = entry.get("options")
        if options is None and value is not None:
            entry["options"] = options = _flow()
        if options is not None:
            _put(options, key.removeprefix(_OPTIONS), value)
            if not options:
                del entry["options"]


def _except(entry: Any, hosts: Sequence[str], values: Mapping[str, Any]) -> None:
    """What stands for chosen hosts alone is changed where it is; the others get a line of their own."""
    if not values:
        return
    own, left = entry.get("exceptions") or {}, list(hosts)
    former: dict[str, Any] = {}
    for key in list(own):
        named = expand(str(key))
        if set(named) <= set(hosts):
            for word, value in values.items():
                _put(own[key], word, value)
            left = [host for host in left if host not in named]
            if not own[key]:
                del own[key]
        former.update((host, own[key]) for host in named if host in left)
    cut_exceptions(entry, set(left))
    for names, row in _alike(left, former, values):
        if entry.get("exceptions") is None:
            entry["exceptions"] = CommentedMap()
        entry["exceptions"][fold_in_order(names)] = row
    if entry.get("exceptions") is not None and not entry["exceptions"]:
        del entry["exceptions"]


def _alike(
    hosts: Sequence[str], former: Mapping[str, Any], values: Mapping[str, Any]
) -> list[tuple[list[str], CommentedMap]]:
    """Hosts with the same exception afterwards, those without one left out."""
    found: dict[str, tuple[list[str], CommentedMap]] = {}
    for host in hosts:
        row = {**former.get(host, {}), **values}
        new = _flow()
        new.update((key, copy.deepcopy(value)) for key, value in row.items() if value is not None)
        if new:
            found.setdefault(repr(dict(new)), ([], new))[0].append(host)
    return list(found.values())


def _put(mapping: Any, key: str, value: Any) -> None:
    if value is None:
        mapping.pop(key, None)
    else:
        mapping[key] = copy.deepcopy(value)


def _flow() -> CommentedMap:
    new = CommentedMap()
    new.fa.set_flow_style()
    return new
