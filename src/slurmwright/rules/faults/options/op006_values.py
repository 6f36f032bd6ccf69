"""OP006: a value that Slurm's parser refuses."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.catalogue.options import check_value
from slurmwright.rules.config import at
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule

_KINDS = ("bool", "uint16", "uint32", "uint64", "float")


@rule(
    "OP006",
    "values-slurm-refuses",
    ERROR,
    why="""A number that is none, or a truth value that is not yes or no, is a parse error: the daemons that
        read the file do not start.""",
    fix="a value of the kind that the message names",
    references=(
        "Slurm source, src/common/parse_config.c: s_p_handle_uint32, s_p_handle_boolean",
        "https://slurm.schedmd.com/slurm.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for key in seen.keys:
        option = key.option
        if option is None or option.type not in _KINDS or option.type_history:
            continue
        for setting in key.values:
            problem = check_value(option, setting.value)
            if problem:
                yield Fault(problem, at(setting), about=option.name)
