"""Turns the folder of a cluster.yaml, and perhaps a bundle, into the inventory that Ansible gets.

A bundle that is not what the model renders now is loaded with the reason not to push it: hosts can still be
reached with plain `ansible`, and the plays refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from slurmwright.apply.inventory import Files, Inventory, inventory
from slurmwright.core.bundle import Bundle, read_bundle
from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts, check_facts, load_facts
from slurmwright.model.load import cluster_file, load_cluster
from slurmwright.render import render

RENDERED = "rendered"


def load_inventory(where: Path, bundle: Path | None = None) -> Inventory:
    """The inventory of `where`, a folder or its cluster.yaml; raises InputError for a faulty one."""
    cluster = load_cluster(where)
    facts = load_facts(where)
    check_facts(cluster, facts, where)
    return inventory(cluster, facts, load_files(where, cluster, facts, bundle))


def load_files(
    where: Path, cluster: Cluster, facts: Mapping[str, HostFacts], bundle: Path | None = None
) -> Files:
    """The given bundle as it is, or `rendered` beside cluster.yaml if that is what render writes now."""
    if bundle is not None:
        return _given(bundle, cluster)
    folder = cluster_file(where).parent / RENDERED
    again = f"run `slurmwright render -i {cluster_file(where).parent}`"
    if not folder.exists():
        return Files(str(folder.absolute()), None, f"{folder} does not exist; {again}")
    try:
        written, edited = read_bundle(folder)
        fresh = render(cluster, facts)
    except InputError as error:
        return Files(str(folder.absolute()), None, str(error))
    problem = ""
    if edited:
        problem = (
            f"{folder / edited[0]} was edited since it was rendered; say it in cluster.yaml and {again}, or "
            f"name the folder as the bundle to push it as it is"
        )
    elif written != fresh:
        problem = (
            f"{folder} is not what {cluster_file(where)} renders now ({_differs(written, fresh)}); {again}"
        )
    return Files(str(folder.absolute()), written, problem)


def _given(folder: Path, cluster: Cluster) -> Files:
    """A bundle that somebody chose: edits in it are meant, but it must be this cluster's."""
    written, _ = read_bundle(folder)
    problem = ""
    if written.cluster != cluster.name:
        problem = (
            f"{folder} is the bundle of cluster '{written.cluster}', and this one is '{cluster.name}'; name "
            "the inventory that it was rendered from"
        )
    elif written.release != str(cluster.slurm.release):
        problem = (
            f"{folder} was rendered for Slurm {written.release}, and slurm.release is "
            f"{cluster.slurm.release}; render it again"
        )
    return Files(str(folder.absolute()), written, problem)


def _differs(written: Bundle, fresh: Bundle) -> str:
    """The first files that differ, by name."""
    old, new = ({file.source: file for file in one.files} for one in (written, fresh))
    names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    if not names:
        return "another cluster name or release"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"
