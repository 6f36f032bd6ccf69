"""`slurmwright nccl bench`: what NCCL reaches on the living cluster, and what holds it back."""

from __future__ import annotations

import datetime
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.errors import InputError, did_you_mean
from slurmwright.core.hosts import expand, fold
from slurmwright.core.run import Local, Runner
from slurmwright.model.cluster import Cluster
from slurmwright.model.load import load_cluster
from slurmwright.nccl.allocation import Allocation, Place, idle_nodes
from slurmwright.nccl.bandwidth import OPERATIONS
from slurmwright.nccl.bench import Asked, Bench, Rail
from slurmwright.nccl.bounds import shape_of
from slurmwright.nccl.keep import earlier, keep, writable
from slurmwright.nccl.program import TORCH, Program, find_program
from slurmwright.report.console import print_result
from slurmwright.report.nccl_bench_view import bench_svg, draw_bench
from slurmwright.topology.nccl_tree import compute_nics
from slurmwright.verify.ways import over_ssh


def place_options(command: Any) -> Any:
    """Where and as whom jobs are submitted; shared by bench and tune."""
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
        command = option(command)
    return command


@click.command("bench")
@place_options
@click.option("--operation", type=click.Choice(OPERATIONS), default="all_reduce", show_default=True)
@click.option("--sizes", default="1M,8G", show_default=True, help="First and last size.")
@click.option(
    "--timeout", type=click.IntRange(5), default=300, show_default=True, help="Seconds of each run."
)
@click.option(
    "--rails",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Measure each rail alone: where the whole is slow, always, never.",
)
@click.option("--search/--no-search", default=True, show_default=True, help="Look for the node that is slow.")
@click.option(
    "--format", "form", type=click.Choice(("text", "json", "svg")), default="text", show_default=True
)
def bench(
    inventory: Path,
    type_name: str | None,
    nodes: str,
    program: str,
    container: str,
    mpi: str,
    ranks: str,
    partition: str,
    account: str,
    qos: str,
    reservation: str,
    wait: int,
    login: str,
    folder: Path | None,
    operation: str,
    sizes: str,
    timeout: int,
    rails: str,
    search: bool,
    form: str,
) -> None:
    """Measure a collective over idle nodes with nccl-tests, or with PyTorch where that is absent.

    Says measured, expected and ratio, and flags less than 80 %: then each rail is measured by itself, and
    halves of the nodes until the slow one is found. One exclusive allocation; results are kept and compared.

    Exit code 0: nothing slow; 1: slow, or a result that cannot be trusted; 2: nothing could be measured.
    """
    cluster = load_cluster(inventory)
    kind, hosts = chosen_nodes(cluster, type_name, nodes)
    first, _, last = sizes.partition(",")
    kept = folder or inventory / "nccl"
    writable(kept)
    runner = way(login, cluster)
    free, left = idle_nodes(runner, hosts)
    if not free:
        raise InputError.of(f"none of {fold(hosts)} is idle: " + ", ".join(sorted(set(left.values()))))
    fabric = cluster.fabric.kind if cluster.fabric else "none"
    shape = shape_of(kind, cluster.fabric, cluster.nccl.sharp)
    place = Place(partition, account, qos, reservation, wait)
    gpus = kind.gpu.count
    with Allocation(runner, free, gpus, place, 1 + timeout // 20, "slurmwright-nccl-bench") as held:
        path = program or find_program(held, operation, container)
        started = Program(
            path, operation, gpus, max(gpus, 1) if ranks == "gpu" else 1, mpi, container, {}, timeout
        )
        about = {
            "cluster": cluster.name,
            "type": kind.name,
            "fabric": fabric,
            "operation": operation,
            "program": "slurmwright's PyTorch benchmark" if path == TORCH else path,
            "node_count": len(free),
            "nodes": fold(free),
            "left_out": left,
            "time": now(),
        }
        asked = Asked((first, last or first), "1G", rails, search)
        report = Bench(held, started, shape, rails_of(kind), asked, tell).report(fabric, about)
    document = report.as_json()
    alike = {key: about[key] for key in ("type", "operation", "node_count", "program")}
    before = [one for one in earlier(kept, {"format": document["format"], **alike}) if one.get("measured")]
    name = f"{operation}-{kind.name}-{len(free)}n-{str(about['time']).replace(':', '')}"
    path_kept = keep(kept, name, document, report.raw)
    tell(f"kept: {path_kept}")
    if form == "json":
        click.echo(json.dumps(document, indent=2))
    elif form == "svg":
        click.echo(bench_svg(document, before), nl=False)
    else:
        print_result(draw_bench(document, before[0] if before else None))
    sys.exit(report.exit_code)


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


def rails_of(kind: NodeType) -> list[Rail]:
    """The compute adapters, each with the GPU beside it."""
    nics = compute_nics(kind)
    return [
        Rail(nic.name, nic.gpus[0] if nic.gpus else at % max(kind.gpu.count, 1))
        for at, nic in enumerate(nics)
    ]


def way(login: str, cluster: Cluster) -> Runner:
    """This machine where it has srun, else the first login host or controller."""
    local = Local()
    if login:
        return over_ssh(login, local)
    if shutil.which("srun"):
        return local
    server = (*cluster.control.login, *cluster.control.controllers)[0]
    return over_ssh(server.address or server.host, local)


def now() -> str:
    """The time of a result, as its file name has it."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def tell(what: str) -> None:
    """Progress for the person who waits."""
    Console(stderr=True, highlight=False).print(what)
