"""AC007: the controller's state lies where it cannot be written, or is lost."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, INFO, Fault, rule

_EMPTIED = ("/tmp", "/var/tmp", "/run", "/dev/shm")  # noqa: S108 - named to warn of them


@rule(
    "AC007",
    "state-folder-unfit",
    ERROR,
    why="""StateSaveLocation defaults to /var/spool, where SlurmUser may not create files: slurmctld dies on
        its state files. In /tmp, /run or /dev/shm the queue is gone with the next reboot.""",
    fix="StateSaveLocation=/var/spool/slurmctld, owned by SlurmUser, mode 0750",
    references=("https://slurm.schedmd.com/slurm.conf.html (StateSaveLocation)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    tree = config.slurm
    # A part of a configuration, included from elsewhere, has no such key.
    if tree is None or tree.faults or not (seen.whole or tree.all("NodeName")):
        return
    folder = config.value("StateSaveLocation", "/var/spool").rstrip("/") or "/"
    user = config.value("SlurmUser", "root")
    told = "" if config.setting("StateSaveLocation") else " is not set and"
    place = config.place("StateSaveLocation")
    if folder == "/var/spool":
        weak = user == "root" or not seen.whole
        text = f"StateSaveLocation{told} is /var/spool itself, where {user} shares the folder with others"
        if user != "root":
            text = f"StateSaveLocation{told} is /var/spool itself, where {user} may not create files"
        yield Fault(text, place, severity=INFO if weak else None)
    elif folder in _EMPTIED or folder.startswith(tuple(f"{one}/" for one in _EMPTIED)):
        yield Fault(f"StateSaveLocation={folder} is emptied: the queue is lost with the next reboot", place)
