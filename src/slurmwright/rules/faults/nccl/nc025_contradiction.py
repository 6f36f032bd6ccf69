"""NC025: two settings that cannot both hold."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import Seen, nccl_files
from slurmwright.rules.rule import ERROR, WARNING, Fault, rule


@rule(
    "NC025",
    "settings-contradict",
    ERROR,
    why="""Two settings that exclude each other end in an error at the start, or one of them has no
        effect.""",
    fix="""take one of the two out""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        yield from _contradictions(file)


def _contradictions(file: Seen) -> Iterator[Fault]:
    algorithms = [word.strip() for word in file.value("NCCL_ALGO").lower().replace(";", ",").split(",")]
    chosen = [] if file.value("NCCL_ALGO").startswith("^") else [w.rpartition(":")[2] for w in algorithms]
    for name in ("NCCL_NVLS_ENABLE", "NCCL_CUMEM_ENABLE"):
        if file.value(name) == "0" and any(word.startswith("nvls") for word in chosen):
            text = f"NCCL_ALGO={file.value('NCCL_ALGO')} asks for NVLS, and {name}=0 takes it away"
            yield Fault(text, file.settings[name].place, about=name)
    if file.value("NCCL_MNNVL_ENABLE") == "1" and file.value("NCCL_CUMEM_ENABLE") == "0":
        text = "NCCL_MNNVL_ENABLE=1 needs cuMem, and NCCL_CUMEM_ENABLE=0 takes it away"
        yield Fault(text, file.settings["NCCL_CUMEM_ENABLE"].place, about="mnnvl")
    collnet = next((word for word in chosen if word.startswith("collnet")), "")
    wanted = file.settings.get("NCCL_COLLNET_ENABLE")
    if file.fabric in ("roce", "tcp", "efa") and (file.value("NCCL_COLLNET_ENABLE") == "1" or collnet):
        place = (wanted or file.settings["NCCL_ALGO"]).place
        text = f"CollNet is SHARP in InfiniBand switches, and the network is {file.fabric}"
        yield Fault(text, place, severity=WARNING, about="collnet")
    elif collnet and file.value("NCCL_COLLNET_ENABLE") != "1":
        text = f"NCCL_ALGO asks for {collnet}, which needs NCCL_COLLNET_ENABLE=1 and the SHARP plugin"
        yield Fault(text, file.settings["NCCL_ALGO"].place, severity=WARNING, about="collnet")
