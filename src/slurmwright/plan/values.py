"""What a plan is made of: changes with their effects, ordered steps, and the files of both sides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slurmwright.core.bundle import Bundle

#: What a daemon must do, the least first.
LEVELS = ("none", "reconfigure", "restart", "stop")
#: How far a drain reaches, the least first: not at all, jobs of the partition, nodes of the change, all.
DRAINS = ("", "partition", "nodes", "all")


@dataclass(frozen=True)
class Effects:
    """What each daemon must do. `everywhere`: slurmd on every node, not only on those of the change;
    `clients`: programs on login hosts too; `around`: what a person does on the hosts, in words."""

    slurmctld: str = "none"
    slurmd: str = "none"
    slurmdbd: str = "none"
    drain: str = ""
    everywhere: bool = False
    clients: bool = False
    reboot: bool = False
    units: tuple[str, ...] = ()
    reload_units: bool = False
    around: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {
            "slurmctld": self.slurmctld,
            "slurmd": self.slurmd,
            "slurmdbd": self.slurmdbd,
            "drain_first": bool(self.drain),
        }


@dataclass(frozen=True)
class Change:
    """One thing that the new side says otherwise. `nodes` are the nodes that it is about, none for the whole
    cluster; `hosts` the hosts whose files around Slurm differ; `rows` the rows of the catalogue that hold."""

    file: str
    subject: str
    kind: str
    old: str | None
    new: str | None
    effects: Effects
    source: str
    jobs: str = ""
    why: str = ""
    nodes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    partition: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            "file": self.file,
            "subject": self.subject,
            "kind": self.kind,
            "old": self.old,
            "new": self.new,
            "effects": self.effects.as_json(),
            "source": self.source,
        }


@dataclass(frozen=True)
class Step:
    """One thing to do before the next. `hosts` is a folded range; `files` are paths on the hosts."""

    action: str
    hosts: str
    text: str
    daemon: str = ""
    files: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {
            "action": self.action,
            "daemon": self.daemon,
            "hosts": self.hosts,
            "files": list(self.files),
            "text": self.text,
        }


@dataclass(frozen=True)
class Plan:
    """The way from one bundle to another; secrets of both stand masked. `same_meaning` are files that are
    written otherwise and mean the same; they are pushed with the next change."""

    old: Bundle
    new: Bundle
    changes: tuple[Change, ...]
    steps: tuple[Step, ...]
    hosts_contacted: tuple[str, ...]
    drain_first: tuple[str, ...]
    summary: str
    same_meaning: tuple[str, ...] = ()


def worst(levels: Iterable[str], order: tuple[str, ...] = LEVELS) -> str:
    """The one that asks most; the least of all where there is none."""
    return max(levels, key=order.index, default=order[0])
