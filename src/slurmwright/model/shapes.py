"""Turns the short forms that people write into the long ones that the models take.

`controllers: ctl1`, `nodes: all`, `accounting: true` and `features: big` are short for a list or a mapping;
numbers stand for their text where Slurm wants text. A value of a wrong kind is left as it is: the model
says what it expected.
"""

from __future__ import annotations

from typing import Any

from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand
from slurmwright.core.release import Release
from slurmwright.model.cluster import Setting
from slurmwright.model.faults import Faults
from slurmwright.model.plain_words import kind, short
from slurmwright.model.yaml_source import Where

#: Stands for a value whose fault is already noted, so that the rest of the part is still checked.
_NOTED = "noted"


def slurm(faults: Faults, where: Where, raw: dict[str, Any]) -> dict[str, Any]:
    """`release` as a Release. An unquoted 24.11 is a number to YAML; its text is taken unless it is lossy."""
    if "release" not in raw or isinstance(raw["release"], Release):
        return raw
    place = (*where, "release")
    text = faults.source.raw(place)
    if text is None:
        faults.add(place, f"release is {kind(raw['release'])}; expected a Slurm release such as 24.11")
        return {**raw, "release": Release("24.11")}
    if isinstance(raw["release"], float) and repr(raw["release"]) != text:
        number = repr(raw["release"])
        faults.add(place, f'unquoted {text} is {number} to a YAML reader; put it in quotes: "{text}"')
        return {**raw, "release": Release("24.11")}
    try:
        return {**raw, "release": Release.parse(short(text))}
    except InputError as error:
        faults.add(place, error.problems[0].message)
        return {**raw, "release": Release("24.11")}


def control(faults: Faults, where: Where, raw: dict[str, Any]) -> dict[str, Any]:
    """Names and ranges of servers as a list of {host, address}."""
    long = dict(raw)
    for role in ("controllers", "login"):
        if role in raw:
            long[role] = _servers(faults, (*where, role), raw[role])
    if isinstance(raw.get("database"), str):
        long["database"] = {"host": raw["database"]}
    return long


def group(faults: Faults, where: Where, raw: dict[str, Any]) -> dict[str, Any]:
    """Ranges expanded, features as a list, options as text."""
    long = dict(raw)
    for role in ("hosts", "address"):
        if raw.get(role) is not None:
            long[role] = _ranges(faults, (*where, role), raw[role])
    if "features" in raw:
        long["features"] = _texts(faults, (*where, "features"), raw["features"])
    if "options" in raw:
        long["options"] = _options(faults, (*where, "options"), raw["options"])
    if isinstance(raw.get("as_written"), dict):
        long["as_written"] = _as_written(faults, (*where, "as_written"), raw["as_written"])
    if isinstance(raw.get("mig"), list):
        long["mig"] = [_mig(entry) for entry in raw["mig"]]
    if isinstance(raw.get("exceptions"), dict):
        long["exceptions"] = _exceptions(faults, (*where, "exceptions"), raw["exceptions"])
    return long


def partition(faults: Faults, where: Where, raw: dict[str, Any]) -> dict[str, Any]:
    """`nodes: all` and single words as the long choice; times and options as text."""
    long = dict(raw)
    if raw.get("nodes") == "all":
        long["nodes"] = {"all": True}
    elif isinstance(raw.get("nodes"), dict):
        long["nodes"] = _choice(faults, (*where, "nodes"), raw["nodes"])
    elif "nodes" in raw:
        forms = "all, {type: ...}, {feature: ...} or {hosts: ...}"
        faults.add((*where, "nodes"), f"nodes is {kind(raw['nodes'])}; expected {forms}")
        long["nodes"] = {"all": True}
    for role in ("max_time", "default_time"):
        if isinstance(raw.get(role), int) and not isinstance(raw[role], bool):
            long[role] = str(raw[role])
    if "options" in raw:
        long["options"] = _options(faults, (*where, "options"), raw["options"], left_out=True)
    return long


def topology(faults: Faults, raw: Any) -> Any:
    """`topology: tree` is short for its kind; ranges of named units expanded."""
    if not isinstance(raw, dict) or not isinstance(raw.get("units"), list):
        return {"kind": raw} if isinstance(raw, str) else raw
    named = [
        {
            key: _ranges(faults, ("topology", "units", at, key), value)
            if key in ("nodes", "switches")
            else value
            for key, value in unit.items()
        }
        if isinstance(unit, dict)
        else unit
        for at, unit in enumerate(raw["units"])
    ]
    return {**raw, "units": named}


def accounting(raw: Any, has_database: bool) -> Any:
    """On wherever a database is named, unless the file says otherwise."""
    if raw is None:
        return {"enabled": has_database}
    if isinstance(raw, dict):
        return {"enabled": has_database, **raw}
    return {"enabled": raw} if isinstance(raw, bool) else raw


