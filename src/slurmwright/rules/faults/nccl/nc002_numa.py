"""NC002: a topology file gives NUMA nodes the CPUs of others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.gres_lines import fold_numbers, numbers
from slurmwright.rules.rule import ERROR, Fault, Place, Scope, rule

_CPU = re.compile(r"<cpu\b[^>]{0,500}>")
_NODE = re.compile(r"^NUMA node(\d+) CPU\(s\):\s*(\S+)", re.M)


@rule(
    "NC002",
    "numa-nodes-swapped",
    ERROR,
    scope=Scope.FACTS,
    why="""NCCL binds its threads and chooses NICs by the affinity of the file's <cpu> elements. With the
        masks of two NUMA nodes swapped every transfer crosses the sockets, and nothing says so.""",
    fix="the affinity mask that /sys/devices/system/node/nodeN/cpumap shows",
    references=(
        "https://github.com/Azure/azhpc-images/pull/391",
        "https://github.com/microsoft/superbenchmark/issues/592",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    output = seen.capture("lscpu.txt")
    real = {int(node[:6]): numbers(cpus) for node, cpus in _NODE.findall(output.text)} if output else {}
    for path, file in seen.files.items():
        if not path.endswith(".xml") or not real:
            continue
        for match in _CPU.finditer(file.text):
            numa = re.search(r'\bnumaid="(\d{1,6})"', match[0])
            mask = re.search(r'\baffinity="([0-9a-fA-F,]+)"', match[0])
            wanted = real.get(int(numa[1])) if numa else None
            if numa is None or mask is None or wanted is None:
                continue
            given = _mask_cpus(mask[1])
            if given == wanted:
                continue
            other = next((node for node, cpus in real.items() if cpus == given), None)
            whose = f"those of NUMA node {other}: the two are swapped" if other is not None else "not its own"
            shown = fold_numbers(given) if given else "no CPU"
            yield Fault(
                f"numaid {numa[1]} has the mask of CPUs {shown}, {whose}; it has {fold_numbers(wanted)}",
                Place(path, file.text.count("\n", 0, match.start()) + 1),
                fix=f'affinity="{_cpus_mask(wanted, mask[1].count(",") + 1)}"',
                about=numa[1],
            )


def _mask_cpus(text: str) -> tuple[int, ...]:
    """`00000000,0000ffff,ffffffff` → (0, …, 47)."""
    number = int("".join(part.zfill(8)[-8:] for part in text.split(",")) or "0", 16)
    return tuple(bit for bit in range(number.bit_length()) if number >> bit & 1)


def _cpus_mask(cpus: tuple[int, ...], words: int) -> str:
    digits = f"{sum(1 << cpu for cpu in cpus):x}".zfill(words * 8)
    return ",".join(digits[at : at + 8] for at in range(0, len(digits), 8))
