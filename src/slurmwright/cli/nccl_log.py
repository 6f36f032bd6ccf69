"""`slurmwright nccl log`: the first cause among the logs of many ranks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from slurmwright.core.errors import InputError
from slurmwright.nccl.log import diagnose
from slurmwright.report.console import print_result
from slurmwright.report.nccl_log_view import draw_log


@click.command("log")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--rdma", is_flag=True, help="The nodes have RDMA adapters: data over TCP is then a fault.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def log(files: tuple[Path, ...], rdma: bool, form: str) -> None:
    """Find what failed first in the logs of a job (NCCL_DEBUG=WARN or INFO); - is standard input.

    One file of all ranks or one for each, of any size, with or without labels of srun and torchrun.

    Exit code 0: nothing known is in them; 1: a fault or a warning; 2: a file cannot be read.
    """
    for file in files:
        if str(file) != "-" and not file.exists():
            raise InputError.of("is not there", str(file))
        if file.is_dir():
            raise InputError.of(f"is a folder; give its files: {file}/*", str(file))
    total = sum(file.stat().st_size for file in files if str(file) != "-")
    with _progress() as bar:
        task = bar.add_task("reading", total=total or None)
        try:
            found = diagnose(_opened(files), rdma, lambda size: bar.advance(task, size))
        except OSError as error:
            raise InputError.of(
                f"cannot be read: {error.strerror or error}", str(error.filename or "")
            ) from error
    if form == "json":
        click.echo(json.dumps(found.as_json(), indent=2))
    else:
        print_result(draw_log(found, str(files[0]) if len(files) == 1 else f"{len(files)} logs"))
    sys.exit(found.exit_code)


def _opened(files: tuple[Path, ...]) -> Iterator[tuple[str, BinaryIO]]:
    """One file open at a time: a job has more ranks than a program may have files."""
    for file in files:
        if str(file) == "-":
            yield "standard input", sys.stdin.buffer
            continue
        with file.open("rb") as opened:
            yield str(file), opened


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
