"""NC021: a list of adapters that means others, or none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import NcclSetting, nccl_files, told_list
from slurmwright.rules.rule import ERROR, WARNING, Fault, rule


@rule(
    "NC021",
    "adapter-list-loose",
    WARNING,
    why="""Without = each entry of NCCL_IB_HCA is the beginning of a name: mlx5_2 takes mlx5_20 to
        mlx5_29 too. What matches storage or management adapters carries training where nobody
        answers, what matches nothing is skipped in silence.""",
    fix="""NCCL_IB_HCA==mlx5_0,mlx5_1,… with every compute adapter of the node type""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.of("NCCL_IB_HCA"):
            if not seen.capture("ls_infiniband.txt", "ibdev2netdev.txt"):
                yield from _loose(one, told_list(seen, "compute"), told_list(seen, "adapters"))


def _loose(one: NcclSetting, compute: tuple[str, ...], known: tuple[str, ...]) -> Iterator[Fault]:
    words = [word.partition(":")[0] for word in one.value.lstrip("^=").strip("\"'").split(",") if word]
    exact, without = one.value.startswith(("=", "^=")), one.value.startswith("^")
    ends = [word for word in words if re.search(r"\d\Z", word) and not re.fullmatch(r"mlx\d", word)]
    if not exact and ends and (not known or any(_more(word, known) for word in ends)):
        more = _more(ends[0], known)
        text = f"{one.shown}: {ends[0]} means {', '.join(more[:4]) or f'{ends[0]}0 to {ends[0]}9'} too"
        start = "^=" if without else "="
        fix = f"NCCL_IB_HCA={start}{one.value.lstrip('^').strip(chr(34))}"
        yield Fault(text, one.place, fix=fix, about="prefix")
    if not known or without:
        return
    matched = [name for name in known if any(name == w or (not exact and name.startswith(w)) for w in words)]
    lost = [word for word in words if not any(name.startswith(word) for name in known)]
    if lost:
        text = f"no adapter of the node type is called {lost[0]}; there are {', '.join(known[:12])}"
        yield Fault(text, one.place, severity=ERROR, about="lost")
    other = [name for name in matched if compute and name not in compute]
    if other:
        text = f"{one.shown} takes {', '.join(other[:4])}, which are not for computing"
        yield Fault(text, one.place, severity=ERROR, about="storage")
    left = [name for name in compute if name not in matched]
    if left and matched and not lost:
        share = 100 * (len(compute) - len(left)) // len(compute)
        text = f"{one.shown} leaves {', '.join(left[:4])} out: {share} % of the compute adapters"
        yield Fault(text, one.place, fix=f"NCCL_IB_HCA=={','.join(compute)}", about="left")


def _more(word: str, known: tuple[str, ...]) -> list[str]:
    return [name for name in known if name.startswith(word) and name != word]
