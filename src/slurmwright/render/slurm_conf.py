"""Cluster to slurm.conf: defaults for GPU training clusters, each explained by `slurmwright explain KEY`."""

from __future__ import annotations

from collections.abc import Sequence

from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster, Server
from slurmwright.model.slurm_time import minutes
from slurmwright.render.billing import billing_flags
from slurmwright.render.described import Described
from slurmwright.render.job_container_conf import private_tmp_options
from slurmwright.render.node_lines import node_lines, partition_line
from slurmwright.render.node_scripts import script_options
from slurmwright.render.rows import Line, Section, override, setting
from slurmwright.render.sockets import PARAMETER, check_kept, for_cluster
from slurmwright.render.topology_conf import topology_settings

#: (nodes up to, MessageTimeout in seconds)
_MESSAGE_TIMEOUT = ((100, 10), (1000, 30), (10**9, 60))
_DAY = 24 * 60
#: The longest bf_window that Slurm takes (slurm.conf(5)); a longer one is dropped with an error.
_MAX_WINDOW = 30 * _DAY
#: Comes with systemd on Debian, Ubuntu and RHEL; without it `scontrol reboot` does nothing.
REBOOT = "/usr/sbin/reboot"
#: slurmctld sets a node DOWN that `scontrol reboot` does not bring back in this time (scontrol(1)); the
#: firmware of a machine with eight GPUs alone takes ten minutes, and Slurm's own default is one.
_BOOT_SECONDS = 1800


def slurm_conf(cluster: Cluster, rows: Sequence[Described]) -> tuple[Section, ...]:
    """The sections of slurm.conf with the overrides of cluster.yaml applied."""
    sections = (
        Section("The cluster and its controllers.", _control(cluster)),
        Section("What slurmd and slurmctld do.", _daemons(cluster, rows)),
        Section("Cores, memory and GPUs are given out one by one.", _scheduling(cluster)),
        Section("Where the hosts stand in the network.", topology_settings(cluster)),
        Section("Jobs are confined to what they were given.", _confinement(cluster)),
        Section("What slurmd runs around jobs and to check its node.", script_options(cluster, rows)),
        Section("Who goes first.", _priority(cluster, rows)),
        Section("Jobs are accounted by slurmdbd.", _accounting(cluster, rows)),
    )
    partitions = tuple(partition_line(cluster, partition, rows) for partition in cluster.partitions)
    return (
        *override(sections, cluster.overrides.get("slurm.conf", {})),
        Section("Nodes, as slurmd must find them.", node_lines(cluster, rows)),
        Section("Partitions.", partitions),
    )


def _control(cluster: Cluster) -> tuple[Line, ...]:
    return (
        setting("ClusterName", cluster.name),
        *(setting("SlurmctldHost", _with_address(server)) for server in cluster.control.controllers),
        setting("SlurmUser", cluster.slurm.user),
        setting("AuthType", "auth/munge"),
        setting("CredType", "cred/munge"),
        setting("StateSaveLocation", cluster.control.state_dir),
        setting("SlurmdSpoolDir", "/var/spool/slurmd"),
        setting("SlurmctldPidFile", "/run/slurmctld.pid"),
        setting("SlurmdPidFile", "/run/slurmd.pid"),
        setting("SlurmctldLogFile", "/var/log/slurm/slurmctld.log"),
        setting("SlurmdLogFile", "/var/log/slurm/slurmd.log"),
    )


def _with_address(server: Server) -> str:
    return f"{server.host}({server.address})" if server.address else server.host


def _daemons(cluster: Cluster, rows: Sequence[Described]) -> tuple[Line, ...]:
    message = _message_timeout(cluster, sum(len(row.hosts) for row in rows))
    _check_reboot(cluster)
    check_kept(cluster, (row.shape for row in rows))
    lines = [setting("SlurmctldParameters", "enable_configless")]
    if for_cluster(cluster.slurm.release, (row.shape for row in rows)):
        lines.append(setting("SlurmdParameters", PARAMETER))
    return (
        *lines,
        setting("ReturnToService", "1"),
        setting("RebootProgram", REBOOT),
        setting("ResumeTimeout", str(_BOOT_SECONDS)),
        setting("MessageTimeout", str(message)),
        setting("UnkillableStepTimeout", str(max(180, 5 * message))),
    )


