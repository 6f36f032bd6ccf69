"""`slurmwright nccl`: NCCL's topology files, settings and logs, from the model and anyone's."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from slurmwright.catalogue.nccl_versions import judged_as
from slurmwright.catalogue.node_types import NodeType, load_node_type
from slurmwright.cli.nccl_bench import bench
from slurmwright.cli.nccl_log import log
from slurmwright.cli.nccl_tune import tune
from slurmwright.core.errors import InputError, did_you_mean
from slurmwright.core.finding import exit_code
from slurmwright.model.load import load_cluster
from slurmwright.nccl.check import check_topology
from slurmwright.nccl.settings import FABRICS, lint_settings
from slurmwright.nccl.topology import topology_of
from slurmwright.report.console import print_result
from slurmwright.report.findings_view import draw_findings, findings_json
from slurmwright.report.nccl_view import draw_topology, topology_json, topology_svg
from slurmwright.rules.registry import rules_by_name


@click.group("nccl")
def nccl() -> None:
    """NCCL's topology files, settings and logs, from the model and anyone's."""


@nccl.command("topo")
@click.option("--check", "file", type=click.Path(path_type=Path), help="Judge this topology file.")
@click.option("--nccl", "version", help="As this NCCL version would, such as 2.27.7; else the newest known.")
@click.option("-i", "--inventory", type=click.Path(path_type=Path), help="The node types of this cluster.")
@click.option("--type", "type_name", help="One node type, of the cluster or of the catalogue.")
@click.option(
    "--format", "form", type=click.Choice(("text", "json", "svg", "xml")), default="text", show_default=True
)
def topo(
    file: Path | None, version: str | None, inventory: Path | None, type_name: str | None, form: str
) -> None:
    """Draw nodes as NCCL sees them, or judge a topology file (NCCL_TOPO_FILE) as NCCL would.

    --format xml writes the file of one type. With --check, --type holds the file against that node; exit code
    1: refused, or taken and misread; 2: FILE cannot be read.
    """
    if file is None:
        _draw(_chosen(inventory, type_name), form)
        return
    if form not in ("text", "json"):
        raise InputError.of("--check takes --format text or json")
    kinds: Sequence[NodeType | None] = _chosen(inventory, type_name) if inventory or type_name else [None]
    if len(kinds) != 1:
        raise InputError.of("the file is held against one node type; choose it with --type")
    judged = check_topology(_bytes(file), str(file), judged_as(version), kinds[0])
    if form == "json":
        click.echo(json.dumps(judged.as_json(), indent=2))
    else:
        verdict = f"{file} is {'refused' if judged.refused else 'taken'} by NCCL {judged.nccl}"
        print_result(draw_findings(judged.findings, rules_by_name(), verdict))
    sys.exit(exit_code(judged.findings))


def _chosen(inventory: Path | None, type_name: str | None) -> Sequence[NodeType]:
    if inventory is None:
        if type_name is None:
            raise InputError.of("give -i DIR, --type TYPE or --check FILE")
        return [load_node_type(type_name)]
    kinds = load_cluster(inventory).node_types
    if type_name is None:
        return [kinds[name] for name in sorted(kinds)]
    if type_name in kinds:
        return [kinds[type_name]]
    hint = did_you_mean(type_name, kinds)
    raise InputError.of(f"node type '{type_name}' is not in this cluster; {hint}", str(inventory))


def _draw(kinds: Sequence[NodeType], form: str) -> None:
    types = [topology_of(kind) for kind in kinds]
    if form == "xml":
        if len(types) != 1:
            names = ", ".join(one.name for one in types)
            raise InputError.of(f"--format xml writes one file; choose a --type of {names}")
        click.echo(types[0].xml, nl=False)
    elif form == "json":
        click.echo(json.dumps(topology_json(types), indent=2))
    elif form == "svg":
        click.echo(topology_svg(types), nl=False)
    else:
        print_result(draw_topology(types))


def _bytes(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise InputError.of("is no file" if file.exists() else "is not there", str(file))
        with file.open("rb") as stream:
            data = stream.read(8_000_001)
    except OSError as error:
        raise InputError.of(f"cannot be read: {error.strerror or error}", str(file)) from error
    if len(data) > 8_000_000:
        raise InputError.of("is longer than 8,000,000 bytes; no topology file is", str(file))
    return data


@nccl.command("lint")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--fabric", type=click.Choice(FABRICS), help="The network; without it rules about it rest.")
@click.option("--nccl", "version", help="The NCCL of the job, such as 2.27.7; else the newest known.")
@click.option("-i", "--inventory", type=click.Path(path_type=Path), help="The cluster that they are for.")
@click.option(
    "--type", "type_name", help="A node type, of the cluster or of the catalogue, for its adapters."
)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def lint(
    files: tuple[Path, ...],
    fabric: str | None,
    version: str | None,
    inventory: Path | None,
    type_name: str | None,
    form: str,
) -> None:
    """Judge an nccl.conf, a dump of an environment, or a job script; without FILES, standard input.

    -i gives the network of the cluster, and the adapters of its node type where it has one.

    Exit code 1: anything of warning or above; 2: a file cannot be read.
    """
    judged_as(version)
    texts = [(str(file), _text(_bytes(file))) for file in files if str(file) != "-"]
    if not files or Path("-") in files:
        texts.append(("standard input", _text(sys.stdin.buffer.read(8_000_000))))
    kinds = _chosen(inventory, type_name) if inventory or type_name else ()
    kind = kinds[0] if len(kinds) == 1 else None
    findings = lint_settings(texts, fabric or _fabric(inventory), version, kind)
    if form == "json":
        click.echo(json.dumps(findings_json(findings), indent=2))
    else:
        shown = ", ".join(name for name, _ in texts)
        print_result(draw_findings(findings, rules_by_name(), shown))
    sys.exit(exit_code(findings))


def _fabric(inventory: Path | None) -> str | None:
    fabric = load_cluster(inventory).fabric if inventory else None
    return {"ethernet": "tcp", "none": None}.get(fabric.kind, fabric.kind) if fabric else None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


for command in (log, bench, tune):
    nccl.add_command(command)
