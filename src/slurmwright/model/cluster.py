"""The words of cluster.yaml as frozen values: what one file says about one cluster, before any host is asked.

Values here have passed the checks of their own field; what takes two fields to judge (hosts used twice, a
partition without nodes, an option the release does not know) is checked in `check.py`. `load.py` turns a
file into a `Cluster` and every error into file:line:column. A field's description is the only copy: it ends
the error message when the field is missing and stands in the JSON Schema.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.hosts import expand
from slurmwright.core.release import Release

#: What one override may be once loaded: text, a comma list, or tokens to merge into the rendered list (a
#: token's value, or True to add and False to drop it); None leaves the key out of the file.
Setting = str | tuple[str, ...] | dict[str, str | bool] | None

_RANGES: dict[str, Any] = {"type": ["string", "array"], "items": {"type": "string"}}
_OPTIONS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {"type": ["string", "number", "boolean", "array"]},
}
_LINES: dict[str, Any] = {"type": "array", "items": _OPTIONS}
_LEFT_OUT: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {"type": ["string", "number", "boolean", "array", "null"]},
}
_PROFILES: dict[str, Any] = {
    "anyOf": [
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
    ]
}
_BILLING: dict[str, Any] = {
    "anyOf": [
        {"type": "boolean"},
        {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
    ]
}
_RELEASE: dict[str, Any] = {"type": ["string", "number"], "examples": ["24.11", "24.11.5"]}


class Part(BaseModel):
    """A frozen piece of cluster.yaml; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Slurm(Part):
    """Which Slurm, and how it was built where that decides what may be written."""

    release: Annotated[Release, WithJsonSchema(_RELEASE)] = Field(
        description='the Slurm release in quotes, "24.11", or a patch level, "24.11.5"'
    )
    nvml: bool = Field(
        False,
        description="true where this Slurm was built with NVML (Debian's and Ubuntu's packages are not)",
    )
    imex: bool = Field(
        False,
        description="true to give each job an IMEX channel of its own (NVL72); needs a Slurm built with "
        "switch/nvidia_imex",
    )
    user: str = Field("slurm", description="the user that slurmctld runs as")
    config_dir: str = Field("/etc/slurm", description="the folder of slurm.conf on every host")


class Server(Part):
    """One host that runs a daemon; written as a bare name where no address is needed."""

    host: str = Field(description="a host name such as ctl1")
    address: str | None = Field(None, description="the address that the others reach this host by")


class Control(Part):
    """Hosts that run slurmctld and slurmdbd or only submit jobs. The first controller is the primary; the
    others back it up and need `state_dir` on storage that all of them share."""

    controllers: tuple[Server, ...] = Field(
        min_length=1, description="the hosts that run slurmctld, the primary first, for example [ctl1, ctl2]"
    )
    state_dir: str = Field(
        "/var/spool/slurmctld",
        description="where slurmctld keeps its state; with several controllers on shared storage",
    )
    database: Server | None = Field(None, description="the host that runs slurmdbd")
    login: tuple[Server, ...] = Field((), description="hosts from which users submit")


class Racks(Part):
    """How the hosts of a group stand in racks, in host order; the last rack may hold fewer."""

    size: int = Field(ge=1, description="hosts in one rack")
    names: str | None = Field(None, description="names of the racks as a range, for example rack[01-16]")


class HostException(Part):
    """What a host has otherwise than its group. GPUs are named by their index on a complete host: in PCI
    order, as nvidia-smi lists them."""

    gpus_missing: tuple[int, ...] = Field(
        (), description="GPUs that are gone from the PCI bus, for example [5]; device numbers close ranks"
    )
    gpus_withheld: tuple[int, ...] = Field(
        (), description="GPUs that are in the host but are not given to jobs, for example [5]"
    )
    real_memory_mb: int | None = Field(
        None, ge=1, description="RealMemory as `slurmd -C` prints it on this host, in MiB"
    )


