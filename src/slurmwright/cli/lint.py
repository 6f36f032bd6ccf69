"""`slurmwright lint`: what is wrong with the files of a cluster, why it hurts, and the line to paste."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from slurmwright.core.errors import InputError
from slurmwright.core.files import write_text
from slurmwright.core.finding import Finding, exit_code
from slurmwright.report.console import print_result
from slurmwright.report.findings_view import FORMS, draw_findings, findings_json, junit_text, sarif_text
from slurmwright.rules.fixes import diff, fixed_texts
from slurmwright.rules.lint import lint as judge
from slurmwright.rules.reading import Reading, read_path
from slurmwright.rules.registry import all_rules, rules_by_name
from slurmwright.rules.runner import Judged


@click.command("lint")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--release", help="Judge for this Slurm release, such as 24.11 or 24.11.5.")
@click.option("--format", "form", type=click.Choice(FORMS), default="text", show_default=True)
@click.option("--diff", "show_diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--fix", is_flag=True, help="Mend what can be mended safely; shows the diff and asks first.")
@click.option("--yes", is_flag=True, help="With --fix: do not ask.")
def lint(path: Path, release: str | None, form: str, show_diff: bool, fix: bool, yes: bool) -> None:
    """Judge the Slurm configuration at PATH: an inventory, an /etc/slurm, one file, or a case folder.

    Without --release, a finding that depends on the release names its releases. Exit code 0: nothing of
    warning or above; 1: something; 2: PATH could not be read. A comment `# slurmwright: allow RULE because
    REASON` allows a finding; `slurmwright explain RULE` tells more about one.
    """
    # One short run makes many small values and no cycles; collecting them takes a third of its time.
    gc.disable()
    reading = read_path(path)
    judged = judge(reading, release)
    if fix or show_diff:
        _mend(reading, judged, fix, yes)
        if not fix:
            return
        judged = judge(read_path(path), release)
    findings = [one.finding for one in judged]
    _print(findings, form, str(path))
    sys.exit(exit_code(findings))


def _print(findings: Sequence[Finding], form: str, path: str) -> None:
    if form == "json":
        click.echo(json.dumps(findings_json(findings), indent=2))
    elif form == "junit":
        click.echo(junit_text(findings, all_rules()))
    elif form == "sarif":
        click.echo(sarif_text(findings, all_rules()))
    else:
        print_result(draw_findings(findings, rules_by_name(), path))


def _mend(reading: Reading, judged: Sequence[Judged], write: bool, yes: bool) -> None:
    """Show the diff on stderr beside results, and write the files when that was asked for and confirmed."""
    files = {path: file for seen in reading.hosts for path, file in seen.files.items()}
    texts = fixed_texts(judged)
    shown = diff(texts, {path: file.shown for path, file in files.items()})
    if not shown:
        click.echo("nothing here can be mended safely by --fix", err=True)
        return
    click.echo(shown, nl=False, err=write)
    if not write:
        return
    if not yes and not click.confirm("Write these changes?", err=True):
        raise InputError.of("nothing was written")
    for path, (_, new) in texts.items():
        source = files[path].source
        if source is None:
            raise InputError.of(
                "is rendered from an inventory; change cluster.yaml instead of the file", files[path].shown
            )
        _write(source.resolve(), new)


def _write(path: Path, text: str) -> None:
    """Put the text in the place of the old one, with the owner and mode that the file had."""
    status = path.stat()
    write_text(path, text, status.st_mode & 0o7777)
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        os.chown(path, status.st_uid, status.st_gid)
