"""Turns three outputs into the MIG instances of GPUs: profiles, instances, and the minors of their files.

`nvidia-smi -L` knows profiles, `-q` the instances behind them, and /proc/driver/nvidia-caps/mig-minors the
numbers of their capability files, by device minor. Where one of them is missing nothing is said: [] would
mean a GPU that is divided into nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from slurmwright.discover.parse import smi_l, smi_q
from slurmwright.model.facts import MigFact
from slurmwright.model.own_type_checks import normal_pci

if TYPE_CHECKING:
    from slurmwright.discover.evidence import Evidence

_CAP = re.compile(r"^gpu(\d{1,3})/gi(\d{1,3})(?:/ci(\d{1,3}))?/access (\d{1,6})$", re.ASCII | re.MULTILINE)


def instances(evidence: Evidence, minors: Mapping[str, int]) -> dict[str, tuple[MigFact, ...]]:
    """By PCI address, for GPUs whose instances are all known; `minors` of the GPUs of the driver."""
    listed = evidence.read("nvidia-smi-l", smi_l.parse)
    asked = evidence.read("nvidia-smi-q", smi_q.parse)
    text = evidence.sections.get("mig-minors", "")
    caps = {found.groups()[:3]: int(found[4]) for found in _CAP.finditer(text)}
    if not listed or not asked or len(listed.gpus) != len(minors):
        return {}
    devices = {normal_pci(gpu.pci): gpu.mig_devices for gpu in asked.gpus}
    found = {}
    for pci, gpu in zip(sorted(minors), listed.gpus, strict=True):
        profiles = {mig.device: mig.profile for mig in gpu.mig}
        own = devices.get(pci, ())
        if {device.index for device in own} != profiles.keys() or len(own) != len(profiles):
            continue
        rows = [
            (
                profiles[device.index],
                caps.get((str(minors[pci]), str(device.gpu_instance), None)),
                caps.get((str(minors[pci]), str(device.gpu_instance), str(device.compute_instance))),
            )
            for device in own
        ]
        if all(one is not None and two is not None for _, one, two in rows):
            found[pci] = tuple(MigFact(profile=profile, caps=(one, two)) for profile, one, two in rows)
    return found
