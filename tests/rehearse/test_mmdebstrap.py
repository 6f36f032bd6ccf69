"""Failures of mmdebstrap, with the lines that apt and mmdebstrap printed when each was provoked."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.run import Local, Result
from slurmwright.rehearse import mmdebstrap

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
UNKNOWN_KEY = """\
W: GPG error: trixie InRelease: The following signatures couldn't be verified because the public key is not \
available: NO_PUBKEY 6ED0E7B82643E131
E: The repository 'trixie InRelease' is not signed.
"""
NO_NETWORK = """\
Err:1 trixie InRelease
  Temporary failure resolving 'mirror'
E: Failed to fetch trixie/InRelease  Temporary failure resolving 'mirror'
E: Some index files failed to download. They have been ignored, or old ones used instead.
"""
DISK_FULL = "  Write error - write (28: No space left on device)\n"
NO_MOUNT = 'Can\'t exec "mount": No such file or directory at /usr/bin/mmdebstrap line 1030.\n'
NO_PACKAGE = "E: Unable to locate package nosuch\n"
EPILOGUE = """\
E: apt-get update --error-on=any -oAPT::Status-Fd=<$fd> -oDpkg::Use-Pty=false failed
I: main() received signal PIPE: waiting for setup...
E: mmdebstrap failed to run
"""


def failed(text: str, code: int = 1) -> Result:
    return Result(("mmdebstrap",), code, "", text)


@pytest.mark.parametrize(
    ("text", "line", "advice"),
    [
        (UNKNOWN_KEY, "NO_PUBKEY 6ED0E7B82643E131", f"the keys in {KEYRING} are too old; run: "),
        (NO_NETWORK, "Temporary failure resolving 'mirror'", "check the network and http_proxy"),
        (DISK_FULL, "No space left on device", "SLURMWRIGHT_CACHE"),
        (NO_MOUNT, "Can't exec", "run: sudo apt-get install mount"),
        (NO_PACKAGE, "E: Unable to locate package nosuch", ""),
    ],
)
def test_the_telling_line_is_shown_with_the_way_out(text: str, line: str, advice: str) -> None:
    said = mmdebstrap.explain_failure("trixie", KEYRING, failed(text + EPILOGUE))
    assert line in said
    assert advice in said
    assert said.startswith("the Debian trixie root cannot be built: ")
    assert "\n" not in said
    assert "mmdebstrap failed to run" not in said


def test_a_missing_mmdebstrap_names_the_package() -> None:
    result = Local().run(["mmdebstrap"], env={"PATH": "/nowhere"})
    assert "sudo apt-get install mmdebstrap" in mmdebstrap.explain_failure("sid", KEYRING, result)


def test_a_build_past_its_limit_is_not_called_a_fault_of_the_machine() -> None:
    said = mmdebstrap.explain_failure("sid", KEYRING, failed("no answer within 1800 s", 124))
    assert "run the same command again" in said


def test_a_silent_failure_still_says_something() -> None:
    assert "exit code 9" in mmdebstrap.explain_failure("sid", KEYRING, failed("", 9))


def test_debian_gets_newer_keys_from_its_own_package() -> None:
    assert mmdebstrap.newer_keys_command("debian").endswith("apt-get install debian-archive-keyring")


def test_elsewhere_newer_keys_go_where_they_are_looked_for_first() -> None:
    assert str(mmdebstrap.KEYRINGS[0]) in mmdebstrap.newer_keys_command("ubuntu")


def test_the_admins_own_keyring_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, packaged = tmp_path / "own.gpg", tmp_path / "packaged.gpg"
    monkeypatch.setattr(mmdebstrap, "KEYRINGS", (own, packaged))
    packaged.touch()
    assert mmdebstrap.find_keyring() == packaged
    own.touch()
    assert mmdebstrap.find_keyring() == own


def test_no_keyring_names_the_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mmdebstrap, "KEYRINGS", (Path("/nowhere/keys.gpg"),))
    with pytest.raises(SlurmwrightError, match="sudo apt-get install debian-archive-keyring"):
        mmdebstrap.find_keyring()
