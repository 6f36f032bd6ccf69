"""A plan's steps to what the daemons of a rehearsal do, one after the other, as apply does it on hosts.

What surprises: a drain here does not wait for its jobs, which would sleep for ever: they are ended, and count
as ended by the drain. Units of systemd, other services and reboots do not exist here; those are skipped.
"""

from __future__ import annotations

import hashlib
import posixpath
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from slurmwright.conf import parse
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.hosts import expand
from slurmwright.plan import Plan, Step
from slurmwright.plan.sides import side_of
from slurmwright.rehearse.cast import Host, slurm_conf
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios.registered import wait_for_nodes
from slurmwright.rehearse.slurm_text import pairs

_STAGED = ".slurmwright-new"
_LIMIT_S = 90.0
_PID = {
    "slurmctld": ("SlurmctldPidFile", "/run/slurmctld.pid"),
    "slurmd": ("SlurmdPidFile", "/run/slurmd.pid"),
}
_NOT_HERE = ("reload-units", "on-host", "reboot", "clients")


@dataclass(frozen=True)
class Carried:
    """What carrying out the steps showed: `faults` tell who refused what, `skipped` are steps that have no
    counterpart here, `ended` the jobs that a drain ended."""

    faults: tuple[str, ...]
    skipped: tuple[str, ...]
    ended: frozenset[int]


def carry(machine: Machine, plan: Plan, bundle: Bundle) -> Carried:
    """Do every step; the first that fails ends it. `bundle` is the new side as it can run here."""
    files = {(host, file.path): file for file in bundle.files for host in expand(file.hosts)}
    faults: list[str] = []
    skipped: list[str] = []
    ended: set[int] = set()
    for step in plan.steps:
        if step.action == "drain":
            ended |= _drain(machine, plan, step)
        elif step.action in _NOT_HERE or step.daemon not in ("", "slurmctld", "slurmd"):
            skipped.append(f"{step.action} {step.hosts}: no counterpart in engine processes")
        else:
            faults += _ACTIONS[step.action](machine, step, files, bundle)
        if faults:
            break
    return Carried(tuple(faults), tuple(skipped), frozenset(ended))


Files = Mapping[tuple[str, str], BundleFile]


def _stage(machine: Machine, step: Step, files: Files, _: Bundle) -> Iterator[str]:
    for host, path in _places(machine, step):
        file = files.get((host, path))
        if file is not None:
            machine.place_file(host, path + _STAGED, file.text, int(file.mode, 8))
            said = machine.on_host(host, ["sha256sum", path + _STAGED]).out.split(" ")[0]
            if said != hashlib.sha256(file.text.encode()).hexdigest():
                yield f"{host} holds another {path} than it was given"


def _activate(machine: Machine, step: Step, files: Files, bundle: Bundle) -> Iterator[str]:
    for host, path in _places(machine, step):
        argv = ["mv", path + _STAGED, path] if (host, path) in files else ["rm", "-f", path]
        done = machine.on_host(host, argv)
        if not done.ok:
            yield f"{host}: {path} could not be put in place: {done.last_line}"
    port = parse(slurm_conf(bundle).text).get("SlurmctldPort")
    machine.cast = replace(machine.cast, port=port.value.split("-")[0] if port else "6817")


def _places(machine: Machine, step: Step) -> Iterator[tuple[str, str]]:
    """Slurm's own folder alone: nothing here reads the others, and slurmdbd.conf holds a drawn password."""
    folder = posixpath.dirname(machine.cast.conf_path)
    here = {host.name for host in machine.cast.hosts}
    for host in expand(step.hosts):
        for path in step.files if host in here else ():
            if posixpath.dirname(path) == folder and posixpath.basename(path) != "slurmdbd.conf":
                yield host, path


def _drain(machine: Machine, plan: Plan, step: Step) -> set[int]:
    """Drain nodes, or a partition where the step names none, and end the jobs there."""
    names = set(expand(step.hosts)) if step.hosts else set[str]()
    partitions = {name.partition("=")[2] for name in plan.drain_first if name.startswith("PartitionName=")}
    if names:
        machine.ctl("scontrol", "update", f"NodeName={step.hosts}", "State=DRAIN", "Reason=plan")
    else:
        for name in partitions:
            machine.ctl("scontrol", "update", f"PartitionName={name}", "State=DRAIN")
    ended = set()
    for row in running(machine).values():
        if names & set(expand(row["NodeList"])) or (not names and row["Partition"] in partitions):
            ended.add(int(row["JobId"]))
    if ended:
        machine.ctl("scancel", *map(str, sorted(ended)))
        _until(lambda: not ended & set(running(machine)))
    return ended