class MigLayout(Part):
    """How GPUs are divided into MIG instances; nothing here divides them. `caps` are needed where slurmd does
    not detect the instances: the capability minors of each instance's GPU and compute instance."""

    gpus: tuple[int, ...] = Field(min_length=1, description="indexes of the divided GPUs, in PCI order")
    profiles: Annotated[tuple[str, ...], WithJsonSchema(_PROFILES)] = Field(
        min_length=1, description="the profiles of one GPU's instances, {1g.10gb: 7} or [3g.40gb, 4g.40gb]"
    )
    caps: tuple[tuple[int, int], ...] = Field(
        (),
        description="for each instance N and M of its files /dev/nvidia-caps/nvidia-capN and M, from "
        "/proc/driver/nvidia-caps/mig-minors, for example [[606, 607], [615, 616]]",
    )


class AsWritten(Part):
    """What the files of an imported cluster say of a group and no other word can say: written as it stands,
    and taken on trust. Facts and a type of the catalogue make each of these words needless."""

    real_memory_mb: int | None = Field(
        None, ge=1, description="RealMemory exactly as it is written; other words leave room below it"
    )
    gpu_type: str | None = Field(
        None, description='the Type of its GPUs where no GPU model has that one; "" for GPUs without a Type'
    )
    gres: str | None = Field(None, description="the whole Gres of its node line, for example gpu:8")
    gres_conf: Annotated[tuple[dict[str, str], ...], WithJsonSchema(_LINES)] = Field(
        (), description="its lines of gres.conf without NodeName, each {Name: gpu, File: /dev/nvidia0}"
    )


class NodeGroup(Part):
    """Hosts of one type. `hosts` and `address` are expanded, of the same length (or no address at all), in
    written order: `address[i]` belongs to `hosts[i]`."""

    hosts: Annotated[tuple[str, ...], WithJsonSchema(_RANGES)] = Field(
        min_length=1, description="host names as a range or a list of ranges, for example gpu[001-064]"
    )
    type: str = Field(description="the name of a node type, from the catalogue or from node_types")
    address: Annotated[tuple[str, ...], WithJsonSchema(_RANGES)] = Field(
        (), description="one address per host in the same order, for example 10.20.1.[1-64]"
    )
    racks: Racks | None = Field(None, description="how the hosts stand in racks, for example {size: 4}")
    features: Annotated[tuple[str, ...], WithJsonSchema(_RANGES)] = Field(
        (), description="words that jobs may ask for with --constraint"
    )
    weight: int | None = Field(
        None, ge=0, le=2**32 - 1, description="nodes of lower weight are given out first"
    )
    autodetect: Literal["nvml", "nvidia"] | None = Field(
        None, description="let slurmd find the GPUs instead of writing one line for each"
    )
    exceptions: dict[str, HostException] = Field(
        default_factory=dict, description="hosts that differ, {HOSTS: {gpus_missing: [5]}}"
    )
    mig: tuple[MigLayout, ...] = Field(
        (), description="GPUs divided into MIG instances, [{gpus: [4], profiles: {1g.10gb: 7}}]"
    )
    shards_per_gpu: int | None = Field(
        None, ge=1, le=1024, description="jobs that may share one GPU as shards (gres/shard)"
    )
    mps_per_gpu: int | None = Field(
        None, ge=1, le=1000, description="parts of one GPU under CUDA MPS (gres/mps), usually 100"
    )
    options: Annotated[dict[str, str], WithJsonSchema(_OPTIONS)] = Field(
        default_factory=dict, description="any other key of a NodeName line, for example {CoreSpecCount: 2}"
    )
    as_written: AsWritten = Field(
        AsWritten(), description="what an imported file says and no other word can, {real_memory_mb: 257000}"
    )

    def differing(self) -> dict[str, HostException]:
        """The exceptions by host: a key of `exceptions` may be a range."""
        return {host: entry for hosts, entry in self.exceptions.items() for host in expand(hosts)}


