"""GR001: a node has a GRES whose name GresTypes does not list."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import changes
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Repair, rule


@rule(
    "GR001",
    "gres-types-undeclared",
    ERROR,
    why="""A name that GresTypes does not list is dropped from every node: the node is IDLE with Gres=(null),
        gres.conf is not read for it, nothing is logged where people look, and each job that asks for it is
        refused with "Invalid generic resource (gres) specification".""",
    fix="GresTypes=gpu",
    references=(
        "Seen with slurmctld and slurmd 24.11.5 and 26.05.5: Gres=(null)",
        "https://slurm.schedmd.com/slurm.conf.html (GresTypes)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if config.slurm is None:
        return
    listed = config.words("GresTypes")
    used: dict[str, str] = {}
    for line in config.nodes:
        for one in line.gres:
            used.setdefault(one.name, line.written)
    missing = sorted(set(used) - set(listed))
    wanted = ",".join([*listed, *missing])
    for name in missing:
        first = next((line for line in config.gres_lines if line.name in (name, "")), None)
        unread = ""
        if first is not None:
            said = f"AutoDetect={first.autodetect}" if first.autodetect else f"Name={first.name}"
            unread = f"; gres.conf ({said}) is not read for it"
        found = config.setting("GresTypes")
        doc = found.doc if found else config.slurm.top
        yield Fault(
            f"GresTypes does not list {name}, which {used[name]} has: it is dropped from every node{unread}",
            config.place("GresTypes"),
            fix=f"GresTypes={wanted}",
            about=name,
            repair=Repair(doc, changes.set_key(doc, "GresTypes", wanted)),
        )
