"""NC015: a value that NCCL reads as another one or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.catalogue.nccl_variables import variables
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import nccl_files
from slurmwright.rules.nccl_values import misread
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "NC015",
    "value-misread",
    ERROR,
    why="""NCCL reads a number up to the first character that is none and a word only as it is
        written in the source: 4M is 4, true is 0, nvl in lower case is ignored. None of it is
        reported.""",
    fix="""a plain number, 0 or 1, or the word in upper case""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.settings.values():
            variable = variables().get(one.name)
            if variable is not None and one.value and (text := misread(variable, one.value, file.version)):
                yield Fault(f"{one.shown}: {text[0]}", one.place, fix=text[1], about=one.name)
