"""SC004: a secret that others may read, or that Slurm refuses for its mode."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.listings_seen import entries
from slurmwright.rules.rule import CRITICAL, Fault, Place, rule

_SECRETS = {
    "slurmdbd.conf": "holds the password of the database; slurmdbd refuses to start with it",
    "munge.key": "is what every daemon and user is told apart by; munged refuses to start with it",
    "slurm.key": "is what every daemon and user is told apart by; the daemons refuse to start with it",
    "jwt_hs256.key": "signs tokens for every user; slurmctld refuses to start with it",
}


@rule(
    "SC004",
    "secrets-others-can-read",
    CRITICAL,
    why="""Whoever reads munge.key or slurm.key is root on every node, whoever reads slurmdbd.conf owns the
        accounting. The daemons themselves refuse such files when their mode is too open.""",
    fix="mode 0600, owned by SlurmUser (munge.key: 0400, owned by munge)",
    references=(
        "https://slurm.schedmd.com/slurmdbd.conf.html",
        "https://slurm.schedmd.com/authentication.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    known = entries(seen)
    for path, file in seen.files.items():
        name = path.rpartition("/")[2]
        entry = known.get(path) or known.get(name)
        mode = file.mode if file.mode is not None else entry.mode if entry else None
        if name in _SECRETS and mode is not None and mode & 0o077:
            yield Fault(f"{name} (mode {mode:04o}) {_SECRETS[name]}", Place(path))
    for path, entry in known.items():
        name = path.rpartition("/")[2]
        if name in _SECRETS and path not in seen.files and entry.mode is not None and entry.mode & 0o077:
            yield Fault(f"{path} (mode {entry.mode:04o}) {_SECRETS[name]}", Place(path))
