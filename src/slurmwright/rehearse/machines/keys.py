"""Makes throw-away SSH keys: one to log in with, and one for each guest to be known by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.run import Runner


def make_key(path: Path, runner: Runner) -> None:
    """A new key pair without a passphrase at `path` and `path`.pub."""
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", path.name, "-f", str(path)]
    done = runner.run(argv)
    if not done.ok:
        raise SlurmwrightError(f"no SSH key: {done.last_line}")


def known_hosts(public: Mapping[str, str], ports: Mapping[str, int]) -> str:
    """The text of a known_hosts file: every guest by its port on this machine."""
    return "".join(_line(ports[name], text.split()) for name, text in public.items())


def _line(port: int, words: Iterable[str]) -> str:
    kind, key, *_ = words
    return f"[127.0.0.1]:{port} {kind} {key}\n"
