"""Troubles of slurmdbd with its database, and of slurmctld with slurmdbd: purges, locks, room, settings."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.finding import Severity
from slurmwright.doctor.host import Host
from slurmwright.doctor.scan import Hit
from slurmwright.doctor.told import Told

#: Sign → its cause, where one line says all.
_PLAIN = {
    "database-full": ("DR046", "MariaDB has no room left, so slurmdbd can keep nothing: {why}"),
    "database-snapshot": (
        "DR047",
        "slurmdbd ended: MariaDB has innodb_snapshot_isolation=ON, its default from 11.6.2 on",
    ),
    "database-too-old": ("DR049", "slurmdbd does not start: its tables are of a release too far back"),
}
#: Errors of MariaDB's that waiting does not mend.
_WRONG = {
    "1044": "has no rights",
    "1045": "is refused with this password",
    "1049": "names a database that is not there",
}


def settings(host: Host) -> Iterator[Told]:
    """Settings of MariaDB that slurmdbd itself calls too small; what came of them is the graver."""
    advised = host.all("database-settings")
    names = ", ".join(dict.fromkeys(word for hit in advised for word in hit.part("names").split()))
    failed = host.all("database-lock", "purge-failed")
    if failed:
        because = f"; {names} are below what slurmdbd recommends" if names else ""
        yield Told("DR045", f"{_failure(failed)}{because}", (*failed, *advised), also=("daemon-fatal",))
    elif advised:
        text = f"MariaDB's {names} are below what slurmdbd recommends: purges and rollups time out"
        yield Told("DR041", text, advised)


def _failure(hits: tuple[Hit, ...]) -> str:
    cluster = next((hit.part("cluster") for hit in hits if hit.part("cluster")), "")
    what = f"the purge of cluster {cluster}" if cluster else "a purge or a rollup of slurmdbd"
    why = next((hit.part("why") for hit in hits if hit.part("why")), "a lock was not given in time")
    return f"{what} failed in the database ({why})"


def plain(host: Host) -> Iterator[Told]:
    """What one line says."""
    for sign, (kind, text) in _PLAIN.items():
        if hits := host.all(sign):
            yield Told(kind, text.format(why=hits[0].part("why")), hits)


def refused(host: Host) -> Iterator[Told]:
    """slurmdbd that its database does not let in, or does not answer."""
    hits = host.all("database-refused")
    if not hits:
        return
    code = hits[-1].part("code")
    if code in _WRONG:
        text = f"MariaDB does not let slurmdbd in: its login {_WRONG[code]} ({code})"
        yield Told("DR048", text, hits)
    else:
        text = f"slurmdbd does not reach MariaDB: {hits[-1].part('why')}"
        yield Told("DR048", text, hits)


def queue(host: Host) -> Iterator[Told]:
    """Records for slurmdbd that pile up on the controller, or are thrown away."""
    hits = host.all("accounting-queue")
    if not hits:
        return
    lost = any(hit.part("lost") for hit in hits)
    most = max(int(hit.part("count")) for hit in hits)
    text = f"{most} records wait for slurmdbd on the controller" + (
        ", and further ones are lost" if lost else ""
    )
    yield Told("DR036", text, hits, severity=Severity.CRITICAL if lost else None, also=("daemon-fatal",))


LOOKS = (settings, plain, refused, queue)
