"""NC018: a setting for another kind of network."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.finding import Severity
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import Seen, nccl_files
from slurmwright.rules.rule import INFO, WARNING, Fault, rule


@rule(
    "NC018",
    "setting-of-another-fabric",
    WARNING,
    why="""A setting of RoCE on InfiniBand, of RDMA on TCP or of sockets on RDMA has no effect, or
        did harm in older versions, and hides which settings matter.""",
    fix="""take the line out""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.settings.values():
            found = _foreign(one.name, file) if one.value else None
            if found:
                yield Fault(f"{one.shown}: {found[0]}", one.place, severity=found[1], about=one.name)


_GID = (
    "a setting of RoCE; InfiniBand ignores it from 2.22 on, and an index without an entry broke "
    "connections before"
)
_TC = "a traffic class of RoCE; on InfiniBand it sets a field of the GRH that nothing reads"
_SOCKETS = ("NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD")
_ROCE = ("NCCL_IB_GID_INDEX", "NCCL_IB_ADDR_FAMILY", "NCCL_IB_ADDR_RANGE", "NCCL_IB_ROCE_VERSION_NUM")


def _foreign(name: str, file: Seen) -> tuple[str, Severity] | None:
    if file.fabric == "infiniband" and name in _ROCE:
        return _GID, WARNING
    if file.fabric == "infiniband" and name in ("NCCL_IB_TC", "NCCL_IB_FIFO_TC"):
        return _TC, INFO
    if file.fabric == "tcp" and name.startswith("NCCL_IB_") and name != "NCCL_IB_DISABLE":
        return "a setting of InfiniBand and RoCE; nothing reads it on a TCP network", WARNING
    if file.fabric == "efa" and name.startswith("NCCL_IB_"):
        return "a setting of InfiniBand and RoCE; EFA goes through libfabric, and nothing reads it", WARNING
    if file.fabric == "efa" and name in ("NCCL_ALGO", "NCCL_PROTO", "NCCL_TOPO_FILE"):
        return "aws-ofi-nccl sets this for its instance types by itself", WARNING
    if file.rdma and name in _SOCKETS:
        return "helpers of the TCP transport; with InfiniBand or RoCE they do nothing", INFO
    return None
