"""An inventory as of a commit to its bundle, with git's own archive and without touching the work tree."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.core.run import Runner


def bundle_of_revision(
    inventory: Path, revision: str, runner: Runner, render: Callable[[Path], Bundle]
) -> Bundle:
    """Render the inventory of that revision; raises InputError where git does not have it."""
    folder = (inventory if inventory.is_dir() else inventory.parent).resolve()
    if revision.startswith("-"):
        raise InputError.of(f"'{revision}' is no revision of git")
    with tempfile.TemporaryDirectory() as scratch:
        archive = f"{scratch}/inventory.tar"
        _git(runner, folder, "archive", "--format=tar", "-o", archive, f"{revision}:./", revision=revision)
        done = runner.run(["tar", "-xf", archive, "-C", scratch], limit_s=600)
        if not done.ok:
            raise SlurmwrightError(f"the inventory of {revision} could not be unpacked: {done.last_line}")
        try:
            return render(Path(scratch))
        except InputError as error:
            # The folder is gone when the message is read.
            text = str(error).replace(scratch, f"{revision}:{folder.name}")
            raise InputError.of(text) from error


def _git(runner: Runner, folder: Path, *words: str, revision: str) -> None:
    done = runner.run(["git", "-C", str(folder), *words], limit_s=600)
    if not done.ok:
        raise InputError.of(
            f"git has no inventory of revision '{revision}' here: {done.last_line}; "
            "expected a commit that holds this folder",
            str(folder),
        )