def setting(faults: Faults, where: Where, value: Any) -> Setting:
    """One override: text, a comma list, tokens to merge, or None to leave the key out."""
    if value is None:
        return None
    if isinstance(value, list):
        return tuple(_text(faults, (*where, at), item) for at, item in enumerate(value))
    if isinstance(value, dict):
        return {
            token: item if isinstance(item, bool) else _text(faults, (*where, token), item)
            for token, item in value.items()
        }
    return _text(faults, where, value)


def tuples(value: Any) -> Any:
    """Lists as tuples, all the way down: models are frozen."""
    if isinstance(value, list):
        return tuple(tuples(item) for item in value)
    return {key: tuples(item) for key, item in value.items()} if isinstance(value, dict) else value


def _servers(faults: Faults, where: Where, value: Any) -> Any:
    if value is None:
        return ()
    listed = isinstance(value, list)
    servers: list[Any] = []
    for at, item in enumerate(value if listed else [value]):
        if isinstance(item, str):
            names = _ranges(faults, (*where, at) if listed else where, item)
            servers += [{"host": name} for name in names]
        else:
            servers.append(item)
    return tuple(servers)


def _ranges(faults: Faults, where: Where, value: Any) -> tuple[str, ...]:
    before = len(faults)
    names = faults.expand(where, value)
    return names if len(faults) == before else (_NOTED,)


def _texts(faults: Faults, where: Where, value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(_word(faults, (*where, at), item) for at, item in enumerate(value))
    return (_word(faults, where, value),)


def _word(faults: Faults, where: Where, value: Any) -> str:
    if isinstance(value, str):
        return value
    raw = faults.source.raw(where)
    hint = f'expected text; put it in quotes: "{raw}"' if raw else "expected a word or a list of words"
    faults.add(where, f"{where[-1] if isinstance(where[-1], str) else 'entry'} is {kind(value)}; {hint}")
    return _NOTED


def _choice(faults: Faults, where: Where, raw: dict[str, Any]) -> dict[str, Any]:
    long = dict(raw)
    if "hosts" in raw:
        long["hosts"] = _ranges(faults, (*where, "hosts"), raw["hosts"])
    for role in ("type", "feature"):
        if role in raw:
            long[role] = _texts(faults, (*where, role), raw[role])
    return long


def _mig(raw: Any) -> Any:
    """`gpus: 4` as a list, `profiles: {1g.10gb: 7}` as seven entries."""
    if not isinstance(raw, dict):
        return raw
    long = {**raw, "gpus": _listed(raw["gpus"])} if "gpus" in raw else dict(raw)
    profiles = raw.get("profiles")
    if isinstance(profiles, dict) and all(type(n) is int and 0 < n < 100 for n in profiles.values()):
        long["profiles"] = [profile for profile, count in profiles.items() for _ in range(count)]
    elif isinstance(profiles, str):
        long["profiles"] = [profiles]
    return long


def _exceptions(faults: Faults, where: Where, raw: dict[str, Any]) -> dict[str, Any]:
    """Keys that are host ranges; one GPU as a list."""
    long: dict[str, Any] = {}
    for hosts, entry in raw.items():
        try:
            expand(str(hosts))
        except InputError as error:
            faults.add((*where, hosts), error.problems[0].message, key=True)
            continue
        long[str(hosts)] = (
            {key: _listed(value) if key.startswith("gpus") else value for key, value in entry.items()}
            if isinstance(entry, dict)
            else entry
        )
    return long


def _listed(value: Any) -> Any:
    return [value] if type(value) is int else value


def _as_written(faults: Faults, where: Where, raw: dict[str, Any]) -> dict[str, Any]:
    """Numbers as their text where Slurm wants text."""
    long = dict(raw)
    for key in ("gpu_type", "gres"):
        if raw.get(key) is not None:
            long[key] = _text(faults, (*where, key), raw[key])
    if isinstance(raw.get("gres_conf"), list):
        place = (*where, "gres_conf")
        long["gres_conf"] = [_options(faults, (*place, at), line) for at, line in enumerate(raw["gres_conf"])]
    return long


def _options(faults: Faults, where: Where, raw: Any, left_out: bool = False) -> Any:
    """Keys of a line with their text; with `left_out` null stands for a key that is not written."""
    if not isinstance(raw, dict):
        return raw
    return {
        key: None if value is None and left_out else _joined(faults, (*where, key), value)
        for key, value in raw.items()
    }


def _joined(faults: Faults, where: Where, value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_text(faults, (*where, at), item) for at, item in enumerate(value))
    return _text(faults, where, value)


def _text(faults: Faults, where: Where, value: Any) -> str:
    """A scalar as Slurm writes it: numbers as they stand in the file, booleans as yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    raw = faults.source.raw(where)
    if raw is None or value is None:
        faults.add(where, f"{where[-1]} is {kind(value)}; expected text, a number, true or false")
        return _NOTED
    return raw