class Fabric(Part):
    """The network that NCCL uses."""

    kind: Literal["infiniband", "roce", "efa", "ethernet", "none"] = Field(description="the kind of network")
    rate_gbps: int | None = Field(None, ge=1, description="Gbit/s of one rail")
    rails: int | None = Field(None, ge=1, description="network cards that carry NCCL traffic, per node")


class NcclTuned(Part):
    """Settings that `slurmwright nccl tune` measured, and what they were measured on."""

    type: str = Field(description="the node type that gets them")
    fabric: str = Field(description="the kind of network they were measured on")
    nodes: int = Field(ge=1, description="nodes of the measurement")
    nccl: str = Field(description='NCCL\'s version in the measurement, for example "2.27.7"')
    set: dict[str, int | str] = Field(
        min_length=1, description="variables of NCCL, for example {NCCL_IB_QPS_PER_CONNECTION: 4}"
    )


class Nccl(Part):
    """What NCCL is told beside what the fabric and the node types say."""

    topology_file: Literal["auto", "always", "never"] = Field(
        "auto",
        description="auto writes NCCL_TOPO_FILE for types whose machines hide PCIe, always for every type "
        "with GPUs, never for none",
    )
    socket_interface: str | None = Field(
        None, description="the IP interface that every node has, for the first contact, for example bond0"
    )
    traffic_class: int | None = Field(
        None, ge=0, le=255, description="RoCE: the lossless class, DSCP times 4, for example 106 for DSCP 26"
    )
    sharp: bool = Field(
        False, description="true where the InfiniBand switches have SHARP and the images its plugin"
    )
    tuned: tuple[NcclTuned, ...] = Field(
        (), description="what `slurmwright nccl tune` found, one entry for a node type"
    )


class NamedUnit(Part):
    """One switch or block under its own name: `nodes` below a leaf switch or in a block, `switches` below a
    switch of a higher level."""

    name: str = Field(description="the name of the switch or block")
    nodes: Annotated[tuple[str, ...], WithJsonSchema(_RANGES)] = Field((), description="its hosts as a range")
    switches: Annotated[tuple[str, ...], WithJsonSchema(_RANGES)] = Field(
        (), description="the switches below it as a range"
    )


class Topology(Part):
    """How Slurm shall see the network. A unit is a leaf switch of a tree or a block (one NVLink domain);
    without `size` it is a rack of the group, and for blocks the NVLink domain of the node type. With `units`
    each one is named, for networks that no rule describes."""

    kind: Literal["tree", "block", "flat"] = Field(
        description="tree (leaf switches and switches above them), block (NVLink domains) or flat"
    )
    size: int | None = Field(
        None, ge=1, description="hosts of one leaf switch (a scalable unit) or of one block"
    )
    base: int | None = Field(
        None, ge=1, description="hosts of a block that Slurm plans with, for example 16 of 18 to keep spares"
    )
    levels: tuple[int, ...] = Field(
        (),
        max_length=3,
        description="how many units one switch or block of the next level joins, from below: [8, 4]",
    )
    units: tuple[NamedUnit, ...] = Field(
        (), description="every switch or block by name, [{name: s1, nodes: ...}, {name: top, switches: ...}]"
    )
    sizes: tuple[int, ...] = Field(
        (), description="with named blocks, BlockSizes from the smallest, for example [18, 36]"
    )
    format: Literal["conf", "yaml"] = Field(
        "conf", description="conf for topology.conf, yaml for topology.yaml (from Slurm 25.05.2)"
    )


