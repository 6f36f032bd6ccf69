"""`slurmwright nccl`: NCCL's topology files and settings, from the model and anyone's."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from slurmwright.catalogue.nccl_versions import judged_as
from slurmwright.catalogue.node_types import load_node_type
from slurmwright.core.errors import InputError
from slurmwright.core.finding import exit_code
from slurmwright.nccl.check import check_topology
from slurmwright.nccl.settings import FABRICS, lint_settings
from slurmwright.report.console import print_result
from slurmwright.report.findings_view import draw_findings, findings_json
from slurmwright.rules.registry import rules_by_name


@click.group("nccl")
def nccl() -> None:
    """NCCL's topology files and settings, from the model and anyone's."""


@nccl.command("topo")
@click.option("--check", "file", type=click.Path(path_type=Path), help="Judge this topology file.")
@click.option("--nccl", "version", help="As this NCCL version would, such as 2.27.7; else the newest known.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def topo(file: Path | None, version: str | None, form: str) -> None:
    """Judge a topology file (NCCL_TOPO_FILE) as NCCL would.

    Exit code 1: refused, or taken and misread; 2: FILE cannot be read.
    """
    if file is None:
        raise InputError.of("nothing to do; give --check FILE")
    judged = check_topology(_bytes(file), str(file), judged_as(version))
    if form == "json":
        click.echo(json.dumps(judged.as_json(), indent=2))
    else:
        verdict = f"{file} is {'refused' if judged.refused else 'taken'} by NCCL {judged.nccl}"
        print_result(draw_findings(judged.findings, rules_by_name(), verdict))
    sys.exit(exit_code(judged.findings))


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
@click.option("--type", "type_name", help="A node type of the catalogue, for the names of its adapters.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def lint(
    files: tuple[Path, ...], fabric: str | None, version: str | None, type_name: str | None, form: str
) -> None:
    """Judge an nccl.conf, a dump of an environment, or a job script; without FILES, standard input.

    Exit code 1: anything of warning or above; 2: a file cannot be read.
    """
    judged_as(version)
    texts = [(str(file), _text(_bytes(file))) for file in files if str(file) != "-"]
    if not files or Path("-") in files:
        texts.append(("standard input", _text(sys.stdin.buffer.read(8_000_000))))
    node_type = load_node_type(type_name) if type_name else None
    findings = lint_settings(texts, fabric, version, node_type)
    if form == "json":
        click.echo(json.dumps(findings_json(findings), indent=2))
    else:
        shown = ", ".join(name for name, _ in texts)
        print_result(draw_findings(findings, rules_by_name(), shown))
    sys.exit(exit_code(findings))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
