"""`slurmwright nccl tune`: better settings for the living cluster, measured against its noise."""

from __future__ import annotations

import difflib
import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Group
from rich.text import Text

from slurmwright.cli import nccl_place
from slurmwright.cli.nccl_place import Where, place_options
from slurmwright.core.errors import InputError
from slurmwright.core.files import write_text
from slurmwright.core.hosts import fold
from slurmwright.core.run import Runner
from slurmwright.model.load import load_cluster
from slurmwright.nccl.allocation import Allocation, idle_nodes
from slurmwright.nccl.journal import Journal, lines_of
from slurmwright.nccl.keep import keep
from slurmwright.nccl.tune import Measured, document, search
from slurmwright.nccl.tuned_yaml import with_tuned
from slurmwright.report.console import print_result
from slurmwright.verify import ways

#: Only a job of this name is ever cancelled for a search that was killed.
_NAME = "slurmwright-nccl-tune"


@click.command("tune")
@place_options
@click.option("--budget", type=click.IntRange(12), default=60, show_default=True, help="Runs at most.")
@click.option(
    "--timeout", type=click.IntRange(5), default=180, show_default=True, help="Seconds of each run."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Decides the order of the runs.")
@click.option("--new", is_flag=True, help="Do not go on with an earlier search.")
@click.option("--write/--no-write", default=True, show_default=True, help="Write a gain into cluster.yaml.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def tune(
    where: Where,
    budget: int,
    timeout: int,
    seed: int,
    new: bool,
    write: bool,
    form: str,
) -> None:
    """Try settings of NCCL for this network in one allocation, and keep only what beats the noise.

    The untouched cluster is measured first and again in between; a gain must repeat in fresh runs. What is
    found goes into cluster.yaml as nccl.tuned, for `plan` and `apply`. Killed, it goes on where it was.

    Exit code 0: nothing better; 1: better settings found; 2: nothing could be measured.
    """
    inventory = where.inventory
    cluster = load_cluster(inventory)
    kind, hosts = nccl_place.chosen_nodes(cluster, where.type_name, where.nodes)
    if any(one.type == kind.name for one in cluster.nccl.tuned):
        text = f"nccl.tuned has settings of {kind.name}, which would be measured as if they were none"
        raise InputError.of(f"{text}; remove them and push that first", str(inventory / "cluster.yaml"))
    kept = where.kept()
    runner = ways.way(cluster, where.login)
    fabric = cluster.fabric.kind if cluster.fabric else "none"
    path = kept / f"tune-{kind.name}.journal"
    journal_name = path.with_suffix("")
    _give_back(runner, path)
    free, _ = idle_nodes(runner, hosts)
    if len(free) < 2:
        raise InputError.of(
            f"{len(free)} of {fold(hosts)} are idle; expected two or more: a network joins nodes"
        )
    gpus = kind.gpu.count
    minutes = 5 + budget * timeout // 60
    with Allocation(runner, free, gpus, where.place, minutes, _NAME) as held:
        started = where.started(held, "all_reduce", gpus, timeout)
        about: dict[str, Any] = {
            "cluster": cluster.name,
            "type": kind.name,
            "fabric": fabric,
            "node_count": len(free),
            "nodes": fold(free),
            "program": started.path,
            "container": where.container,
            "seed": seed,
            "budget": budget,
        }
        journal = Journal(path, about, new)
        journal.held(held.job)
        if journal.replayed:
            nccl_place.tell(f"{journal.replayed} runs stand in {path} and are not measured again")
        measured = Measured(held, started, journal, journal_name, nccl_place.tell, journal.nccl)
        found = search(measured, fabric, budget, seed)
    told = document(found, {**about, "nccl": measured.nccl, "time": nccl_place.now()})
    nccl_place.tell(
        f"kept: {keep(kept, f'tune-{kind.name}-{len(free)}n', told, {})}, raw output in {journal_name}"
    )
    path.unlink(missing_ok=True)
    change = _change(inventory, told, write) if found.setting else ""
    if form == "json":
        click.echo(json.dumps({**told, "change": change}, indent=2))
    else:
        print_result(_drawn(told, change, write, inventory))
    sys.exit(int(bool(found.setting)))


def _give_back(runner: Runner, path: Path) -> None:
    """The allocation of a search that was killed, and wait until its nodes are free."""
    for job in [str(line["job"]) for line in lines_of(path) if str(line.get("job", "")).isdigit()][-1:]:
        wait = f'for i in $(seq 60); do [ -z "$(squeue -h -j {job} 2>/dev/null)" ] && exit; sleep 0.5; done'
        runner.run(["sh", "-c", f"scancel --name={_NAME} {job} 2>/dev/null; {wait}"], limit_s=60)


def _change(inventory: Path, told: dict[str, Any], write: bool) -> str:
    """The difference that the settings make to cluster.yaml, written where that is wanted."""
    file = inventory / "cluster.yaml"
    before = file.read_text(encoding="utf-8")
    after = with_tuned(before, str(file), told, told["setting"])
    if write:
        write_text(file, after)
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    return "".join(difflib.unified_diff(old, new, "cluster.yaml", "cluster.yaml"))


def _drawn(told: dict[str, Any], change: str, write: bool, inventory: Path) -> Group:
    head = f"{told['runs']} runs over {told['node_count']} nodes of {told['type']} ({told['fabric']}), "
    parts = [Text(f"{head}noise of one run {told['noise']:.1%}")]
    parts += [Text(f"not taken: {name}: {why}") for name, why in told["rejected"].items()]
    if not change:
        parts.append(Text(f"nothing beats the noise: leave NCCL as it is ({told['baseline']:.1f} GB/s)"))
        return Group(*parts)
    parts.append(Text(f"{told['baseline']:.1f} to {told['best']:.1f} GB/s, {told['gain']:+.1%}:"))
    parts += [Text(line) for line in change.splitlines()]
    next_step = f"slurmwright plan -i {inventory}" if write else "add it to cluster.yaml"
    parts.append(
        Text(f"next: {next_step}; in jobs, with the NCCL that was measured ({told['nccl'] or 'not told'})")
    )
    return Group(*parts)
