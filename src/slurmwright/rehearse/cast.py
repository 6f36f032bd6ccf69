"""Turns an adapted bundle into the hosts of a rehearsal: who runs which daemon, under which name and address.

Each host gets its own host name and address on one machine, so that names, addresses and ports of the bundle
stay as they are: a real slurmd told `NoInAddrAny` listens on the address of its host name only (found on
22.05.8, 24.11.5 and 26.05.5).
"""

from __future__ import annotations

import ipaddress
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slurmwright.conf import Document, EffectiveLine, Statement, effective_lines, parse
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand
from slurmwright.rehearse.expect import ExpectedNode

_SPOOL = "/var/spool/slurmd"


@dataclass(frozen=True)
class Host:
    """One host: `node` is its NodeName where it computes; `files` are the bundle's files for it. `lines` is
    what slurm.conf and gres.conf say about the node, so that equal nodes can be told from edited ones;
    `aliases` are the names under which they call it."""

    name: str
    address: str
    controller: bool
    node: str
    shape: ExpectedNode | None
    files: tuple[BundleFile, ...]
    lines: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cast:
    """All hosts, and the paths and names that the daemons take; `spool` is written with its `%` patterns."""

    hosts: tuple[Host, ...]
    conf_path: str
    user: str
    state_dir: str
    controller_log: str
    node_log: str
    folders: tuple[str, ...]
    spool: str
    controllers: tuple[str, ...]
    port: str
    nodes_missing: tuple[str, ...]
    nodes_unknown: tuple[str, ...]
    #: The host that runs slurmdbd and its log; "" where jobs are not accounted.
    database: str = ""
    database_log: str = ""
    #: Where jobs' own /tmp are kept; "" where jobs share the host's.
    own_tmp: str = ""

    @property
    def compute(self) -> tuple[Host, ...]:
        return tuple(host for host in self.hosts if host.node)


def cast_of(bundle: Bundle, expected: Mapping[str, ExpectedNode]) -> Cast:
    """Read the bundle's slurm.conf and give every host its part. Raises InputError without a slurm.conf.

    `nodes_missing` are in the inventory but in no NodeName line, `nodes_unknown` the other way round; what
    hardware an unknown node has cannot be guessed, so it is not started.
    """
    conf_file = slurm_conf(bundle)
    doc = parse(conf_file.text, conf_file.path)
    controllers = dict(_controllers(doc))
    nodes = {name: (host, words) for name, host, words in _nodes(doc)}
    called: dict[str, list[str]] = {}
    database, database_words, database_log, database_folders = _database(doc, bundle)
    of_database = [(database, database_words)] if database else []
    for name, words in (*controllers.items(), *nodes.values(), *of_database):
        called.setdefault(name, []).extend(words)
    free = _free_addresses(frozenset(_ip(word) for words in called.values() for word in words))
    addresses = {
        name: next(filter(None, map(_ip, words)), "") or next(free) for name, words in called.items()
    }
    held = _files_by_host(bundle)
    node_of = {host: name for name, (host, _) in nodes.items() if name in expected}
    said = _lines_by_node(doc, bundle)
    hosts = tuple(
        Host(
            name,
            address,
            name in controllers,
            node_of.get(name, ""),
            expected.get(node_of.get(name, "")),
            held.get(name, ()) or held.get(node_of.get(name, ""), ()),
            "\n".join(said.get(node_of.get(name, ""), ())),
            tuple(dict.fromkeys(word for word in called[name] if word != name and not _ip(word))),
        )
        for name, address in addresses.items()
        if name in controllers or name in node_of or name == database
    )
    state = _value(doc, "StateSaveLocation", "/var/spool")
    controller_log = _value(doc, "SlurmctldLogFile", "/var/log/slurm/slurmctld.log")
    node_log = _value(doc, "SlurmdLogFile", "/var/log/slurm/slurmd.log")
    pids = (
        _value(doc, "SlurmctldPidFile", "/run/slurmctld.pid"),
        _value(doc, "SlurmdPidFile", "/run/slurmd.pid"),
    )
    spool = doc.get("SlurmdSpoolDir")
    own_tmp = _own_tmp(bundle)
    return Cast(
        hosts=hosts,
        conf_path=conf_file.path,
        user=_value(doc, "SlurmUser", "root"),
        state_dir=state,
        controller_log=controller_log,
        node_log=node_log,
        folders=tuple(
            sorted(
                {
                    _value(doc, "SlurmdSpoolDir", _SPOOL),
                    *database_folders,
                    *([own_tmp] if own_tmp else []),
                    *map(posixpath.dirname, (controller_log, node_log, *pids)),
                }
            )
        ),
        spool=posixpath.normpath(spool.value) if spool else _SPOOL,
        controllers=tuple(controllers),
        port=_value(doc, "SlurmctldPort", "6817").split("-")[0],
        nodes_missing=tuple(name for name in expected if name not in nodes),
        nodes_unknown=tuple(name for name in nodes if name not in expected),
        database=database,
        database_log=database_log,
        own_tmp=own_tmp,
    )


