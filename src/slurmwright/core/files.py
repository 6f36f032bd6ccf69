"""Files and folders that are either the old ones or the new ones, never a mixture."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import tempfile
from pathlib import Path

_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


def write_text(path: Path, text: str, mode: int = 0o644) -> None:
    """Write `text` to `path` through a temporary file beside it, so that a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def replace_tree(new: Path, target: Path) -> None:
    """Put the folder `new` in the place of `target` in one step; both must lie on one file system.

    Uses renameat2(RENAME_EXCHANGE), so that no moment exists at which `target` is missing or mixed; the old
    folder is removed afterwards.
    """
    if not target.exists():
        os.rename(new, target)
        return
    _exchange(new, target)
    shutil.rmtree(new)


def _exchange(one: Path, other: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.renameat2(
        _AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), ctypes.c_uint(_RENAME_EXCHANGE)
    )
    if result == 0:
        return
    code = ctypes.get_errno()
    if code not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(code, os.strerror(code), str(other))
    # Some network file systems cannot exchange; two renames leave a gap of microseconds, but the old folder
    # is still whole under its second name if the machine stops in between.
    aside = other.with_name(other.name + ".old")
    os.rename(other, aside)
    os.rename(one, other)
    os.rename(aside, one)
