"""SC003: a unit that stops with another one and does not come back."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, Place, rule
from slurmwright.rules.units_seen import unit_settings


@rule(
    "SC003",
    "units-that-stay-down",
    WARNING,
    why="""Requires= stops the unit when the other one is restarted, and nothing starts it again: after an
        update of docker the exporter is gone until somebody looks.""",
    fix="PartOf=docker.service (or BindsTo=) beside Requires=, and Restart=always",
    references=(
        "https://github.com/NVIDIA/deepops/issues/1267",
        "https://github.com/NVIDIA/deepops/issues/1363",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for path, file in seen.files.items():
        if not path.endswith(".service") or "/systemd/system/" not in path:
            continue
        keys = unit_settings(file.text)
        kept = {
            name for key in ("PartOf", "BindsTo") for value, _ in keys.get(key, ()) for name in value.split()
        }
        for value, line in keys.get("Requires", ()):
            for name in value.split():
                service = name.endswith(".service") and name not in kept
                if service and "Restart" not in keys and "ExecStart" in keys:
                    yield Fault(
                        f"Requires={name} without PartOf={name} and without Restart=: it stops with {name} "
                        "and stays down",
                        Place(path, line),
                        fix=f"PartOf={name}",
                        about=name,
                    )
