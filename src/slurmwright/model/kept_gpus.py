"""Turns the kept gres.conf lines of an imported group into the numbers of the device files that they name."""

from __future__ import annotations

import re

from slurmwright.core.cpu_list import parse_cpus
from slurmwright.model.cluster import AsWritten

_DEVICE = re.compile(r"/dev/nvidia(?:(\d{1,4})|\[([\d,-]+)\])(?=,|\Z)", re.ASCII)


def kept_minors(kept: AsWritten) -> tuple[int, ...]:
    """N of every /dev/nvidiaN among the lines of GPUs, rising; empty where the lines name none."""
    found: set[int] = set()
    for line in kept.gres_conf:
        values = {key.lower(): value for key, value in line.items()}
        if values.get("name", "").lower() != "gpu":
            continue
        for match in _DEVICE.finditer(values.get("file", values.get("multiplefiles", ""))):
            found.update([int(match[1])] if match[1] else _numbers(match[2]))
    return tuple(sorted(found))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return parse_cpus(text)
    except ValueError:
        return ()