class NodeChoice(Part):
    """Which nodes a partition has: the union of what is named; `hosts` are expanded."""

    all: bool = Field(False, description="every node of the cluster")
    hosts: Annotated[tuple[str, ...], WithJsonSchema(_RANGES)] = Field((), description="these hosts")
    type: Annotated[tuple[str, ...], WithJsonSchema(_RANGES)] = Field((), description="nodes of these types")
    feature: Annotated[tuple[str, ...], WithJsonSchema(_RANGES)] = Field(
        (), description="nodes that have any of these features"
    )

    def select(self, groups: Iterable[NodeGroup]) -> tuple[str, ...]:
        """The chosen hosts in the order of the groups, each once."""
        named = set(self.hosts)
        found: dict[str, None] = {}
        for group in groups:
            if self.all or group.type in self.type or not set(self.feature).isdisjoint(group.features):
                found.update(dict.fromkeys(group.hosts))
            elif named:
                found.update((host, None) for host in group.hosts if host in named)
        return tuple(found)


class Partition(Part):
    """One partition. Times are Slurm's: minutes, `12:00:00`, `7-00:00:00` or `UNLIMITED`."""

    name: str = Field(description="the partition's name")
    nodes: NodeChoice = Field(description="which nodes: all, {type: ...}, {feature: ...} or {hosts: ...}")
    default: bool = Field(False, description="true for the partition of jobs that name none")
    max_time: str | None = Field(None, description="the longest a job may run, for example 7-00:00:00")
    default_time: str | None = Field(None, description="the time of jobs that ask for none")
    state: Literal["UP", "DOWN", "DRAIN", "INACTIVE"] = Field("UP", description="what the partition accepts")
    priority_tier: int | None = Field(
        None, ge=0, le=65533, description="partitions of a higher tier go first"
    )
    options: Annotated[dict[str, str | None], WithJsonSchema(_LEFT_OUT)] = Field(
        default_factory=dict,
        description="any other key of a PartitionName line, for example {OverSubscribe: 'NO'}; null leaves "
        "one out",
    )


class Scratch(Part):
    """The nodes' own disk, a folder of its own that root owns: what jobs write there goes with them."""

    base: str = Field(description="a folder on each node's own disk, for example /local/scratch")
    private_tmp: bool = Field(
        False,
        description="true to give each job a /tmp and /dev/shm of its own there; false for a folder job-ID",
    )


class ContainerCache(Part):
    """How long and how much of what users pulled is kept on a node."""

    keep_days: int | None = Field(
        30, ge=1, le=3650, description="days after which a layer that nobody read goes; null keeps all"
    )
    max_gb: int | None = Field(
        None, ge=1, le=1_000_000, description="the most that one user's layers take on a node; the rest goes"
    )


class Registry(Part):
    """How enroot reaches registries. Passwords never stand here: users keep theirs in .credentials."""

    proxy: str | None = Field(None, description="the proxy for images, for example http://proxy:3128")
    no_proxy: str | None = Field(
        None, description="hosts that are asked directly, for example .site,10.0.0.1"
    )
    ca_file: str | None = Field(
        None, description="certificates that sign the site's own registry, a file of nodes"
    )
    http: bool = Field(False, description="true for a registry without TLS; images may then be altered")


