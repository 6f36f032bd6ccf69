"""Files and folders: the old ones or the new ones, never a mixture."""

import errno
import os
from pathlib import Path

import pytest

from slurmwright.core import files
from slurmwright.core.files import replace_tree, write_text


def test_a_file_gets_its_text_byte_for_byte_and_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.conf"
    write_text(path, "one\r\ntwo\n", 0o640)
    assert path.read_bytes() == b"one\r\ntwo\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.conf"
    path.write_text("old")

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.conf"]


def _tree(folder: Path, name: str) -> Path:
    folder.mkdir()
    (folder / name).write_text(name)
    return folder


def test_a_folder_takes_the_place_of_another_whole(tmp_path: Path) -> None:
    new, old = _tree(tmp_path / "new", "b"), _tree(tmp_path / "out", "a")
    replace_tree(new, old)
    assert os.listdir(old) == ["b"]
    assert os.listdir(tmp_path) == ["out"]


def test_a_folder_takes_an_empty_place(tmp_path: Path) -> None:
    replace_tree(_tree(tmp_path / "new", "b"), tmp_path / "out")
    assert os.listdir(tmp_path / "out") == ["b"]


class _NoExchange:
    """A C library on a file system that cannot exchange two names, as some network file systems."""

    def renameat2(self, *_arguments: object) -> int:
        return -1


def test_without_an_exchange_in_the_file_system_two_renames_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = _tree(tmp_path / "new", "b"), _tree(tmp_path / "out", "a")
    monkeypatch.setattr(files.ctypes, "CDLL", lambda *_args, **_more: _NoExchange())
    monkeypatch.setattr(files.ctypes, "get_errno", lambda: errno.EINVAL)
    replace_tree(new, old)
    assert os.listdir(old) == ["b"]
    assert os.listdir(tmp_path) == ["out"]


def test_any_other_failure_of_the_exchange_leaves_both_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = _tree(tmp_path / "new", "b"), _tree(tmp_path / "out", "a")
    monkeypatch.setattr(files.ctypes, "CDLL", lambda *_args, **_more: _NoExchange())
    monkeypatch.setattr(files.ctypes, "get_errno", lambda: errno.EACCES)
    with pytest.raises(PermissionError):
        replace_tree(new, old)
    assert (os.listdir(old), os.listdir(new)) == (["a"], ["b"])
