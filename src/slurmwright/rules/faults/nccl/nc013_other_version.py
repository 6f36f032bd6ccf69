"""NC013: a variable that came later or is gone."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.catalogue.nccl_variables import variables
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import nccl_files
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "NC013",
    "variable-of-another-version",
    WARNING,
    why="""A variable that this version does not read any more, or not yet, has no effect and no
        message.""",
    fix="""take the line out, or use the name that this version reads""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.settings.values():
            variable = variables().get(one.name)
            if variable is None or variable.read_by(file.version):
                continue
            if variable.gone_in(file.version):
                text = f"{one.name} was last read by NCCL {variable.last}; {file.version} ignores it"
            else:
                text = f"{one.name} is read from NCCL {variable.first} on; {file.version} ignores it"
            yield Fault(f"{text}. {variable.notes}".rstrip(" ."), one.place, about=one.name)
