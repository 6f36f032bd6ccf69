"""Nodes to the function that verifies them in a reservation, as the user who asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from slurmwright.core.errors import SlurmwrightError
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import load_facts
from slurmwright.topology.host_maps import load_maps
from slurmwright.verify.expect import expected_nodes
from slurmwright.verify.run import verify
from slurmwright.verify.values import Report
from slurmwright.verify.wanted import Wanted
from slurmwright.verify.ways import way


def verifier(
    inventory: Path, cluster: Cluster, nodes: tuple[str, ...]
) -> tuple[str, Callable[[str], Report]]:
    """Who verifies, and the function from the name of a reservation to the report."""
    runner = way(cluster)
    done = runner.run(["id", "-un"])
    if not done.ok:
        raise SlurmwrightError(f"nobody can verify from here: {done.last_line}")
    facts = load_facts(inventory)
    hosts = [host for group in cluster.nodes for host in group.hosts]
    shapes = expected_nodes(cluster, facts, load_maps(inventory, hosts, facts))

    def run(reservation: str) -> Report:
        wanted = Wanted(nodes=nodes, reservation=reservation, config_dir=cluster.slurm.config_dir)
        return verify(cluster.name, shapes, wanted, runner)

    return done.out.strip(), run
