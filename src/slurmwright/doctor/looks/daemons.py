"""Daemons that do not start or do not agree: configuration, names, clock, munge, files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.core.finding import Severity
from slurmwright.doctor.host import Host
from slurmwright.doctor.told import Told, each
from slurmwright.rules.listings_seen import entries
from slurmwright.rules.units_seen import unit_settings

#: munge's credentials live so long (munge(7)).
_LIFE_S = 300
_SKEW_S = 60


def differing(host: Host) -> Iterator[Told]:
    """A host with another slurm.conf than the rest."""
    hits = host.all("config-differs")
    rows = re.findall(
        r"^(\S+)\s+([0-9a-f]{4,64})\s+(\S*slurm\.conf)", host.text("sha256sums.txt"), re.MULTILINE
    )
    sums = [one[1] for one in rows]
    usual = max(sums, key=sums.count) if sums else ""
    odd = tuple(one[0] for one in rows if one[1] != usual)
    nodes = tuple(dict.fromkeys((*each(hits, "node"), *odd)))
    if nodes and (odd or not sums):
        text = (
            f"{', '.join(nodes)} has another slurm.conf than slurmctld: it missed the last "
            "push or reconfigure"
        )
        yield Told("DR030", text, hits, tuple(" ".join(one) for one in rows if one[0] in odd), nodes=nodes)


def old_table(host: Host) -> Iterator[Told]:
    """slurmd that started before nodes were added: it cannot forward to them."""
    hits = host.all("address-unknown")
    if not hits:
        return
    changed = re.search(r"\d{4}-\d\d-\d\dT[\d:]+", host.text("slurm.conf_mtime.txt"))
    started = re.findall(
        r"^(\S+) (\d{4}-\d\d-\d\dT[\d:]+)", host.text("slurmd_start_times.txt"), re.MULTILINE
    )
    old = tuple(name for name, when in started if changed and when < changed[0])
    text = (
        f"slurmd of {', '.join(old) or 'other nodes'} started before the last change of "
        "slurm.conf and does not "
    )
    text += "know the new nodes, so messages that it should pass on fail; restart it"
    yield Told("DR031", text, hits, nodes=old)


def configuration(host: Host) -> Iterator[Told]:
    """Nowhere to get slurm.conf from; for slurmd, or for users."""
    if hits := host.all("config-source-unknown"):
        options = host.text("etc/default/slurmd", "etc/sysconfig/slurmd")
        if "--conf-server" not in options:
            text = (
                "slurmd finds no slurm.conf, no --conf-server in its options and no SRV record "
                "_slurmctld._tcp"
            )
            yield Told("DR032", text, hits)
        else:
            text = "slurmd's --conf-server gave no configuration; is slurmctld up, with enable_configless?"
            yield Told("DR032", text, hits)
    folder = entries(host.evidence).get("/etc/slurm")
    hits = host.all("config-source-unknown-to-users")
    if folder and folder.mode is not None and folder.mode & 0o5 != 0o5:
        text = (
            f"/etc/slurm has mode 0{folder.mode:o}: users' commands cannot read slurm.conf; it must be 0755"
        )
        yield Told("DR035", text, hits)
    elif hits:
        yield Told(
            "DR035", "users' commands find no slurm.conf: /etc/slurm 0755 and slurm.conf 0644 there", hits
        )


def name(host: Host) -> Iterator[Told]:
    """A slurmd that is in no NodeName line."""
    hits = host.all("node-name-unknown")
    if hits:
        own = host.text("hostname.txt").strip()[:64]
        short = own.partition(".")[0]
        line = host.node()
        known = line.names[0] if line and line.names else "NODE"
        called = f" as {short}" if short else ""
        text = f"slurmd looks for this host{called} among NodeName and NodeHostname, and nothing is called so"
        fix = (
            f"NodeName={known} NodeHostname={short or 'HOST'}; or name the host {known}; or slurmd -N {known}"
        )
        yield Told("DR033", text, hits, fix=fix)


def reconfigured(host: Host) -> Iterator[Told]:
    """slurmctld that ended at a reload."""
    hits = host.all("node-count-changed")
    if hits:
        text = (
            "slurmctld ended when it was reloaded, since nodes were added or removed; "
            "`systemctl reload` returns "
            "before that and says OK, so ask scontrol ping after it"
        )
        yield Told("DR034", text, hits, also=("daemon-fatal",))


def clock(host: Host) -> Iterator[Told]:
    """Clocks against the first host's, which is the controller."""
    rows = re.findall(r"^(\S+)\s+(\d{9,11})\s*$", host.text("clock.txt"), re.MULTILINE)
    hits = host.all("credential-expired")
    first = int(rows[0][1]) if rows else 0
    off = {row[0]: int(row[1]) - first for row in rows[1:] if abs(int(row[1]) - first) >= _SKEW_S}
    for node, seconds in off.items():
        where = "ahead of" if seconds > 0 else "behind"
        text = f"the clock of {node} is {abs(seconds)} s {where} that of {rows[0][0]}; "
        text += f"munge takes credentials for {_LIFE_S} s"
        severe = Severity.ERROR if abs(seconds) >= _LIFE_S or hits else Severity.WARNING
        yield Told("DR040", text, hits, severity=severe, nodes=(node,))
    if hits and not off:
        yield Told(
            "DR040", "munge's credentials are too old when they arrive: the clocks of hosts differ", hits
        )
    if hits := host.all("credential-invalid"):
        yield Told("DR044", "munge cannot read credentials of other hosts: the keys differ", hits)


