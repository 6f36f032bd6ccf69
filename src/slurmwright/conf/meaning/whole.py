"""All files of one folder to one meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slurmwright.conf.meaning.devices import devices_of
from slurmwright.conf.meaning.network import YAML, switches_of, yaml_topologies
from slurmwright.conf.meaning.nodes import nodes_of, partitions_of, records_of
from slurmwright.conf.meaning.said import Key, Meaning, Said
from slurmwright.conf.meaning.settings import settings_of
from slurmwright.conf.tree import Tree
from slurmwright.core.release import Release

_PLAIN = ("slurm.conf", "cgroup.conf", "slurmdbd.conf")


def meaning_of(trees: Mapping[str, Tree], topology_yaml: tuple[str, str] | None, release: Release) -> Meaning:
    """What the files say; from 25.05 on topology.yaml stands in the place of topology.conf and its plugin.

    `trees` are by name, `topology_yaml` is (text, file). InputError where that is no YAML.
    """
    return dict(_all(trees, topology_yaml, release))


def _all(
    trees: Mapping[str, Tree], topology_yaml: tuple[str, str] | None, release: Release
) -> Iterator[tuple[Key, Said]]:
    by_yaml = topology_yaml is not None and release.at_least("25.05")
    for name in _PLAIN:
        for key, said in settings_of(name, trees[name], release) if name in trees else ():
            if not (by_yaml and key[2] == "topologyplugin"):
                yield key, said
    slurm = trees.get("slurm.conf")
    if slurm is not None:
        yield from nodes_of(slurm, release)
        yield from partitions_of(slurm, release)
        yield from records_of(slurm)
        yield from devices_of(slurm, trees.get("gres.conf"))
    if topology_yaml is not None and by_yaml:
        yield from yaml_topologies(*topology_yaml)
    elif "topology.conf" in trees:
        yield from switches_of(trees["topology.conf"])
    if "job_container.conf" in trees:
        yield from _lines("job_container.conf", trees["job_container.conf"])


def _lines(name: str, tree: Tree) -> Iterator[tuple[Key, Said]]:
    """Files of a few lines, key by key."""
    for line in tree.lines:
        for pair in line.statement.pairs:
            yield (name, "", pair.key.lower()), Said(pair.value.lower(), pair.value, line.doc.file, pair.line)


__all__ = ["YAML", "meaning_of"]
