"""The containers word of cluster.yaml to plugstack.conf (pyxis), and to enroot.conf, its environ.d and
mounts.d.

plugstack.conf stands with slurm.conf: nodes and clients fetch it from the controllers. enroot.conf is read by
bash (each value is evaluated, the whole file must parse), so `$(id -u)` is the user who starts a container.
Users' passwords are in no file of the bundle: enroot looks for `.credentials` in ENROOT_CONFIG_PATH, which is
in the user's home where nothing else is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slurmwright.core.bundle import BundleFile
from slurmwright.model.cluster import Cluster, Containers
from slurmwright.render.folders import enroot_folder, pyxis_folder
from slurmwright.render.plain import Block, plain_file

PLUGSTACK, ENROOT = "plugstack.conf", "/etc/enroot/enroot.conf"
ENVIRON, DEVICES = "/etc/enroot/environ.d/50-slurmwright.env", "/etc/enroot/mounts.d/60-devices.fstab"
_OWN = "user-$(id -u)"
#: Kind of fabric → what a /dev of its own lacks beside what enroot's hooks bring.
_FABRIC_DEVICES = {"efa": ("/dev/infiniband",)}
_DEVICE = "none x-create=dir,bind,rw,nosuid,noexec,private,nofail,silent"


def container_files(cluster: Cluster, nodes: Sequence[str], holders: Sequence[str]) -> Iterator[BundleFile]:
    """Nothing unless containers were chosen."""
    chosen = cluster.containers
    if chosen is None:
        return
    folder = cluster.slurm.config_dir.rstrip("/")
    yield plain_file(cluster.name, f"{folder}/{PLUGSTACK}", holders, _pyxis(cluster, chosen))
    yield plain_file(cluster.name, ENROOT, nodes, *_paths(cluster, chosen), *_enroot(chosen))
    for path, blocks in ((ENVIRON, _environ(cluster, chosen)), (DEVICES, _devices(cluster, chosen))):
        if found := [block for block in blocks if block.lines]:
            yield plain_file(cluster.name, path, nodes, *found)


def _pyxis(cluster: Cluster, chosen: Containers) -> Block:
    """`optional` would let a job on a node without pyxis run outside its container, in silence."""
    words = [f"runtime_path={pyxis_folder(cluster)}", f"execute_entrypoint={int(chosen.entrypoint)}"]
    words += [f"container_scope={chosen.scope}"]
    words += [f"importer={chosen.importer}"] if chosen.importer else []
    words += ["use_squashfuse=1"] if chosen.squashfuse else []
    lasts = "as long as its job" if chosen.scope == "job" else "until its user removes it, if it has a name"
    return Block(
        f"pyxis: srun --container-image. A container lasts {lasts}. Required, so that no job "
        "runs outside its container where the plugin is missing: it must be on nodes, login hosts and "
        "controllers.",
        (f"required {chosen.plugin} {' '.join(words)}",),
    )


def _paths(cluster: Cluster, chosen: Containers) -> Iterator[Block]:
    base = enroot_folder(cluster)
    removes = "all but the cache" if chosen.scope == "job" else "all but cache and containers"
    yield Block(
        "On the node's own disk, a folder for each user that the prolog makes. The epilog of the last job "
        f"of a user removes {removes}.",
        (
            f"ENROOT_RUNTIME_PATH /run/enroot/{_OWN}",
            f"ENROOT_CACHE_PATH {base}/cache/{_OWN}",
            f"ENROOT_DATA_PATH {base}/data/{_OWN}",
            f"ENROOT_TEMP_PATH {base}/temp/{_OWN}",
        ),
    )
    own = (f"ENROOT_CONFIG_PATH {chosen.credentials.rstrip('/')}/{_OWN}",) if chosen.credentials else ()
    yield Block("Where each user's .credentials are, readable by that user alone.", own)


def _enroot(chosen: Containers) -> Iterator[Block]:
    yield Block(
        "Images are written once and read at once: compressing them costs more time than it saves on a "
        "local disk.",
        ("ENROOT_SQUASH_OPTIONS -noI -noD -noF -noX -no-duplicates -exit-on-error",),
    )
    yield Block(
        "A registry that answers slowly or not at all does not hold a job for ever.",
        ("ENROOT_CONNECT_TIMEOUT 30", "ENROOT_TRANSFER_RETRIES 3"),
    )
    asked = [("MOUNT_HOME", chosen.mount_home), ("RESTRICT_DEV", chosen.restrict_devices)]
    yield Block("What every container has.", tuple(f"ENROOT_{name} yes" for name, on in asked if on))
    way = chosen.registry
    lines = [f"{name} {way.proxy}" for name in ("http_proxy", "https_proxy") if way.proxy]
    lines += [f"no_proxy {way.no_proxy}"] if way.no_proxy else []
    lines += [f"SSL_CERT_FILE {way.ca_file}"] if way.ca_file else []
    lines += ["ENROOT_ALLOW_HTTP yes"] if way.http else []
    yield Block("How registries are reached.", tuple(lines))


def _environ(cluster: Cluster, chosen: Containers) -> Iterator[Block]:
    """98-nvidia.sh and 99-mellanox.sh do nothing, without a word, for an image that sets no such variable."""
    gpus = any(kind.gpu.count for kind in cluster.node_types.values())
    lines = ("NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=compute,utility")
    yield Block(
        "Images that were not made from CUDA's get the driver too. All means all that the job may open: "
        "its cgroup refuses the others.",
        lines if gpus and chosen.gpus_in_plain_images else (),
    )
    rdma = cluster.fabric is not None and cluster.fabric.kind in ("infiniband", "roce")
    yield Block("Every RDMA adapter.", ("MELLANOX_VISIBLE_DEVICES=all",) if rdma else ())


def _devices(cluster: Cluster, chosen: Containers) -> Iterator[Block]:
    kind = cluster.fabric.kind if cluster.fabric else "none"
    paths = (*_FABRIC_DEVICES.get(kind, ()), "/dev/nvidia-caps-imex-channels", "/dev/gdrdrv")
    lines = tuple(_line(path) for path in paths) if chosen.restrict_devices else ()
    yield Block("Devices of jobs that a /dev of its own would lack.", lines)
    size = chosen.shared_memory_gb
    shm = f"tmpfs /dev/shm tmpfs x-create=dir,rw,nosuid,nodev,noexec,private,mode=1777,size={size}g"
    yield Block(
        "Shared memory of the container's own; it counts as memory of the job.", (shm,) if size else ()
    )


def _line(path: str) -> str:
    return f"{path} {path} {_DEVICE if not path.endswith('drv') else _DEVICE.replace('dir', 'file')}"