def files(host: Host) -> Iterator[Told]:
    """Files of the daemons that systemd or the daemon itself cannot have."""
    hits = host.all("pid-file")
    units = {name: text for name, text in host.texts.items() if name.endswith(".service")}
    for daemon in ("slurmd", "slurmctld", "slurmdbd"):
        unit = next((text for name, text in units.items() if name.endswith(f"{daemon}.service")), "")
        waited = next((value for value, _ in unit_settings(unit).get("PIDFile", ())), "")
        waited = waited or next((hit.part("file") for hit in hits if f"{daemon}.pid" in hit.part("file")), "")
        key = f"{daemon.capitalize()}PidFile"
        written = host.config.value(key).replace("/var/run/", "/run/")
        if waited and written and written != waited.replace("/var/run/", "/run/"):
            text = f"systemd waits for {waited} and {daemon} writes {written} ({key}): its start times out"
            yield Told("DR042", text, hits, fix=f"{key}={waited}", place=host.config.place(key))
    refused = host.all("log-refused")
    if refused:
        seen = tuple(line.strip() for line in host.text("stat.txt").split("\n") if "/log" in line)
        paths = ", ".join(each(refused, "file"))
        user = host.config.value("SlurmUser", "root")
        folder = refused[0].part("file").rpartition("/")[0]
        fix = (
            f"install -d -o {user} -g {user} -m 0755 {folder}"
            if re.fullmatch(r"[\w./-]+", folder + user)
            else ""
        )
        yield Told(
            "DR043", f"the log {paths} cannot be written, so why things fail is lost", refused, seen, fix
        )


def prolog(host: Host) -> Iterator[Told]:
    """A prolog that failed, by the command that it does not have."""
    hits = (*host.all("prolog-failed"), *host.all("prolog-status"))
    if not hits:
        return
    status = each(hits, "status")
    scripts = [(n, t) for n, t in sorted(host.texts.items()) if re.search(r"/prolog(\.d/|$|\.sh)", f"/{n}")]
    for file, text in scripts:
        command = next((line.split()[0] for line in text.split("\n") if _is_command(line)), "")
        if command and ("127" in status or not status):
            said = f"{command} of /{file} is not on this node (status 127), and a prolog that fails drains it"
            fix = f"command -v {command} >/dev/null && {command} … || true"
            yield Told("DR060", said, hits, fix=fix)
            return
    shown = f" with status {', '.join(status)}" if status else ""
    yield Told("DR060", f"the prolog failed{shown}, and a prolog that fails drains the node", hits)


def _is_command(line: str) -> bool:
    word = line.split()[0] if line.split() else ""
    return bool(re.fullmatch(r"[a-z][\w.-]*", word)) and word not in _SHELL and "=" not in word


_SHELL = frozenset(
    [
        "set",
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "for",
        "while",
        "do",
        "done",
        "case",
        "esac",
        "exit",
        "export",
        "local",
        "return",
        "echo",
        "cd",
        "test",
    ]
)


def epilog(host: Host) -> Iterator[Told]:
    """An epilog that failed, unless a container's data path is why."""
    hits = host.all("epilog-failed")
    if hits and not host.first("container-path-refused"):
        yield Told("DR062", "the epilog failed, and an epilog that fails drains the node", hits)


def unkillable(host: Host) -> Iterator[Told]:
    """A process that no signal ends."""
    hits = host.all("kill-failed")
    if hits:
        stuck = re.findall(r"^\s*\d+ D\S* .*$", host.text("ps.txt"), re.MULTILINE)[:4]
        text = (
            "a process of a job could not be killed within UnkillableStepTimeout (60 s where "
            "it is not set): it "
            "waits for a driver or a file system"
        )
        xid = tuple(hit.place for hit in host.all("xid"))
        yield Told("DR061", text, hits, (*map(str.strip, stuck), *xid))


def silent(host: Host) -> Iterator[Told]:
    if hits := host.all("not-responding"):
        failed = re.search(
            r"^.{0,4}slurmd\.service.*\b(failed|inactive)\b", host.text("systemctl.txt"), re.MULTILINE
        )
        if failed or not host.has("systemctl.txt"):
            yield Told("DR063", "slurmctld gets no answer from slurmd of this node", hits)


def health(host: Host) -> Iterator[Told]:
    """What slurmwright's own health check wrote."""
    for hit in host.all("health-check"):
        yield Told("DR064", f"the health check drained the node: {hit.part('what')}", (hit,))


LOOKS = (
    differing,
    old_table,
    configuration,
    name,
    reconfigured,
    clock,
    files,
    prolog,
    epilog,
    unkillable,
    silent,
    health,
)
