"""NC012: a variable that NCCL does not read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from slurmwright.catalogue.nccl_variables import meant, of_others, torch_names, variables, wrong_names
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import NcclSetting, nccl_files
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "NC012",
    "variable-unknown",
    WARNING,
    why="""NCCL reads the names it knows and never reports another: a mistyped or invented one has
        no effect and no message.""",
    fix="""the name of the documentation, or the line taken out""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.settings.values():
            yield from _unknown(one)


def _unknown(one: NcclSetting) -> Iterator[Fault]:
    own, old = torch_names()
    name = one.name
    if name in variables() or name in own or of_others(name):
        return
    if name in old:
        text = f"{name} is PyTorch's old name of {old[name]}; NCCL does not read it"
        yield Fault(text, one.place, fix=f"{old[name]}={one.value}", about=name)
        return
    if name.startswith("TORCH_"):
        close = difflib.get_close_matches(name, own, n=1, cutoff=0.9)
        if close:  # PyTorch has more names than any list; only a near miss is told
            text = f"PyTorch has no {name}; did you mean {close[0]}?"
            yield Fault(text, one.place, fix=f"{close[0]}={one.value}", about=name)
        return
    instead = meant(name)
    text = f"NCCL does not read {name}"
    if name in wrong_names():
        text += f" in any version; what is meant: {instead}"
    elif instead:
        text += f"; did you mean {instead}?"
    plain = bool(re.fullmatch(r"[A-Z0-9_]+", instead))
    fix = f"{instead}={one.value}" if plain else instead or "take the line out"
    yield Fault(text, one.place, fix=fix, about=name)
