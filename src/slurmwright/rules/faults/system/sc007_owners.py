"""SC007: a secret that belongs to somebody else than the daemon that needs it."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.listings_seen import entries
from slurmwright.rules.rule import ERROR, Fault, Place, rule


@rule(
    "SC007",
    "secrets-of-others",
    ERROR,
    why="""slurmdbd reads slurmdbd.conf only when it belongs to SlurmUser, munged its key only when it
        belongs to munge. A key of another user is not read, and the daemon does not start.""",
    fix="chown slurm: slurmdbd.conf, chown munge: munge.key",
    references=(
        "Slurm source, src/slurmdbd/read_config.c: slurmdbd.conf owned by, not SlurmUser",
        "https://slurm.schedmd.com/slurmdbd.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    known = entries(seen)
    user = seen.config.value("SlurmUser", "", file="slurmdbd.conf") or seen.config.value("SlurmUser", "root")
    wanted = {"slurmdbd.conf": (user, "root") if user == "root" else (user,), "munge.key": ("munge", "root")}
    for path, file in seen.files.items():
        name = path.rpartition("/")[2]
        entry = known.get(path)
        owner = file.owner or (entry.owner if entry else "")
        if name in wanted and owner and owner not in wanted[name]:
            yield Fault(
                f"{name} belongs to {owner}, and must belong to {wanted[name][0]}", Place(path), about=name
            )
