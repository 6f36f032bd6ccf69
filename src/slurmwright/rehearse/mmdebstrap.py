"""Turns a failed mmdebstrap run into one line that says what is wrong and what to do about it.

apt and mmdebstrap end every failure with the same two general lines; what helps stands above them.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from pathlib import Path

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.run import Result

#: Where Debian's archive keys may lie. The first is for admins whose distribution packages keys that are too
#: old; the `.pgp` form came with Debian 13.
KEYRINGS = tuple(
    Path(folder, "debian-archive-keyring").with_suffix(suffix)
    for folder in ("/usr/local/share/keyrings", "/usr/share/keyrings")
    for suffix in (".gpg", ".pgp")
)

_GENERAL = re.compile(r"E: (mmdebstrap failed|setup failed|apt-get |Some index files)")


def find_keyring() -> Path:
    """The keyring with Debian's archive keys; raises SlurmwrightError with the command that brings it."""
    found = next((path for path in KEYRINGS if path.is_file()), None)
    if found is None:
        raise SlurmwrightError(
            "Debian's archive keys are not on this machine, so nothing of Debian's can be verified; "
            "run: sudo apt-get install debian-archive-keyring"
        )
    return found


def explain_failure(suite: str, keyring: Path, result: Result) -> str:
    """What a person needs to know about a failed build of `suite`: the telling line and the way out."""
    lines = [line.strip() for line in (result.out + "\n" + result.err).splitlines() if line.strip()]
    for pattern, advice in _CAUSES:
        telling = next((line for line in lines if pattern.search(line)), None)
        if telling is not None:
            return f"the Debian {suite} root cannot be built: {telling}; {advice(keyring)}"
    errors = [line for line in lines if line.startswith("E:") and not _GENERAL.match(line)]
    return f"the Debian {suite} root cannot be built: {errors[-1] if errors else result.last_line}"


def newer_keys_command(distribution: str) -> str:
    """One command that brings newer archive keys, verified by the older ones.

    Debian updates the package in its stable releases. Ubuntu does not; but Debian 11's keys, which every
    supported Ubuntu has, verify Debian 11's copy of the package, and that copy has the keys of Debian 12.
    """
    if distribution == "debian":
        return "sudo apt-get update && sudo apt-get install debian-archive-keyring"
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    return (
        f"sudo sh -c 'd=$(mktemp -d) && mmdebstrap --variant=extract --keyring={keys} "
        f"--include=debian-archive-keyring bullseye $d/r && install -D -m 644 $d/r{keys} {KEYRINGS[0]}'"
    )


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["ID"]
    except OSError:
        return ""


_CAUSES: tuple[tuple[re.Pattern[str], Callable[[Path], str]], ...] = (
    (
        re.compile(r"NO_PUBKEY|EXPKEYSIG|is not signed"),
        lambda keyring: f"the keys in {keyring} are too old; run: {newer_keys_command(_distribution())}",
    ),
    (
        re.compile(r"No space left on device"),
        lambda _: (
            "free some space (a root needs 400 MB while it is built) or name a folder on another disk "
            "in SLURMWRIGHT_CACHE"
        ),
    ),
    (
        re.compile(
            r"(Temporary failure|Could not) resolv|Could not connect|Unable to connect|Cannot initiate"
            r"|Connection (timed out|refused|failed)|Network is unreachable|Could not handshake"
        ),
        lambda _: (
            "Debian's mirror must be reachable once; check the network and http_proxy, or give the "
            "folder of an installed Slurm with --slurm-prefix"
        ),
    ),
    (
        re.compile(r"No such file or directory: 'mmdebstrap'"),
        lambda _: "run: sudo apt-get install mmdebstrap",
    ),
    (
        re.compile(r"Can't exec \"(u?mount)\""),
        lambda _: "run: sudo apt-get install mount",
    ),
    (
        re.compile(r"no answer within"),
        lambda _: "the mirror is very slow or hangs; run the same command again",
    ),
)
