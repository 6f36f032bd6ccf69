"""Names that one file uses and another must define: nodes, resources, switches, hosts of an NVLink domain."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import effective_lines
from slurmwright.core.bundle import BundleFile
from slurmwright.render.agree.view import Conf, Disagreement, Place, View, lines_of, members, shown

_IMEX = "/etc/nvidia-imex/nodes_config.cfg"


def partitions(view: View) -> Iterator[Disagreement]:
    """Every node of a partition has a node line; slurmctld does not start otherwise."""
    sets = {line.pairs[0].value for line, _ in view.main.lines("NodeSet")}
    for line in effective_lines(view.main.doc, "PartitionName"):
        said = view.main.said(line, "Nodes")
        if said is None or said.value.upper() == "ALL":
            continue
        strangers = [host for host in members(said.value) if host not in view.line_of and host not in sets]
        if strangers:
            name = line.pairs[0].value
            yield Disagreement(
                said.place,
                f"partition {name} has {shown(strangers)}, no NodeName line of {view.main.file.source} has",
                "slurm.conf:PartitionName.Nodes",
            )


def gres_types(view: View) -> Iterator[Disagreement]:
    """Slurm drops a resource of a node that GresTypes does not name."""
    said = view.main.get("GresTypes")
    listed = set(said.value.split(",")) if said else set()
    for line in view.node_lines:
        names = {entry.partition(":")[0] for entry in line.gres.split(",") if entry}
        for name in sorted(names - listed):
            where = str(said) if said else f"{view.main.file.source}, which has no GresTypes"
            yield Disagreement(
                line.place,
                f"nodes have {name} but GresTypes does not name it; Slurm would drop it; see {where}",
                "slurm.conf:GresTypes",
            )


def topology_nodes(view: View) -> Iterator[Disagreement]:
    """Nodes of topology.conf and topology.yaml are nodes; a tree reaches all; switches name switches."""
    conf = view.conf("topology.conf")
    if conf is not None:
        yield from _switches(view, conf)
    for file in view.by_path.get(f"{view.folder}/topology.yaml", ()):
        for text, place in lines_of(file):
            key, _, value = text.partition(":")
            if key.strip() == "nodes":
                yield from _unknown(view, value.strip().strip("\"'"), place)


def _switches(view: View, conf: Conf) -> Iterator[Disagreement]:
    switches = {name for line, _ in conf.lines("SwitchName") for name in members(line.pairs[0].value)}
    reached: set[str] = set()
    for kind in ("SwitchName", "BlockName"):
        for line, place in conf.lines(kind):
            nodes, below = line.get("Nodes"), line.get("Switches")
            if nodes is not None and nodes.value.upper() != "ALL":
                reached |= members(nodes.value)
                yield from _unknown(view, nodes.value, place)
            elif nodes is not None:
                reached |= view.line_of.keys()
            lost = sorted(members(below.value) - switches) if below is not None else []
            if lost:
                message = f"switch {line.pairs[0].value} leads to {shown(lost)}, no SwitchName line has"
                yield Disagreement(place, message)
    missing = [host for host in view.line_of if host not in reached]
    if switches and missing:
        place = view.line_of[missing[0]].place
        yield Disagreement(
            Place(conf.file.source),
            f"no switch reaches {shown(missing)} ({place}); Slurm gives them jobs of one node only",
        )


def _unknown(view: View, hosts: str, place: Place) -> Iterator[Disagreement]:
    strangers = [host for host in members(hosts) if host not in view.line_of]
    if strangers:
        yield Disagreement(place, f"has {shown(strangers)}, no NodeName line of {view.main.file.source} has")


def imex_domains(view: View) -> Iterator[Disagreement]:
    """nodes_config.cfg lists the hosts that it goes to, and no others."""
    for file in view.by_path.get(_IMEX, ()):
        wanted = {_address(view, host): host for host in members(file.hosts)}
        listed = dict(lines_of(file))
        for address in sorted(listed.keys() - wanted.keys()):
            message = f"{address} is the address of none of its hosts {file.hosts}; both stand in bundle.json"
            yield Disagreement(listed[address], f"{message} and {view.main.file.source}")
        for address in sorted(wanted.keys() - listed.keys()):
            host = wanted[address]
            yield Disagreement(
                Place(file.source), f"lacks {address}, the address of {_node(view, host, file)}"
            )


def _node(view: View, host: str, file: BundleFile) -> str:
    line = view.line_of.get(host)
    return f"{host} ({line.place})" if line else f"{host}, one of its hosts {file.hosts}"


def _address(view: View, host: str) -> str:
    line = view.line_of.get(host)
    if line is None or len(line.addresses) != len(line.hosts):
        return host
    return line.addresses[line.hosts.index(host)]
