"""Runs every comparison over one bundle and gives what they found, in the order of the files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from slurmwright.core.bundle import Bundle
from slurmwright.render.agree.daemons import accounting, conf_servers, controllers, daemon_files
from slurmwright.render.agree.gpus import gpu_counts, node_gpus
from slurmwright.render.agree.names import gres_types, imex_domains, partitions, topology_nodes
from slurmwright.render.agree.paths import folders, logs, programs, scripts, units
from slurmwright.render.agree.release import known_to_release
from slurmwright.render.agree.users import users
from slurmwright.render.agree.view import Disagreement, View, view_of

CHECKS: tuple[Callable[[View], Iterator[Disagreement]], ...] = (
    known_to_release,
    partitions,
    topology_nodes,
    gres_types,
    imex_domains,
    gpu_counts,
    node_gpus,
    controllers,
    conf_servers,
    daemon_files,
    accounting,
    programs,
    scripts,
    folders,
    logs,
    units,
    users,
)


def disagreements(bundle: Bundle) -> tuple[Disagreement, ...]:
    """Where two files of the bundle, or a file and the hosts it goes to, say different things.

    Nothing is said about a bundle without a slurm.conf, and about one that includes files from elsewhere:
    what they hold is not known here.
    """
    view = view_of(bundle)
    if view is None:
        return ()
    return tuple(sorted({found for check in CHECKS for found in check(view)}))
