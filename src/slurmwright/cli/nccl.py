"""`slurmwright nccl`: NCCL's topology files and settings, from the model and anyone's."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from slurmwright.catalogue.nccl_versions import judged_as
from slurmwright.core.errors import InputError
from slurmwright.core.finding import exit_code
from slurmwright.nccl.check import check_topology
from slurmwright.report.console import print_result
from slurmwright.report.findings_view import draw_findings
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
