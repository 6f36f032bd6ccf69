"""Node type, node count, rails and the features of the network to what a collective can reach on them.

Three numbers of bus bandwidth: `limit`, which no algorithm passes; `ring`, what the plain ring reaches; and
`expected`, what a good cluster of this kind reaches, which is 100 %. On two nodes, and inside a node with
NVLS, the bus bandwidth rightly passes the ring's: 480 of 370 is no error (NVIDIA/nccl src/graph/tuning.cc).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from slurmwright.catalogue.nccl_speeds import NvLinkSpeed, nvlink_of, pcie_of, slot_of
from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Fabric
from slurmwright.nccl.bandwidth import bus_factor

#: NCCL's search gives 8 rings of 48 on 8 x 400 Gbit/s beside the 370.8 that it counts for NVLink.
_BESIDE = 1.05


@dataclass(frozen=True)
class Shape:
    """What bounds a node: its GPUs, how they are joined, its rails. `rail` is GB/s of one as far as its slot
    lets it; `domain` counts nodes that NVLink joins."""

    gpus: int
    nvlink: NvLinkSpeed | None
    pcie: float | None
    rails: int
    rail: float
    slot_bound: bool = False
    sharp: bool = False
    nvls: bool = True
    domain: int = 1

    @property
    def node(self) -> float:
        """What all rails of a node carry."""
        return self.rails * self.rail


@dataclass(frozen=True)
class Bound:
    """GB/s of bus bandwidth; None where nobody can tell. `why` names what bounds it."""

    limit: float | None
    ring: float | None
    expected: float | None
    why: str

    def as_json(self) -> dict[str, object]:
        return {"limit": self.limit, "ring": self.ring, "expected": self.expected, "why": self.why}


def shape_of(kind: NodeType, fabric: Fabric | None = None, sharp: bool = False, nvls: bool = True) -> Shape:
    """A node of this type on this network; what `fabric` leaves out is the type's own."""
    rate = (fabric and fabric.rate_gbps) or kind.network.compute_rate_gbps or 0
    rails = (fabric and fabric.rails) or kind.network.compute_count or 0
    if fabric and fabric.kind == "none":
        rate = rails = 0
    slot, raw = slot_of(kind), rate / 8
    rail = min(raw, slot) if slot else raw
    domain = kind.nvlink.block_size or 1
    return Shape(
        kind.gpu.count,
        nvlink_of(kind),
        pcie_of(kind),
        rails if rate else 0,
        rail,
        rail < raw,
        sharp,
        nvls,
        domain,
    )


def one_rail(shape: Shape) -> Shape:
    """The same node where each GPU talks over its own rail only, as in a test of rails side by side."""
    return replace(shape, gpus=1, rails=min(shape.rails, 1), nvlink=None, pcie=None, domain=1)


def bound(operation: str, shape: Shape, nodes: int) -> Bound:
    """Raises InputError for an operation that nobody knows or no nodes."""
    bus_factor(operation, 1)
    if nodes < 1 or shape.gpus < 1:
        raise InputError.of(f"{nodes} nodes with {shape.gpus} GPUs; expected at least one of each")
    if nodes <= shape.domain and shape.nvlink:
        return _inside(operation, shape, nodes * shape.gpus, shape.nvlink)
    if nodes == 1:
        return _pcie(shape)
    if not shape.rails:
        return Bound(None, None, None, "the rails or their rate are not known; give fabric in cluster.yaml")
    if shape.domain > 1:
        return Bound(None, None, None, "nobody has told what several NVLink domains reach together")
    return _between(operation, shape, nodes)


def _inside(operation: str, shape: Shape, ranks: int, link: NvLinkSpeed) -> Bound:
    ring = link.ring
    if ranks == 1:
        return Bound(None, None, None, "one GPU moves nothing")
    reduced = operation == "all_reduce" and shape.nvls and link.nvls > 1
    if reduced:
        limit = _rounded(2 * (ranks - 1) / (ranks + 1) * link.line)
        return Bound(limit, ring, min(limit, _rounded(ring * link.nvls)), "NVLink with NVLS")
    return Bound(link.line, ring, ring, "NVLink")


def _pcie(shape: Shape) -> Bound:
    if shape.pcie is None:
        return Bound(None, None, None, "the PCIe generation is not known")
    return Bound(shape.pcie, None, None, "PCIe; what is reached depends on switches and sockets")


def _between(operation: str, shape: Shape, nodes: int) -> Bound:
    ranks = nodes * shape.gpus
    rails = shape.node
    inside = shape.nvlink.ring if shape.nvlink else shape.pcie
    ring = min(rails, inside) if inside and rails > inside * _BESIDE else rails
    what = f"{shape.rails} rails of {shape.rail:g} GB/s" + (
        ", bound by their PCIe slots" if shape.slot_bound else ""
    )
    share = nodes / (2 * (nodes - 1))
    if operation == "all_reduce":
        factor = 1.0 if shape.sharp else min(share, 1.0)
        limit = rails * factor * 2 * (ranks - 1) / ranks
    elif operation in ("all_gather", "reduce_scatter", "gather", "scatter"):
        limit = rails * 2 * share * (ranks - 1) / ranks
    elif operation == "alltoall":
        limit = rails / shape.gpus * nodes / (nodes - 1)
        ring = min(limit, ring)
    elif operation == "sendrecv":
        return Bound(_rounded(rails), None, _rounded(rails / shape.gpus), what)
    else:
        limit = rails
    if operation in ("gather", "scatter"):
        return Bound(_rounded(limit), None, None, what)
    if ring < rails and operation != "alltoall":
        what = "NVLink or PCIe inside the node" if inside == ring else what
    return Bound(_rounded(limit), _rounded(ring), _rounded(ring), what)


def _rounded(value: float) -> float:
    return round(value, 1)
