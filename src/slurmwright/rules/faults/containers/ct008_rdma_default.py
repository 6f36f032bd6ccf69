"""CT008: the hook for RDMA does nothing, and NCCL falls back to TCP."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.containers_seen import container_environment, hooks
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import INFO, WARNING, Fault, Place, rule


@rule(
    "CT008",
    "containers-without-rdma",
    WARNING,
    why="""99-mellanox.sh does nothing where MELLANOX_VISIBLE_DEVICES is unset: the container has no
        /dev/infiniband, and NCCL goes over TCP at a tenth of the speed.""",
    fix="MELLANOX_VISIBLE_DEVICES=all in a file below /etc/enroot/environ.d",
    references=("https://github.com/Azure/az-hop/issues/902",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    if "99-mellanox.sh" not in hooks(seen) or "MELLANOX_VISIBLE_DEVICES" in container_environment(seen):
        return
    listing = seen.capture("ls_infiniband.txt", "ibdev2netdev.txt")
    output = seen.capture("job_output.txt")
    said = [line for line in output.text.split("\n") if "NET/IB" in line][:2] if output else []
    fabric = str(seen.inventory.get("fabric", "")).lower()
    sure = bool(said) or listing is not None or "infiniband" in fabric or "roce" in fabric
    yield Fault(
        "MELLANOX_VISIBLE_DEVICES has no default, so containers have no RDMA device",
        Place("/etc/enroot/environ.d"),
        evidence=tuple(said),
        severity=None if sure else INFO,
    )
