"""Finds what is wrong with measured settings of NCCL: another network, names that NCCL does not have."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from slurmwright.catalogue.nccl_variables import variables, written_reasons
from slurmwright.core.errors import did_you_mean
from slurmwright.model.cluster import NcclTuned
from slurmwright.model.faults import Faults

_VALUE = re.compile(r"[A-Za-z0-9_.:,=^+-]{1,200}\Z")
_FIXED = ("NCCL_ALGO", "NCCL_PROTO")


def check_tuned(faults: Faults, tuned: Sequence[NcclTuned], fabric: str, types: Set[str]) -> None:
    """Measured on another network or type, settings mean nothing; some names are not for a file at all."""
    seen: set[str] = set()
    for at, one in enumerate(tuned):
        where = ("nccl", "tuned", at)
        if one.type not in types:
            faults.add((*where, "type"), f"no nodes of type '{one.type}'; {did_you_mean(one.type, types)}")
        elif one.type in seen:
            faults.add((*where, "type"), f"type {one.type} has settings already; one entry for a type")
        seen.add(one.type)
        if one.fabric != fabric:
            text = f"measured on {one.fabric}, but fabric.kind is {fabric}; measure again or remove it"
            faults.add((*where, "fabric"), text)
        for name, value in one.set.items():
            wrong = _wrong(name, str(value))
            if wrong:
                faults.add((*where, "set", name), wrong)


def _wrong(name: str, value: str) -> str:
    if name not in variables():
        return f"NCCL has no variable '{name}'; {did_you_mean(name, variables())}"
    if name in written_reasons():
        return f"{name} follows from the rest of cluster.yaml; leave it out"
    if name in _FIXED:
        return f"{name} fixed for every size costs more than it gains; leave it out"
    return "" if _VALUE.match(value) else f"{name}: '{value}' is no value that a file can hold"
