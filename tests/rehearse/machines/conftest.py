"""Guests that all tests of a file share, and a record of everything that was said while they were set up."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.run import Local
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import FORMAT, GpuFact, HostFacts
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import expected_nodes
from slurmwright.rehearse.machines.engine import Site, site
from slurmwright.rehearse.machines.image import Image, ensure_image
from slurmwright.rehearse.roots import cache_folder
from slurmwright.render import render

CHECKOUT = Path(__file__).parents[3]
#: Command lines on the server guest, written there while a playbook runs.
_GUESTS_RECORD = "/run/command_lines"


@dataclass
class Record:
    """What people, logs and `ps` could have seen."""

    said: list[str] = field(default_factory=list)
    command_lines: set[bytes] = field(default_factory=set)

    def seen(self, secret: str) -> list[str]:
        """Where a secret was seen."""
        places = [f"output {at}" for at, text in enumerate(self.said) if secret in text]
        return places + [
            line.decode(errors="replace") for line in self.command_lines if secret.encode() in line
        ]


@dataclass
class Shared:
    """The guests of one file, and what was seen of their secrets."""

    site: Site
    record: Record = field(default_factory=Record)

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`slurmwright apply` on the guests, in a process of its own."""
        where = [
            "-i",
            str(self.site.inventory),
            "--bundle",
            str(self.site.bundle),
            "--limit",
            self.site.limit,
        ]
        return self.run([sys.executable, "-m", "slurmwright.cli.main", "apply", *where, *arguments])

    def run(self, argv: list[str], **more: str) -> subprocess.CompletedProcess[str]:
        """A program in the checkout, recorded with every command line of this machine and of the server."""
        env = {**self.site.environment(), **more}
        with self.watched():
            done = subprocess.run(argv, cwd=CHECKOUT, env=env, capture_output=True, text=True, check=False)
        self.record.said.append(done.stdout + done.stderr)
        return done

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Record command lines while something runs."""
        end = threading.Event()
        thread = threading.Thread(target=self._look, args=(end,))
        server = self.site.plan.server
        look = f"while sleep 1; do cat /proc/[0-9]*/cmdline; done >>{_GUESTS_RECORD} 2>/dev/null"
        self.site.guests.ssh(server, [f"nohup sh -c '{look}' >/dev/null 2>&1 & echo $! >/run/look.pid"])
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()
            self.site.guests.ssh(server, ["kill $(cat /run/look.pid)"])
            lines = self.site.guests.ssh(server, [f"cat {_GUESTS_RECORD}"]).out
            self.record.command_lines.add(lines.encode())

    def _look(self, end: threading.Event) -> None:
        own = os.getpid()
        while not end.wait(0.1):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    if int(path.parent.name) != own:
                        self.record.command_lines.add(path.read_bytes())
                except OSError:
                    continue

    def secrets(self) -> dict[str, str]:
        """Every secret that the playbooks made, and the private keys of SSH."""
        found = {path.name: path.read_text().strip() for path in (self.site.inventory / "secrets").iterdir()}
        key = self.site.guests.access.key.read_text().splitlines()
        return {**found, "login key": key[1]}


@pytest.fixture(scope="session")
def image() -> Image:
    """The guests' image with Slurm 24.11."""
    try:
        return ensure_image("24.11", cache_folder(), Local(), print)
    except SlurmwrightError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))


Booted = AbstractContextManager[Site]
Boot = Callable[..., Booted]


def _facts(cluster: Cluster, host: str, minors: Sequence[int]) -> HostFacts:
    """Facts of a host that is as its type, but for the numbers of its device files."""
    group = next(group for group in cluster.nodes if host in group.hosts)
    rows = zip(cluster.node_types[group.type].gpus, minors, strict=True)
    gpus = tuple(GpuFact(pci=row.pci or "", minor=minor, numa=row.numa) for row, minor in rows)
    return HostFacts(format=FORMAT, host=host, gpus=gpus)


@pytest.fixture(scope="session")
def boot(image: Image) -> Boot:
    """A function that boots bare guests of an example inventory: its name, how many compute guests, and the
    minors of a host's GPUs in PCI order where they are not 0, 1, 2 …"""

    def booted(name: str, count: int, minors: Mapping[str, Sequence[int]] | None = None) -> Booted:
        inventory = CHECKOUT / "inventories" / name
        cluster = load_cluster(inventory)
        facts = {host: _facts(cluster, host, order) for host, order in (minors or {}).items()}
        expected = expected_nodes(cluster, facts)
        files = render(cluster, facts)
        return site(inventory, cluster, facts, expected, files, image, lambda *_: None, count)

    return booted