def _stop(machine: Machine, step: Step, _: Files, bundle: Bundle) -> Iterator[str]:
    key, default = _PID[step.daemon]
    pair = parse(slurm_conf(bundle).text).get(key)
    path = pair.value if pair and "%" not in pair.value else default
    # Gone when its process is: a slurmctld that still writes its state must not meet its successor.
    script = f'p=$(cat {path}) || exit 0; kill "$p" 2>/dev/null; '
    script += 'for i in $(seq 600); do kill -0 "$p" 2>/dev/null || exit 0; sleep 0.1; done; exit 1'
    for host in _hosts(machine, step):
        done = machine.on_host(host.name, ["sh", "-c", script])
        if not done.ok:
            yield f"{step.daemon} on {host.name} does not stop: {done.last_line}"


def _start(machine: Machine, step: Step, _: Files, __: Bundle) -> Iterator[str]:
    if step.daemon == "slurmctld":
        for name, result in machine.start_controllers().items():
            if not result.ok:
                yield f"slurmctld on {name} does not start: {result.last_line}"
        if not machine.wait_for_controller():
            yield "slurmctld does not answer after its start"
        return
    machine.start_nodes(_hosts(machine, step), lambda _: None)


def _restart(machine: Machine, step: Step, files: Files, bundle: Bundle) -> Iterator[str]:
    yield from _stop(machine, step, files, bundle)
    yield from _start(machine, step, files, bundle)


def _reconfigure(machine: Machine, _: Step, __: Files, ___: Bundle) -> Iterator[str]:
    done = machine.ctl("scontrol", "reconfigure")
    if not done.ok:
        yield f"scontrol reconfigure: {done.last_line}"
    elif not machine.wait_for_controller():
        yield "slurmctld does not answer after scontrol reconfigure"


def _check(machine: Machine, _: Step, __: Files, bundle: Bundle) -> Iterator[str]:
    wanted = nodes_of(bundle)
    hosts = [host for host in machine.cast.compute if host.node in wanted]
    if not machine.wait_for_controller():
        yield "slurmctld does not answer"
        return
    wait_for_nodes(machine, hosts, lambda _: None)


def _resume(machine: Machine, step: Step, _: Files, __: Bundle) -> Iterator[str]:
    done = machine.ctl("scontrol", "update", f"NodeName={step.hosts}", "State=RESUME")
    if not done.ok:
        yield f"{step.hosts} cannot be resumed: {done.last_line}"


def _nothing(*_: object) -> Iterator[str]:
    yield from ()


_ACTIONS: dict[str, Callable[[Machine, Step, Files, Bundle], Iterator[str]]] = {
    "stage": _stage,
    "confirm": _nothing,
    "activate": _activate,
    "stop": _stop,
    "start": _start,
    "restart": _restart,
    "reconfigure": _reconfigure,
    "check": _check,
    "resume": _resume,
}


def nodes_of(bundle: Bundle) -> dict[str, str]:
    """The nodes that a bundle names, with the hosts of their slurmd."""
    return dict(side_of(bundle).nodes)


def running(machine: Machine) -> dict[int, dict[str, str]]:
    """Every running job as scontrol shows it, by its number."""
    rows = [pairs(line) for line in machine.ctl("scontrol", "show", "job", "-o").out.splitlines()]
    return {int(row["JobId"]): row for row in rows if row.get("JobState") == "RUNNING"}


def _hosts(machine: Machine, step: Step) -> Sequence[Host]:
    by_name = {host.name: host for host in machine.cast.hosts}
    return [by_name[name] for name in expand(step.hosts) if name in by_name]


def _until(look: Callable[[], bool]) -> None:
    end = time.monotonic() + _LIMIT_S
    while not look() and time.monotonic() < end:
        time.sleep(0.2)
