"""One apply at a time for each cluster: a lock beside cluster.yaml that names its owner and since when.

The kernel holds the lock and lets go when its process ends, however it ends. So a name in the file without
the lock on it was left by a process that is gone, and no number has to be guessed dead or alive.
"""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slurmwright.core.errors import SlurmwrightError

#: Below the folder of cluster.yaml: lock and journal, which nobody commits.
FOLDER = ".apply"


def folder_of(inventory: Path) -> Path:
    """Where lock and journal of an inventory lie; made where it is missing."""
    folder = (inventory if inventory.is_dir() else inventory.parent) / FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise SlurmwrightError(
            f"{folder}: cannot be written: {error.strerror}; nothing was changed"
        ) from None
    return folder


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[str]:
    """Hold the lock; gives a sentence about a lock that a dead process left, or "". Raises SlurmwrightError
    with owner and age while another holds it."""
    path = folder / "lock"
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = _owner(stream.read())
            raise SlurmwrightError(
                f"{path}: another apply is at work: {owner}; wait for it, or end it: nothing was changed"
            ) from None
        left = stream.read()
        _write(stream, json.dumps(_me()))
        try:
            yield f"took over the lock of {_owner(left)}, which ended without giving it back" if left else ""
        finally:
            _write(stream, "")


def _write(stream: Any, text: str) -> None:
    stream.seek(0)
    stream.truncate()
    stream.write(text)
    stream.flush()


def _me() -> dict[str, object]:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return {"user": user, "host": socket.gethostname(), "pid": os.getpid(), "since": int(time.time())}


def _owner(text: str) -> str:
    """`root on admin1, process 4711, for 12 min`, as far as the file tells."""
    try:
        found = json.loads(text)
        age = max(0, int(time.time()) - int(found["since"]))
        return f"{found['user']} on {found['host']}, process {found['pid']}, for {_age(age)}"
    except (ValueError, KeyError, TypeError):
        return "an owner that left no name"


def _age(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
