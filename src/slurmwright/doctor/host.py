"""What was seen of one host, as one frozen value: captured outputs by name, lines of logs by kind, and files.

Names are those of the commands: `slurmd_-C.txt`, `scontrol_show_node.txt`, `etc/enroot/enroot.conf`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from slurmwright.doctor.scan import Hit
from slurmwright.model.facts import HostFacts
from slurmwright.rules.config import FOLDER, PLAIN_FILES, Config
from slurmwright.rules.evidence import Evidence, HostFile
from slurmwright.rules.node_lines import NodeLine


@dataclass(frozen=True)
class Host:
    """One host, or a case's folder.

    `notes` are what of it could not be read; `whole`: it was asked for everything, so what is not here is not
    there; `facts` are its devices, where it was asked.
    """

    name: str
    texts: Mapping[str, str] = field(default_factory=dict)
    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()
    release: str = ""
    reasons: tuple[tuple[str, str], ...] = ()
    whole: bool = False
    facts: HostFacts | None = None

    def text(self, *names: str) -> str:
        """The first of these captures that is there."""
        return next((self.texts[name] for name in names if name in self.texts), "")

    def has(self, *names: str) -> bool:
        return any(name in self.texts for name in names)

    def all(self, *signs: str) -> tuple[Hit, ...]:
        return tuple(hit for hit in self.hits if hit.sign in signs)

    def first(self, *signs: str) -> Hit | None:
        return next(iter(self.all(*signs)), None)

    @cached_property
    def config(self) -> Config:
        """The files of /etc/slurm; hosts with the same files share what was worked out of them."""
        named = ((host_file(name), text) for name, text in self.texts.items())
        return _config(tuple((path, text) for path, text in named if path.startswith(f"{FOLDER}/")))

    @cached_property
    def evidence(self) -> Evidence:
        """As lint's readers of listings take it."""
        return Evidence(
            captures={name: HostFile(name, name, text) for name, text in self.texts.items()},
            config=self.config,
        )

    @property
    def nodes(self) -> tuple[NodeLine, ...]:
        return tuple(line for line in self.config.nodes if line.is_real)

    def node(self, name: str = "") -> NodeLine | None:
        """The line of this node; in a case's folder that nothing names, the only line there is."""
        named = [line for line in self.nodes if (name or self.name) in line.names]
        only = len(self.nodes) == 1 and not self.whole
        return named[0] if named else self.nodes[0] if only else None


@lru_cache(maxsize=64)
def _config(texts: tuple[tuple[str, str], ...]) -> Config:
    return Config(dict(texts))


def host_file(name: str) -> str:
    """`slurm.conf` → `/etc/slurm/slurm.conf`, `etc/enroot/enroot.conf` → `/etc/enroot/enroot.conf`."""
    return f"{FOLDER}/{name}" if name in PLAIN_FILES else f"/{name}"
