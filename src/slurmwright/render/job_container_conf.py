"""The scratch word of cluster.yaml to job_container.conf: a /tmp and /dev/shm of its own for each job.

The file is the same from 22.05 to 26.05; what reads it is job_container/tmpfs up to 25.05 and namespace/tmpfs
from 25.11, where slurmctld warns about the old name. The folder is on each node's own disk, so its name needs
no node in it; a Slurm built for several slurmd on one host adds the name itself (MULTIPLE_SLURMD in
read_jcconf.c of 22.05.0 to 26.05.3), as Debian's does.
"""

from __future__ import annotations

from slurmwright.model.cluster import Cluster
from slurmwright.render.folders import private_tmp_folder
from slurmwright.render.rows import Line, Section, setting

NAMESPACE_SINCE = "25.11"


def private_tmp_options(cluster: Cluster) -> tuple[Line, ...]:
    """What slurm.conf says about it."""
    if not private_tmp_folder(cluster):
        return ()
    if cluster.slurm.release.at_least(NAMESPACE_SINCE):
        return (setting("NamespaceType", "namespace/tmpfs"),)
    return (setting("JobContainerType", "job_container/tmpfs"),)


def job_container_conf(cluster: Cluster) -> tuple[Section, ...]:
    """The sections of job_container.conf; none unless jobs have a /tmp of their own."""
    folder = private_tmp_folder(cluster)
    if not folder:
        return ()
    title = "Each job has its own /tmp and /dev/shm; they are kept on the node's own disk and go with it."
    return (Section(title, (setting("AutoBasePath", "true"), setting("BasePath", folder))),)
