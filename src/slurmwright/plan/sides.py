"""A bundle to what a plan asks of it: parsed files, what they mean, and who runs which daemon."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from slurmwright.catalogue.options import file_names
from slurmwright.conf import Tree, read_tree
from slurmwright.conf.meaning import Meaning, Said, meaning_of
from slurmwright.conf.meaning.devices import devices_by_node
from slurmwright.conf.meaning.nodes import node_sets as sets_of
from slurmwright.conf.meaning.nodes import pairs_of, partition_nodes
from slurmwright.conf.meaning.said import hosts as names_of
from slurmwright.conf.meaning.settings import settings_of
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand
from slurmwright.core.release import Release

MAIN, GRES, YAML = "slurm.conf", "gres.conf", "topology.yaml"
#: Files of key=value lines whose meaning no other module knows: compared key by key.
_BY_KEY = ("acct_gather.conf", "burst_buffer.conf", "helpers.conf", "mpi.conf", "oci.conf")
_CONFIGLESS = "enable_configless"
Devices = Mapping[str, tuple[tuple[str, Said], ...]]


@dataclass(frozen=True)
class Side:
    """One bundle. `files` are Slurm's own, by name: the copy that most hosts hold."""

    bundle: Bundle
    folder: str
    files: Mapping[str, BundleFile]

    @property
    def release(self) -> Release:
        return Release.parse(self.bundle.release)

    @cached_property
    def trees(self) -> Mapping[str, Tree]:
        texts = {f"{self.folder}/{name}": file.text for name, file in self.files.items()}
        texts = {**{file.path: file.text for file in self.bundle.files}, **texts}
        found = {}
        for name in self.files:
            tree = read_tree(f"{self.folder}/{name}", texts.get) if name.endswith(".conf") else None
            if tree is not None and name != "plugstack.conf":
                found[name] = tree
        return found

    @property
    def slurm(self) -> Tree:
        return self.trees[MAIN]

    def meaning(self, but: Collection[str]) -> Meaning:
        """Everything but the devices of gres.conf and the files named in `but`."""
        network = self.files.get(YAML) if YAML not in but else None
        trees = {name: tree for name, tree in self.trees.items() if name != GRES and name not in but}
        found = dict(meaning_of(trees, (network.text, network.path) if network else None, self.release))
        for name in _BY_KEY:
            found.update(settings_of(name, trees[name], self.release) if name in trees else ())
        return found

    @cached_property
    def devices(self) -> Devices:
        return devices_by_node(self.slurm, self.trees.get(GRES))

    @cached_property
    def nodes(self) -> Mapping[str, str]:
        """NodeName → the host that runs its slurmd, in the order of the file."""
        found: dict[str, str] = {}
        for record in self.slurm.records("NodeName"):
            values = pairs_of(record)
            names = names_of(values["nodename"].value)
            own = names_of(values["nodehostname"].value) if "nodehostname" in values else names
            found.update(zip(names, own if len(own) == len(names) else names, strict=True))
        return found

    @cached_property
    def controllers(self) -> tuple[str, ...]:
        """The hosts of slurmctld, primary first."""
        lines = [line.statement.pairs[0].value for line in self.slurm.all("SlurmctldHost")]
        for key in ("ControlMachine", "BackupController") if not lines else ():
            lines += [line.statement.pairs[0].value for line in self.slurm.all(key)]
        return tuple(value.partition("(")[0].strip() for value in lines)

    @cached_property
    def databases(self) -> tuple[str, ...]:
        file = self.files.get("slurmdbd.conf")
        return expand(file.hosts) if file else ()

    @cached_property
    def holders(self) -> frozenset[str]:
        """The hosts that hold a slurm.conf of their own."""
        return frozenset(
            host
            for file in self.bundle.files
            if file.path == f"{self.folder}/{MAIN}"
            for host in expand(file.hosts)
        )

    @property
    def configless(self) -> bool:
        words = self.slurm.get("SlurmctldParameters")
        return words is not None and _CONFIGLESS in words.value.lower().split(",")

    def members(self, partition: str) -> tuple[str, ...]:
        """The nodes of a partition, sorted."""
        sets, everywhere = sets_of(self.slurm), set(self.nodes)
        for record in self.slurm.records("PartitionName"):
            values = pairs_of(record)
            if partition in values["partitionname"].value.split(",") and "nodes" in values:
                return tuple(sorted(partition_nodes(values["nodes"].value, sets, everywhere)))
        return ()


def side_of(bundle: Bundle) -> Side:
    """Raises InputError where the bundle holds no slurm.conf."""
    main = [file for file in bundle.files if posixpath.basename(file.path) == MAIN]
    if not main:
        raise InputError.of("the bundle holds no slurm.conf; there is nothing to compare")
    folder = posixpath.dirname(_widest(main, _primary(main)).path)
    first = _primary(main)
    copies: dict[str, list[BundleFile]] = {}
    for file in bundle.files:
        if posixpath.dirname(file.path) == folder:
            copies.setdefault(posixpath.basename(file.path), []).append(file)
    return Side(bundle, folder, {name: _widest(files, first) for name, files in copies.items()})


def is_slurms(path: str, folder: str) -> bool:
    """Is the file one of those that Slurm's own parsers read?"""
    name = posixpath.basename(path)
    return posixpath.dirname(path) == folder and name in file_names() and name != "plugstack.conf"


def _primary(copies: Sequence[BundleFile]) -> str:
    """The first controller as the copies say; "" where there is one copy only, which nobody asks."""
    for file in copies if len(copies) > 1 else ():
        for line in file.text.splitlines():
            key, sign, value = line.partition("=")
            if sign and key.strip().lower() in ("slurmctldhost", "controlmachine"):
                return value.split("(")[0].split("#")[0].strip()
    return ""


def _widest(files: Sequence[BundleFile], primary: str) -> BundleFile:
    """The copy that most hosts hold; of two such that of the first controller."""
    if len(files) == 1:
        return files[0]

    def rank(file: BundleFile) -> tuple[int, bool, str]:
        names = expand(file.hosts)
        return len(names), primary in names, file.hosts

    return max(files, key=rank)
