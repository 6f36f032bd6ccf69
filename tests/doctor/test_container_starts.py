"""Containers that do not start, told apart by what enroot 4.1.2 and pyxis 0.24 really print."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.doctor.judge import judge
from slurmwright.doctor.reading import read_hosts

_USERNS = "enroot-nsenter: failed to create user namespace: "
#: What a job that failed shows → the cause and a word of its message.
STARTS = {
    "no unsquashfs": ("[ERROR] Command not found: unsquashfs", "DR068", "unsquashfs is missing"),
    "no mksquashfs": (
        "enroot-mksquashovlfs: failed to execute mksquashfs: No such file or directory",
        "DR068",
        "mksquashfs",
    ),
    "disk full": ("Write on output file failed because No space left on device", "DR069", "the disk"),
    "disk full while written": ("Write failed because No space left on device", "DR069", "the disk"),
    "quota": (
        "mkdir: cannot create directory '/scratch/enroot/data/user-1000': Disk quota exceeded",
        "DR069",
        "a quota",
    ),
    "path": (
        "mkdir: cannot create directory '/var/lib/enroot/data/user-1000': Permission denied",
        "DR051",
        "/var/lib/enroot/data/user-1000",
    ),
    "path in UTF-8": (
        "mkdir: cannot create directory \u2018/var/nope\u2019: Permission denied",
        "DR051",
        "users may not make /var/nope:",
    ),
    "runtime path of pyxis": (
        "pyxis: couldn't mkdir /run/pyxis/1000: No such file or directory",
        "DR051",
        "/run/pyxis/1000",
    ),
    "user namespaces": (_USERNS + "Operation not permitted", "DR052", "user namespaces"),
    "number of user namespaces": (_USERNS + "No space left on device", "DR054", "user.max_user_namespaces=0"),
    "no driver in containers": (
        "[ERROR] Command not found: nvidia-container-cli, see https://github.com/NVIDIA/libnvidia-container",
        "DR053",
        "nvidia-container-cli",
    ),
    "login": (
        "[ERROR] URL https://nvcr.io/proxy_auth returned error code: 401 Unauthorized",
        "DR074",
        "nvcr.io",
    ),
}
_SYSCTL = {"number of user namespaces": "user.max_user_namespaces = 0\n"}


@pytest.mark.parametrize("one", STARTS)
def test_each_way_to_fail_has_its_own_cause(one: str, tmp_path: Path) -> None:
    line, cause, word = STARTS[one]
    head = "slurmstepd: error: pyxis:     "
    text = f"slurmstepd: error: pyxis: printing enroot log file:\n{head}{line}\n"
    (tmp_path / "job_output.txt").write_text(text, encoding="utf-8")
    (tmp_path / "sysctl.txt").write_text(_SYSCTL.get(one, ""), encoding="utf-8")
    (found,) = judge(read_hosts(tmp_path))
    assert (found.rule, word in found.message) == (cause, True), found.message


def test_apparmor_is_told_from_user_namespaces_that_are_off(tmp_path: Path) -> None:
    (tmp_path / "job_output.txt").write_text(_USERNS + "Permission denied\n")
    (tmp_path / "sysctl.txt").write_text("kernel.apparmor_restrict_unprivileged_userns = 1\n")
    (found,) = judge(read_hosts(tmp_path))
    assert "AppArmor profile" in found.message


@pytest.mark.parametrize(
    "line",
    [
        "mkdir: cannot create directory '/data/results': No space left on device",
        "[ERROR] URL https://example.org/v2/x returned error code: 500 Internal Server Error",
    ],
)
def test_what_a_program_of_the_job_says_is_no_container(line: str, tmp_path: Path) -> None:
    (tmp_path / "job_output.txt").write_text(line + "\n")
    assert judge(read_hosts(tmp_path)) == ()
