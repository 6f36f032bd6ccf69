"""An edit of cluster.yaml to the bundle of the new file, and to the disk: wholly, or not at all."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

import click

from slurmwright.cli.live import Former, former_of, pushed_last, reachable
from slurmwright.cli.reach import hosts_of
from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.core.files import write_text
from slurmwright.model.edit import Edited
from slurmwright.model.edit.words import cluster_of
from slurmwright.model.facts import FOLDER, HostFacts, check_facts, load_facts
from slurmwright.model.load import cluster_file
from slurmwright.model.yaml_source import text_of
from slurmwright.render import render

_FACTS = (".yaml", ".json", ".hwloc.xml")


@dataclass(frozen=True)
class Wish:
    """A file, its text as it was read, and what shall take its place."""

    file: Path
    before: str
    edited: Edited


def read_text(inventory: Path) -> tuple[Path, str]:
    """The file behind a link too, so that the link stays one."""
    file = cluster_file(inventory)
    text = text_of(file)
    return file.resolve(), text


def new_bundle(wish: Wish) -> Bundle:
    """What the new file renders; raises InputError where it does not."""
    facts = _facts(wish)
    check_facts(wish.edited.cluster, facts, wish.file)
    return render(wish.edited.cluster, facts)


def former_of_edit(wish: Wish, new: Bundle, live: bool | None) -> Former:
    """What the hosts hold; where none answers what was rendered last, or what the file rendered so far."""
    if live is not False:
        hosts = hosts_of(wish.edited.cluster)
        why = "" if live else reachable(hosts, wish.edited.cluster)
        if not why:
            return former_of(hosts, wish.file, new)
        click.echo(f"no controller answers ({why}); compared with what was rendered last", err=True)
    return Former(
        pushed_last(wish.file) or render(cluster_of(wish.before, str(wish.file)), load_facts(wish.file))
    )


def write(wish: Wish) -> None:
    """The new file in the place of the old one, then facts of hosts that are gone out of the way.

    Raises SlurmwrightError where somebody else wrote meanwhile; wherever it fails the file is as it was.
    """
    if text_of(wish.file) != wish.before:
        raise SlurmwrightError(f"{wish.file} was changed meanwhile; nothing was written: run it again")
    try:
        write_text(wish.file, wish.edited.text, stat.S_IMODE(wish.file.stat().st_mode))
        for path in _facts_of_gone(wish):
            path.unlink()
            click.echo(f"{path} is removed with its host", err=True)
    except OSError as error:
        raise InputError.of(f"cannot be written: {error.strerror or error}", str(wish.file)) from error


def _facts(wish: Wish) -> dict[str, HostFacts]:
    return {host: one for host, one in load_facts(wish.file).items() if host not in wish.edited.removed}


def _facts_of_gone(wish: Wish) -> list[Path]:
    folder = wish.file.parent / FOLDER
    paths = [folder / f"{host}{end}" for host in wish.edited.removed for end in _FACTS]
    return [path for path in paths if path.exists()]