def slurm_conf(bundle: Bundle) -> BundleFile:
    """The bundle's slurm.conf."""
    for file in bundle.files:
        if posixpath.basename(file.path) == "slurm.conf":
            return file
    raise InputError.of("the bundle holds no slurm.conf; expected one file of that name")


def _value(doc: Document, key: str, default: str) -> str:
    """A setting, or its default; paths without Slurm's `%` patterns, since each host has its own folders."""
    pair = doc.get(key)
    value = pair.value if pair is not None and pair.value else default
    if not value.startswith("/"):
        return value
    clean = posixpath.normpath(re.sub(r"%[a-zA-Z]", "", value))
    return "/run" + clean[len("/var/run") :] if clean.startswith("/var/run/") else clean


def _own_tmp(bundle: Bundle) -> str:
    """BasePath of job_container.conf; hosts that share one machine must not share it."""
    file = next((f for f in bundle.files if posixpath.basename(f.path) == "job_container.conf"), None)
    lines = parse(file.text, file.path).lines("BasePath") if file else ()
    value = posixpath.normpath(lines[-1].pairs[0].value) if lines else ""
    return value if value.startswith("/") and "%" not in value else ""


def _database(doc: Document, bundle: Bundle) -> tuple[str, tuple[str, ...], str, tuple[str, ...]]:
    """The database host, what it is called by, slurmdbd's log and folders; empty where none is used."""
    file = next((f for f in bundle.files if posixpath.basename(f.path) == "slurmdbd.conf"), None)
    hosts = _range(file.hosts) if file else ()
    if file is None or not hosts or not _value(doc, "AccountingStorageType", "").endswith("slurmdbd"):
        return "", (), "", ()
    own = parse(file.text, file.path)
    log = _value(own, "LogFile", "/var/log/slurm/slurmdbd.log")
    pid = _value(own, "PidFile", "/run/slurmdbd.pid")
    called = (_value(doc, "AccountingStorageHost", hosts[0]), _value(own, "DbdHost", hosts[0]))
    return hosts[0], called, log, (posixpath.dirname(log), posixpath.dirname(pid))


def _controllers(doc: Document) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(host name, what it is called by) for every `SlurmctldHost=NAME(ADDRESS)`."""
    for statement in doc.lines("SlurmctldHost"):
        pair = statement.pairs[0]
        name, _, address = pair.value.partition("(")
        words = (*_range(name), *_range(address.rstrip(")")))
        if len(words) != 1 + bool(address):
            raise InputError.of(
                f"SlurmctldHost '{pair.value}' is not a host; expected NAME or NAME(ADDRESS)",
                doc.file,
                pair.line,
                pair.column,
            )
        yield words[0], words[1:]


def _nodes(doc: Document) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(NodeName, host name, what it is called by) for every node that is not FUTURE."""
    for line in effective_lines(doc, "NodeName"):
        settings = {pair.key.lower(): pair.value for pair in line.pairs}
        if settings.get("state", "").upper().startswith("FUTURE"):
            continue
        names = _range(settings["nodename"])
        hosts = _range(settings.get("nodehostname", settings["nodename"]))
        addresses = _range(settings.get("nodeaddr", ""))
        for at, name in enumerate(names):
            host = hosts[at] if at < len(hosts) else name
            yield name, host.split(".")[0], (host, *addresses[at : at + 1])


def _range(text: str) -> tuple[str, ...]:
    try:
        return expand(text) if text else ()
    except InputError:
        return ()


def _ip(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text)) if text else ""
    except ValueError:
        return ""


def _free_addresses(taken: frozenset[str]) -> Iterator[str]:
    for number in range(ipaddress.IPv4Network("10.99.0.0/16").num_addresses - 2):
        address = str(ipaddress.IPv4Address("10.99.0.1") + number)
        if address not in taken:
            yield address


def _lines_by_node(doc: Document, bundle: Bundle) -> dict[str, list[str]]:
    """Node → its NodeName settings without names and addresses, and its lines of gres.conf."""
    said: dict[str, list[str]] = {}
    gres = [parse(f.text, f.path) for f in bundle.files if posixpath.basename(f.path) == "gres.conf"]
    lines: list[EffectiveLine | Statement] = [*effective_lines(doc, "NodeName")]
    lines += [statement for one in gres for statement in one.lines("NodeName")]
    for line in lines:
        settings = [p for p in line.pairs if p.key.lower() not in ("nodename", "nodeaddr", "nodehostname")]
        text = " ".join(f"{pair.key}={pair.value}" for pair in settings)
        for name in _range(line.pairs[0].value if line.pairs else ""):
            said.setdefault(name, []).append(text)
    return said


def _files_by_host(bundle: Bundle) -> dict[str, tuple[BundleFile, ...]]:
    held: dict[str, list[BundleFile]] = {}
    for file in bundle.files:
        for host in _range(file.hosts):
            held.setdefault(host, []).append(file)
    return {host: tuple(files) for host, files in held.items()}
