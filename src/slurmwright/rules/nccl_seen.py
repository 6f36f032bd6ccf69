"""/etc/nccl.conf to its settings with their lines; a later line of the same name does not count, the first
does."""

from __future__ import annotations

from slurmwright.rules.containers_seen import Value
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import Place

CONF = "/etc/nccl.conf"


def nccl_settings(seen: Evidence) -> dict[str, Value]:
    """Every `NCCL_X=value` of the file. NCCL sets a variable only where it is not set yet, so the first
    line wins."""
    file = seen.files.get(CONF)
    found: dict[str, Value] = {}
    for number, line in enumerate(file.text.split("\n") if file else (), 1):
        key, equals, value = line[:4000].partition("=")
        if equals and not key.lstrip().startswith("#"):
            found.setdefault(key.strip(), Value(value.strip(), Place(CONF, number)))
    return found