class Containers(Part):
    """Containers in jobs. Their images and file systems lie below `scratch.base`, else in /var/lib/enroot."""

    runtime: Literal["enroot-pyxis"] = Field(
        description="enroot-pyxis: srun --container-image, with enroot and pyxis installed on the hosts"
    )
    plugin: str = Field(
        "/usr/local/lib/slurm/spank_pyxis.so",
        description="where spank_pyxis.so is on nodes, login hosts and controllers",
    )
    enroot: str | None = Field(
        None, description='the release of enroot in quotes, "4.1"; newer settings need it'
    )
    pyxis: str | None = Field(
        None, description='the release of pyxis in quotes, "0.24"; newer settings need it'
    )
    scope: Literal["job", "global"] = Field(
        "job", description="how long a container with a name lasts: as its job, or until its user removes it"
    )
    entrypoint: bool = Field(
        False, description="true to run the entrypoint of images where the job says nothing"
    )
    importer: str | None = Field(
        None,
        description="a program that fetches images in the place of enroot import, on the nodes (pyxis 0.21)",
    )
    squashfuse: bool = Field(
        False, description="true to start images without unpacking them, by squashfuse (pyxis 0.22)"
    )
    gpus_in_plain_images: bool = Field(
        True, description="false to leave images that do not ask for GPUs without the driver"
    )
    hooks: tuple[Literal["pmi", "pytorch", "sharp", "mig-config"], ...] = Field(
        ("pmi", "pytorch"), description="hooks that enroot brings and does not switch on, [pmi, pytorch]"
    )
    mount_home: bool = Field(False, description="true for the user's home in every container")
    restrict_devices: bool = Field(
        False, description="true for a /dev with no more than GPUs and adapters in it"
    )
    shared_memory_gb: int | None = Field(
        None, ge=1, le=100_000, description="the size of a /dev/shm of its own; without it the host's is used"
    )
    images: tuple[str, ...] = Field(
        (), description="folders of .sqsh files that need no registry, for example [/shared/images]"
    )
    credentials: str | None = Field(
        None, description="a folder with user-UID/.credentials of each user, where homes are not on the nodes"
    )
    cache: ContainerCache = Field(
        ContainerCache(), description="what is kept of images, {keep_days: 30, max_gb: 200}"
    )
    registry: Registry = Field(
        Registry(), description="how registries are reached, {proxy: ..., ca_file: ...}"
    )


class StoragePassword(Part):
    """Where the password of the database comes from; it never stands here. Without `vault` it is read from
    `file` on the database host."""

    file: str = Field(
        "/etc/slurm/slurmdbd.password",
        description="a file on the database host that only root reads, with the password in its one line",
    )
    vault: str | None = Field(
        None, description="an Ansible variable that holds the password, encrypted with ansible-vault"
    )


class Accounting(Part):
    """Accounting through slurmdbd on `control.database`; on wherever a database host is named."""

    enabled: bool = Field(False, description="true to account jobs through slurmdbd")
    storage_password: StoragePassword = Field(
        StoragePassword(), description="where the database's password comes from, {file: ...} or {vault: ...}"
    )
    billing: Annotated[bool | dict[str, float], WithJsonSchema(_BILLING)] = Field(
        True,
        description="true to bill a GPU or its share of a node; false for CPUs alone; or weights, "
        "{gpu: 100, gpu:h100: 200, cpu: 3, mem_gb: 0.4}",
    )


class Cluster(Part):
    """Everything one cluster.yaml says. `node_types` are resolved: catalogue rows and the file's own, by
    name, for exactly the types that groups use. `overrides` hold a `Setting` for each key of each file."""

    name: str = Field(description="the cluster's name in lower case")
    slurm: Slurm = Field(description='the Slurm to write for, {release: "24.11"}')
    control: Control = Field(description="the hosts around the nodes, {controllers: [ctl1]}")
    nodes: tuple[NodeGroup, ...] = Field(
        min_length=1, description="the groups of compute nodes, each {hosts: ..., type: ...}"
    )
    node_types: dict[str, NodeType] = Field(
        description="node types of your own: {NAME: {extends: BASE, ...}}, or all keys without a base"
    )
    fabric: Fabric | None = Field(None, description="the network that NCCL uses")
    nccl: Nccl = Field(Nccl(), description="what NCCL is told, for example {socket_interface: bond0}")
    topology: Topology | None = Field(
        None, description="how the hosts hang together, for example tree, or {kind: block, size: 18}"
    )
    scratch: Scratch | None = Field(None, description="the nodes' own disk for jobs, {base: /local/scratch}")
    containers: Containers | None = Field(None, description="containers in jobs, {runtime: enroot-pyxis}")
    partitions: tuple[Partition, ...] = Field(
        min_length=1, description="the partitions, each {name: ..., nodes: ...}"
    )
    accounting: Accounting = Field(Accounting(), description="true, false or {enabled: ...}")
    overrides: dict[str, dict[str, Setting]] = Field(
        default_factory=dict, description="any other option: {FILE: {KEY: value}}"
    )
