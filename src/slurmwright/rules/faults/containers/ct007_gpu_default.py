"""CT007: the hook for GPUs does nothing for images that do not ask for them."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.containers_seen import ENROOT, container_environment, has_enroot, hooks
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, Place, rule


@rule(
    "CT007",
    "plain-images-without-gpus",
    WARNING,
    why="""98-nvidia.sh does nothing, without a word, where NVIDIA_VISIBLE_DEVICES is unset, and only images
        made from CUDA's set it. In a plain ubuntu image there is then neither driver nor device.""",
    fix="NVIDIA_VISIBLE_DEVICES=all and NVIDIA_DRIVER_CAPABILITIES=compute,utility in a file below "
    "/etc/enroot/environ.d",
    references=("https://github.com/NVIDIA/enroot/issues/205", "https://github.com/NVIDIA/enroot/issues/258"),
)
def check(seen: Evidence) -> Iterator[Fault]:
    variables = container_environment(seen)
    if "98-nvidia.sh" in hooks(seen) and "NVIDIA_VISIBLE_DEVICES" not in variables:
        text = "NVIDIA_VISIBLE_DEVICES has no default, so images that do not set it get no GPU"
        yield Fault(text, Place(ENROOT if has_enroot(seen) else "/etc/enroot/environ.d"))
