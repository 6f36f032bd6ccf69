"""NC016: a number that its field cannot hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.catalogue.nccl_variables import variables
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import Seen, nccl_files
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.topology.nccl_grammar import c_int


@rule(
    "NC016",
    "value-out-of-range",
    ERROR,
    why="""A number beyond its field is cut, refused by the driver or replaced by the default; more
        sockets than NCCL has are refused.""",
    fix="""a number within the range of the documentation""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.settings.values():
            variable = variables().get(one.name)
            bounds = _RANGE.match(variable.values) if variable else None
            if bounds is None or not _NUMBER.match(one.value):
                continue
            low, high, number = int(bounds[1]), int(bounds[2]), c_int(one.value)
            if variable and number != -1 and not low <= number <= high:
                text = f"{one.shown}: the range is {low} to {high}"
                if one.name == "NCCL_IB_RETRY_CNT":
                    text += ", a field of 3 bits"
                yield Fault(text, one.place, fix=f"{one.name}={high}", about=one.name)
        yield from _together(file)


_RANGE = re.compile(r"(-?\d+)\.\.(\d+)(?![\d/])")
_NUMBER = re.compile(r"[+-]?(0x[0-9a-fA-F]{1,16}|\d{1,20})\Z")


def _together(file: Seen) -> Iterator[Fault]:
    threads, sockets = file.value("NCCL_SOCKET_NTHREADS"), file.value("NCCL_NSOCKS_PERTHREAD")
    if threads and sockets and c_int(threads) * c_int(sockets) > 64:
        text = f"{threads} threads with {sockets} sockets each are {c_int(threads) * c_int(sockets)}; 64 fit"
        yield Fault(text, file.settings["NCCL_NSOCKS_PERTHREAD"].place, about="product")
    for low in ("NCCL_MIN_CTAS", "NCCL_MIN_NCHANNELS"):
        for high in ("NCCL_MAX_CTAS", "NCCL_MAX_NCHANNELS"):
            least, most = file.value(low), file.value(high)
            if least and most and c_int(least) > c_int(most) > 0:
                text = f"{low}={least} is more than {high}={most}"
                yield Fault(text, file.settings[low].place, about=low + high)
