"""Cluster to nvidia-imex's nodes_config.cfg: one file per NVLink domain, with the hosts of that domain alone.

The daemon waits for every host that the file names and shares memory with them (IMEX guide, node
configuration), so a file with hosts of two domains would keep jobs of both from starting. The file holds
nothing but one address a line.
"""

from __future__ import annotations

from slurmwright.core.bundle import BundleFile
from slurmwright.model.cluster import Cluster
from slurmwright.render.hostlist import fold_for
from slurmwright.topology.switches import nvlink_domains

PATH = "/etc/nvidia-imex/nodes_config.cfg"


def imex_files(cluster: Cluster) -> tuple[BundleFile, ...]:
    """One file for each NVLink domain; none for a cluster without any."""
    address_of = {
        host: address
        for group in cluster.nodes
        for host, address in zip(group.hosts, group.address, strict=False)
    }
    return tuple(
        BundleFile(
            path=PATH,
            source=f"@{domain.name}{PATH}",
            hosts=fold_for(cluster.slurm.release, list(domain.hosts)),
            owner="root",
            group="root",
            mode="0644",
            text="".join(f"{address_of.get(host, host)}\n" for host in domain.hosts),
        )
        for domain in nvlink_domains(cluster)
    )
