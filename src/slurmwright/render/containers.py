"""The containers word of cluster.yaml to plugstack.conf (pyxis) and enroot.conf.

plugstack.conf stands with slurm.conf: nodes and clients fetch it from the controllers. enroot.conf is read by
bash (each value is evaluated, the whole file must parse), so `$(id -u)` is the user who starts a container.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slurmwright.core.bundle import BundleFile
from slurmwright.model.cluster import Cluster
from slurmwright.render.folders import kept_folders, user_folders
from slurmwright.render.plain import Block, plain_file

PLUGSTACK, ENROOT = "plugstack.conf", "/etc/enroot/enroot.conf"
_OWN = "user-$(id -u)"


def container_files(cluster: Cluster, nodes: Sequence[str], holders: Sequence[str]) -> Iterator[BundleFile]:
    """Nothing unless containers were chosen."""
    if cluster.containers is None:
        return
    folder = cluster.slurm.config_dir.rstrip("/")
    yield plain_file(cluster.name, f"{folder}/{PLUGSTACK}", holders, _pyxis(cluster.containers.plugin))
    yield plain_file(cluster.name, ENROOT, nodes, *_enroot(cluster))


def _pyxis(plugin: str) -> Block:
    """`optional` would let a job on a node without pyxis run outside its container, in silence."""
    words = ("runtime_path=/run/pyxis", "execute_entrypoint=0", "container_scope=job")
    return Block(
        "pyxis: srun --container-image. A container lasts as long as its job. Required, so that no job "
        "runs outside its container where the plugin is missing: it must be on nodes, login hosts and "
        "controllers.",
        (f"required {plugin} {' '.join(words)}",),
    )


def _enroot(cluster: Cluster) -> Iterator[Block]:
    runtime, data, temp = user_folders(cluster)
    (cache,) = kept_folders(cluster)
    yield Block(
        "On the node's own disk, a folder for each user that the prolog makes. The epilog of the last job "
        "of a user removes all but the cache.",
        (
            f"ENROOT_RUNTIME_PATH {runtime}/{_OWN}",
            f"ENROOT_CACHE_PATH {cache}/{_OWN}",
            f"ENROOT_DATA_PATH {data}/{_OWN}",
            f"ENROOT_TEMP_PATH {temp}/{_OWN}",
        ),
    )
    yield Block(
        "Images are written once and read at once: compressing them costs more time than it saves on a "
        "local disk.",
        ("ENROOT_SQUASH_OPTIONS -noI -noD -noF -noX -no-duplicates -exit-on-error",),
    )
    yield Block(
        "A registry that answers slowly or not at all does not hold a job for ever.",
        ("ENROOT_CONNECT_TIMEOUT 30", "ENROOT_TRANSFER_RETRIES 3"),
    )
