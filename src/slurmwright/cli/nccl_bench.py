"""`slurmwright nccl bench`: what NCCL reaches on the living cluster, and what holds it back."""

from __future__ import annotations

import json
import sys

import click

from slurmwright.catalogue.node_types import NodeType
from slurmwright.cli import nccl_place
from slurmwright.cli.nccl_place import Where, place_options
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import fold
from slurmwright.model.load import load_cluster
from slurmwright.nccl.allocation import Allocation, idle_nodes
from slurmwright.nccl.bandwidth import OPERATIONS
from slurmwright.nccl.bench import Asked, Bench, Rail
from slurmwright.nccl.bounds import shape_of
from slurmwright.nccl.keep import earlier, keep
from slurmwright.report.console import print_result
from slurmwright.report.nccl_bench_view import bench_svg, draw_bench
from slurmwright.topology.nccl_tree import compute_nics
from slurmwright.verify import ways


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
    where: Where,
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
    cluster = load_cluster(where.inventory)
    kind, hosts = nccl_place.chosen_nodes(cluster, where.type_name, where.nodes)
    first, _, last = sizes.partition(",")
    kept = where.kept()
    runner = ways.way(cluster, where.login)
    free, left = idle_nodes(runner, hosts)
    if not free:
        raise InputError.of(f"none of {fold(hosts)} is idle: " + ", ".join(sorted(set(left.values()))))
    fabric = cluster.fabric.kind if cluster.fabric else "none"
    shape = shape_of(kind, cluster.fabric, cluster.nccl.sharp)
    gpus = kind.gpu.count
    with Allocation(runner, free, gpus, where.place, 1 + timeout // 20, "slurmwright-nccl-bench") as held:
        started = where.started(held, operation, gpus, timeout)
        about = {
            "cluster": cluster.name,
            "type": kind.name,
            "fabric": fabric,
            "operation": operation,
            "program": "slurmwright's PyTorch benchmark" if started.ours else started.path,
            "node_count": len(free),
            "nodes": fold(free),
            "left_out": left,
            "time": nccl_place.now(),
        }
        asked = Asked((first, last or first), "1G", rails, search)
        report = Bench(held, started, shape, rails_of(kind), asked, nccl_place.tell).report(fabric, about)
    document = report.as_json()
    alike = {key: about[key] for key in ("type", "operation", "node_count", "program")}
    before = [one for one in earlier(kept, {"format": document["format"], **alike}) if one.get("measured")]
    name = f"{operation}-{kind.name}-{len(free)}n-{str(about['time']).replace(':', '')}"
    path_kept = keep(kept, name, document, report.raw)
    nccl_place.tell(f"kept: {path_kept}")
    if form == "json":
        click.echo(json.dumps(document, indent=2))
    elif form == "svg":
        click.echo(bench_svg(document, before), nl=False)
    else:
        print_result(draw_bench(document, before[0] if before else None))
    sys.exit(report.exit_code)


def rails_of(kind: NodeType) -> list[Rail]:
    """The compute adapters, each with the GPU beside it."""
    nics = compute_nics(kind)
    return [
        Rail(nic.name, nic.gpus[0] if nic.gpus else at % max(kind.gpu.count, 1))
        for at, nic in enumerate(nics)
    ]