def _check_reboot(cluster: Cluster) -> None:
    """Raise InputError where `scontrol reboot` of a node would reboot the controller (slurm.conf(5))."""
    wanted = cluster.overrides.get("slurm.conf", {})
    words = wanted.get("SlurmctldParameters")
    on = [word for word, value in words.items() if value] if isinstance(words, dict) else words or ()
    text = on if isinstance(on, str) else ",".join(on)
    if "reboot_from_controller" in text.lower() and "RebootProgram" not in wanted:
        raise InputError.of(
            f"overrides: reboot_from_controller has slurmctld run RebootProgram, and {REBOOT} would reboot "
            "the controller itself; name a program that reboots the nodes it is given, RebootProgram: PATH"
        )


def _message_timeout(cluster: Cluster, nodes: int) -> int:
    """Seconds; the overriding value where there is one, since UnkillableStepTimeout must be five times it."""
    wanted = cluster.overrides.get("slurm.conf", {}).get("MessageTimeout")
    if isinstance(wanted, str) and wanted.isdigit():
        return int(wanted)
    return next(seconds for limit, seconds in _MESSAGE_TIMEOUT if nodes <= limit)


def _scheduling(cluster: Cluster) -> tuple[Line, ...]:
    limits = [minutes(p.max_time) if p.max_time else None for p in cluster.partitions]
    longest = max((limit for limit in limits if limit is not None), default=0)
    words = ["bf_continue"]
    if longest > _DAY:
        words += [f"bf_window={min(longest, _MAX_WINDOW)}", "bf_resolution=300"]
    names = ["gpu"] if any(t.gpu.count for t in cluster.node_types.values()) else []
    names += ["shard"] if any(group.shards_per_gpu for group in cluster.nodes) else []
    names += ["mps"] if any(group.mps_per_gpu for group in cluster.nodes) else []
    kept = (group.as_written.gres or "" for group in cluster.nodes)
    names += [entry.partition(":")[0] for text in kept for entry in text.split(",") if entry]
    names = list(dict.fromkeys(names))
    gres = [setting("GresTypes", ",".join(names))] if names else []
    return (
        setting("SelectType", "select/cons_tres"),
        setting("SelectTypeParameters", "CR_Core_Memory"),
        *gres,
        setting("SchedulerType", "sched/backfill"),
        setting("SchedulerParameters", ",".join(words)),
        setting("EnforcePartLimits", "ALL"),
    )


def _confinement(cluster: Cluster) -> tuple[Line, ...]:
    gather = [setting("JobAcctGatherType", "jobacct_gather/cgroup")] if cluster.accounting.enabled else []
    return (
        setting("ProctrackType", "proctrack/cgroup"),
        setting("TaskPlugin", "task/cgroup,task/affinity"),
        *gather,
        setting("PrologFlags", "Contain"),
        *private_tmp_options(cluster),
        setting("LaunchParameters", "use_interactive_step"),
        setting("PropagateResourceLimitsExcept", "MEMLOCK"),
    )


def _priority(cluster: Cluster, rows: Sequence[Described]) -> tuple[Line, ...]:
    """Age and fair share need slurmdbd: without it slurmctld logs an error and ignores their weights."""
    shared = (
        setting("PriorityWeightFairshare", "100000"),
        setting("PriorityWeightQOS", "10000"),
        setting("PriorityWeightAge", "1000"),
    )
    return (
        setting("PriorityType", "priority/multifactor"),
        *billing_flags(cluster, rows),
        *(shared if cluster.accounting.enabled else ()),
        setting("PriorityWeightPartition", "10000"),
        setting("PriorityWeightJobSize", "1000"),
    )


def _accounting(cluster: Cluster, rows: Sequence[Described]) -> tuple[Line, ...]:
    database = cluster.control.database
    if not cluster.accounting.enabled or database is None:
        return ()
    types = sorted({kind for row in rows for kind, _ in row.shape.gpu_types if kind})
    shared = sorted({row.shape.shared[0] for row in rows if row.shape.shared})
    names = ["gres/gpu", *(f"gres/gpu:{kind}" for kind in types), *(f"gres/{name}" for name in shared)]
    tres = [setting("AccountingStorageTRES", ",".join(names))]
    return (
        setting("AccountingStorageType", "accounting_storage/slurmdbd"),
        setting("AccountingStorageHost", database.address or database.host),
        *(tres if types else ()),
        setting("AccountingStorageEnforce", "associations,limits,qos,safe"),
    )
