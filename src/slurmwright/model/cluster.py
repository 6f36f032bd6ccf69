"""The words of cluster.yaml as frozen values: what one file says about one cluster, before any host is asked.

Values here have passed the checks of their own field; what takes two fields to judge (hosts used twice, a
partition without nodes, an option the release does not know) is checked in `check.py`. `load.py` turns a
file into a `Cluster` and every error into file:line:column.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.release import Release


class Part(BaseModel):
    """A frozen piece of cluster.yaml; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Slurm(Part):
    """Which Slurm. `nvml`: was it built with NVML (Debian's and Ubuntu's packages were not)."""

    release: Release
    nvml: bool = False
    user: str = "slurm"
    config_dir: str = "/etc/slurm"


class Server(Part):
    """One host that runs a daemon; written as a bare name where no address is needed."""

    host: str
    address: str | None = None


class Control(Part):
    """Hosts that are not compute nodes. The first controller is the primary, the others back it up and need
    `state_dir` on storage that all of them share."""

    controllers: tuple[Server, ...] = Field(min_length=1)
    state_dir: str = "/var/spool/slurmctld"
    database: Server | None = None
    login: tuple[Server, ...] = ()


class Racks(Part):
    """How the hosts of a group stand in racks, in host order: `size` hosts each."""

    size: int = Field(ge=1)
    names: str | None = None


class NodeGroup(Part):
    """Hosts of one type. `hosts` and `address` are expanded, of the same length (or no address at all), in
    written order: `address[i]` belongs to `hosts[i]`."""

    hosts: tuple[str, ...]
    type: str
    address: tuple[str, ...] = ()
    racks: Racks | None = None
    features: tuple[str, ...] = ()
    weight: int | None = Field(None, ge=0, le=2**32 - 1)
    autodetect: Literal["nvml", "nvidia"] | None = None
    options: dict[str, str] = Field(default_factory=dict)


class Fabric(Part):
    """The network that NCCL uses; rate in Gbit/s per rail."""

    kind: Literal["infiniband", "roce", "efa", "ethernet", "none"]
    rate_gbps: int | None = Field(None, ge=1)
    rails: int | None = Field(None, ge=1)


class NodeChoice(Part):
    """Which nodes a partition has: the union of what is named; `hosts` are expanded. `all` takes every node."""

    all: bool = False
    hosts: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    feature: tuple[str, ...] = ()


class Partition(Part):
    """One partition. Times are Slurm's (`7-00:00:00`, `UNLIMITED`); `options` takes any other key."""

    name: str
    nodes: NodeChoice
    default: bool = False
    max_time: str | None = None
    default_time: str | None = None
    state: Literal["UP", "DOWN", "DRAIN", "INACTIVE"] = "UP"
    priority_tier: int | None = Field(None, ge=0, le=65533)
    options: dict[str, str] = Field(default_factory=dict)


class Accounting(Part):
    """Accounting through slurmdbd on `control.database`."""

    enabled: bool = False


class Cluster(Part):
    """Everything one cluster.yaml says. `node_types` are resolved: catalogue rows and the file's own, by name,
    for exactly the types that groups use."""

    name: str
    slurm: Slurm
    control: Control
    nodes: tuple[NodeGroup, ...] = Field(min_length=1)
    node_types: dict[str, NodeType]
    fabric: Fabric | None = None
    partitions: tuple[Partition, ...] = Field(min_length=1)
    accounting: Accounting = Accounting()
    overrides: dict[str, dict[str, Any]] = Field(default_factory=dict)
