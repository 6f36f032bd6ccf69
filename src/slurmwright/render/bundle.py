"""Cluster and facts to the Bundle: who gets which file, with what owner and mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.hosts import fold
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts
from slurmwright.render.cgroup_conf import cgroup_conf
from slurmwright.render.check import check_bundle, check_rendered
from slurmwright.render.described import Described, describe
from slurmwright.render.gres_conf import gres_conf
from slurmwright.render.imex import imex_files
from slurmwright.render.job_container_conf import job_container_conf
from slurmwright.render.nccl_files import nccl_files, nccl_notes
from slurmwright.render.node_files import node_files
from slurmwright.render.rows import fill, place, settings
from slurmwright.render.slurm_conf import slurm_conf
from slurmwright.render.slurmdbd_conf import slurmdbd_conf, slurmdbd_file
from slurmwright.render.spec_cores import check_reservations
from slurmwright.render.topology_conf import topology_conf, topology_yaml
from slurmwright.render.written_lines import refuse_contradicted

#: Login hosts fetch the files themselves from this release on (sackd); before, they hold copies.
SACKD_SINCE = "23.11"


def render(cluster: Cluster, facts: Mapping[str, HostFacts]) -> Bundle:
    """All files of a cluster. Raises InputError for facts that are missing and options that do not fit."""
    refuse_contradicted(cluster, facts)
    rows = describe(cluster, facts)
    check_reservations(cluster, rows)
    contents = {
        "cgroup.conf": cgroup_conf(cluster),
        "gres.conf": gres_conf(cluster, rows),
        "slurm.conf": slurm_conf(cluster, rows),
    }
    topology = topology_conf(cluster)
    if topology:
        contents["topology.conf"] = topology
    own_tmp = job_container_conf(cluster)
    if own_tmp:
        contents["job_container.conf"] = own_tmp
    database = slurmdbd_conf(cluster)
    check_rendered(cluster.slurm.release, {**contents, "slurmdbd.conf": database})
    written = settings(contents["slurm.conf"])
    holders = tuple(dict.fromkeys(_holders(cluster, written)))
    hosts = fold(holders)
    folder = cluster.slurm.config_dir.rstrip("/")
    texts = {name: place("slurm_file.j2", cluster.name, sections) for name, sections in contents.items()}
    network = topology_yaml(cluster)
    if network:
        texts["topology.yaml"] = fill("topology.yaml.j2", cluster=cluster.name, topology=network)
    files = (
        BundleFile(
            path=f"{folder}/{name}",
            source=f"{folder.lstrip('/')}/{name}",
            hosts=hosts,
            owner="root",
            group="root",
            mode="0644",
            text=text,
        )
        for name, text in texts.items()
    )
    around = node_files(cluster, rows, holders, written, settings(database))
    every = sorted(
        (
            *files,
            *nccl_files(cluster, facts),
            *imex_files(cluster),
            *slurmdbd_file(cluster, database),
            *around,
        )
    )
    bundle = Bundle(cluster.name, str(cluster.slurm.release), tuple(every))
    check_bundle(cluster, bundle)
    return bundle


def render_notes(cluster: Cluster, facts: Mapping[str, HostFacts]) -> tuple[Finding, ...]:
    """What was assumed because no fact says otherwise: info findings with the way to make it sure."""
    return (*_notes(describe(cluster, facts)), *_partition_notes(cluster), *nccl_notes(cluster, facts))


def _holders(cluster: Cluster, written: Mapping[str, str]) -> Iterator[str]:
    """Hosts that hold the files. Compute nodes fetch them from the controllers (configless), unless an
    override of SlurmctldParameters takes that away."""
    configless = "enable_configless" in written.get("SlurmctldParameters", "").lower().split(",")
    yield from (server.host for server in cluster.control.controllers)
    if not configless or not cluster.slurm.release.at_least(SACKD_SINCE):
        yield from (server.host for server in cluster.control.login)
    if not configless:
        yield from (host for group in cluster.nodes for host in group.hosts)


def _notes(rows: Sequence[Described]) -> Iterator[Finding]:
    for row in rows:
        hosts, shape = fold(row.hosts), row.shape
        if shape.memory_assumed:
            message = (
                f"{hosts}: RealMemory={shape.memory_mb} is assumed from the nominal memory of {shape.type}"
            )
            fix = "give memory.real_memory_mb in node_types, or facts"
            yield Finding(
                "render/memory-assumed", "memory-assumed", Severity.INFO, message, "slurm.conf", fix=fix
            )
        if shape.minors_assumed and not shape.autodetect:
            message = f"{hosts}: device numbers of the GPUs are assumed to follow PCI order"
            fix = "facts/HOST.yaml gives them (Device Minor in /proc/driver/nvidia/gpus/*/information)"
            yield Finding(
                "render/minors-assumed", "minors-assumed", Severity.INFO, message, "gres.conf", fix=fix
            )
        yield from _exception_notes(hosts, row)


def _partition_notes(cluster: Cluster) -> Iterator[Finding]:
    if not any(partition.default for partition in cluster.partitions):
        message = "no partition is the default: slurmctld logs an error, and a job that names none is refused"
        fix = "give one partition `default: true`, unless every job shall name its partition"
        name = "no-default-partition"
        yield Finding(f"render/{name}", name, Severity.INFO, message, "slurm.conf", fix=fix)


def _exception_notes(hosts: str, row: Described) -> Iterator[Finding]:
    """A GPU that Slurm does not know is open to every job: device cgroups deny only what gres.conf lists."""
    for gpu in row.shape.withheld:
        message = (
            f"{hosts}: /dev/nvidia{gpu.minor} is withheld, but a job that opens it is not refused: the "
            "device filter denies only what stands in gres.conf"
        )
        address = gpu.pci or f"the PCI address of GPU {gpu.index}"
        fix = f"take it from the driver at boot: echo {address} > /sys/bus/pci/drivers/nvidia/unbind"
        yield Finding("render/gpu-withheld", "gpu-withheld", Severity.WARNING, message, "gres.conf", fix=fix)
    if row.shape.missing:
        gone = ",".join(map(str, row.shape.missing))
        message = (
            f"{hosts}: GPU {gone} is missing; should it come back, device numbers shift and the one that "
            "gres.conf does not list is open to every job"
        )
        fix = "drain the host before its GPU is reset or replaced, then take the exception out and render"
        yield Finding("render/gpu-missing", "gpu-missing", Severity.INFO, message, "gres.conf", fix=fix)
