"""The options that `nccl bench` and `nccl tune` share to one value: which nodes, with what, as whom."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.errors import InputError, did_you_mean
from slurmwright.core.hosts import expand
from slurmwright.model.cluster import Cluster
from slurmwright.nccl.allocation import Allocation, Place
from slurmwright.nccl.keep import writable
from slurmwright.nccl.program import Program, find_program


@dataclass(frozen=True)
class Where:
    """What was asked for; "" is our choice or Slurm's."""

    inventory: Path
    type_name: str | None
    nodes: str
    program: str
    container: str
    mpi: str
    ranks: str
    login: str
    folder: Path | None
    place: Place

    def kept(self) -> Path:
        """Where results go; refused now where nothing can be written there."""
        folder = self.folder or self.inventory / "nccl"
        writable(folder)
        return folder

    def started(self, held: Allocation, operation: str, gpus: int, limit_s: int) -> Program:
        """The program that was named, or the first that a node has."""
        path = self.program or find_program(held, operation, self.container)
        tasks = max(gpus, 1) if self.ranks == "gpu" else 1
        return Program(path, operation, gpus, tasks, self.mpi, self.container, {}, limit_s)


def place_options(command: Callable[..., None]) -> Any:
    """A command that takes a `Where` to one with the options for it."""

    @functools.wraps(command)
    def with_where(**given: Any) -> None:
        words = {name: given.pop(name) for name in ("partition", "account", "qos", "reservation")}
        place = Place(**words, wait_s=given.pop("wait"))
        own = {one.name: given.pop(one.name) for one in fields(Where) if one.name != "place"}
        command(Where(**own, place=place), **given)

    options: Any = with_where
    for option in reversed(
        (
            click.option(
                "-i",
                "--inventory",
                type=click.Path(path_type=Path),
                required=True,
                help="Folder of cluster.yaml.",
            ),
            click.option("--type", "type_name", help="Nodes of this type. [default: the cluster's only one]"),
            click.option(
                "--nodes", default="", help="Only these nodes: gpu[001-004]. [default: all idle ones]"
            ),
            click.option("--program", default="", help="A program of nccl-tests, or torch for our own."),
            click.option("--container", default="", help="Run in this image (pyxis)."),
            click.option("--mpi", default="pmix", show_default=True, help="srun --mpi; empty for none."),
            click.option(
                "--ranks",
                type=click.Choice(("gpu", "node")),
                default="gpu",
                show_default=True,
                help="One process for each GPU, or one for each node.",
            ),
            click.option("--partition", default="", help="Submit to this partition."),
            click.option("--account", default="", help="Submit under this account."),
            click.option("--qos", default="", help="Submit with this QOS."),
            click.option("--reservation", default="", help="Submit into this reservation."),
            click.option(
                "--wait", type=click.IntRange(1), default=120, help="Seconds to wait for the nodes."
            ),
            click.option("--from", "login", default="", help="Submit on this host, over SSH."),
            click.option("--keep", "folder", type=click.Path(path_type=Path), help="[default: DIR/nccl]"),
        )
    ):
        options = option(options)
    return options


def chosen_nodes(cluster: Cluster, type_name: str | None, nodes: str) -> tuple[NodeType, list[str]]:
    """The one node type and its hosts; bounds of a mixture would mean nothing."""
    of_type = {host: group.type for group in cluster.nodes for host in group.hosts}
    asked = expand(nodes) if nodes else tuple(of_type)
    for name in asked:
        if name not in of_type:
            raise InputError.of(
                f"--nodes: '{name}' is no node of this cluster; {did_you_mean(name, of_type)}"
            )
    types = {of_type[name] for name in asked if cluster.node_types[of_type[name]].gpu.count}
    if type_name and type_name not in types:
        raise InputError.of(f"no node with GPUs of type '{type_name}'; {did_you_mean(type_name, types)}")
    if not type_name and len(types) != 1:
        raise InputError.of(f"nodes of several types: {', '.join(sorted(types))}; choose one with --type")
    wanted = type_name or next(iter(types))
    return cluster.node_types[wanted], [name for name in asked if of_type[name] == wanted]


def now() -> str:
    """The time of a result, as its file name has it."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def tell(what: str) -> None:
    """Progress for the person who waits."""
    Console(stderr=True, highlight=False).print(what)
