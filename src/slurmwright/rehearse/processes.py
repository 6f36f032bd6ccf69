"""Engine `processes`: runs a bundle as real Slurm daemons on this machine, one slurmd per node.

bundle ──adapt──▶ bundle for one machine ──cast──▶ hosts ──Machine──▶ daemons ──scenarios──▶ Rehearsal
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.release import Release
from slurmwright.rehearse import database
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.cast import cast_of
from slurmwright.rehearse.expect import ExpectedNode, ExpectedUnit
from slurmwright.rehearse.locate import places_of
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.sandbox import Sandbox
from slurmwright.rehearse.scenarios import (
    accounting,
    gpu_locality,
    gpus_each_once,
    logs_clean,
    placement,
    registered,
    whole_cluster,
)
from slurmwright.rehearse.slurm_text import error_lines, first_fatal
from slurmwright.rehearse.values import Adaptation, NodeCount, Rehearsal, Verdict

ENGINE = "processes"
#: (what happens now, how much of it is done, of how much)
Progress = Callable[[str, int, int], None]
#: The scenarios that run jobs, in their order.
_WITH_JOBS = (gpu_locality.NAME, gpus_each_once.NAME, placement.NAME, whole_cluster.NAME, accounting.NAME)
_FIXES = {
    registered.NAME: "compare NodeName and gres.conf lines with the hardware; `slurmwright types` draws it",
    gpu_locality.NAME: "Cores= takes logical core indexes of the GPU's socket; render derives them",
    logs_clean.NAME: "read the named line of the file; an option may belong to another release",
    gpus_each_once.NAME: "give partitions DefCpuPerGPU and DefMemPerGPU: one job must leave room for others",
    placement.NAME: "compare topology.conf with the racks of cluster.yaml; render derives it from them",
    accounting.NAME: "AccountingStorageTRES must name gres/gpu and each gres/gpu:TYPE; render derives them",
    whole_cluster.NAME: "check the partition's limits and its nodes' states",
}


def rehearse(
    bundle: Bundle,
    edited: tuple[str, ...],
    expected: Mapping[str, ExpectedNode],
    root: SlurmRoot,
    version: str,
    progress: Progress,
    keep: bool = False,
    jobs: bool = True,
    units: Sequence[ExpectedUnit] = (),
) -> Rehearsal:
    """Run `bundle` under the Slurm of `root`, whose version is `version`, and judge it.

    `edited` are bundle files changed since they were rendered; they are listed, not refused. Without `jobs`
    only the scenarios run that look at the daemons. `units` are the hosts that the topology must keep
    together. Raises SlurmwrightError when the engine itself cannot run; a daemon that does not start is a
    failed verdict.
    """
    release = Release.parse(version)
    no_database = database.lacking(root)
    adapted_bundle, adapted = adapt(bundle, release, expected, no_database)
    cast = cast_of(adapted_bundle, expected)
    if not cast.controllers:
        raise SlurmwrightError(f"{cast.conf_path}: no SlurmctldHost line; expected at least one controller")
    sandbox = Sandbox()
    kept = False
    with sandbox:
        machine = Machine(sandbox, root, cast)
        progress("laying out the hosts", 0, 1)
        machine.build()
        machine.start_munge()
        verdicts, count = _run(machine, release, progress, jobs, units)
        if keep:
            enter = f"{machine.enter_command()}    # stop it: kill {sandbox.pid}"
            sandbox.keep()
            kept = True
    edits = tuple(
        Adaptation(source, 0, "", "", "", "edited since it was rendered; rehearsed as it is now")
        for source in edited
    )
    verdicts = tuple(_located(verdict, adapted_bundle) for verdict in verdicts)
    findings = _findings(verdicts, adapted_bundle)
    return Rehearsal(ENGINE, version, count, verdicts, edits + adapted, findings, enter if kept else "")


def _run(
    machine: Machine, release: Release, progress: Progress, jobs: bool, units: Sequence[ExpectedUnit]
) -> tuple[tuple[Verdict, ...], NodeCount]:
    total = len(machine.cast.compute)
    progress("starting MariaDB, slurmdbd and slurmctld", 0, 1)
    dead = database.start(machine) or _controller_failure(machine, release)
    if dead:
        return _not_run(dead, machine, release), NodeCount(_all(machine), 0, 0)
    database.admit(machine)
    progress("starting slurmd", 0, total)
    let_memory_through(machine)
    machine.start_nodes(machine.cast.compute[1:], lambda done: progress("starting slurmd", done, total))
    registered.wait_for_nodes(
        machine, machine.cast.compute, lambda done: progress("nodes registering", done, total)
    )
    verdict, count = registered.judge(machine, release)
    if not count.registered:
        return (verdict, *_not_run(("no node registered",), machine, release)[1:]), count
    verdicts = [verdict]
    steps = _WITH_JOBS if jobs else ()
    for at, scenario in enumerate(steps):
        progress(f"scenario {scenario}", at, len(steps))
        verdicts.append(_judge(scenario, machine, units))
    progress(f"scenario {logs_clean.NAME}", len(steps), len(steps))
    verdicts.insert(1, logs_clean.judge(machine, release))
    return tuple(verdicts), count


def _judge(scenario: str, machine: Machine, units: Sequence[ExpectedUnit]) -> Verdict:
    if scenario == accounting.NAME:
        return accounting.judge(machine, _without_database(machine))
    if scenario == placement.NAME:
        return placement.judge(machine, units)
    if scenario == gpu_locality.NAME:
        return gpu_locality.judge(machine)
    return gpus_each_once.judge(machine) if scenario == gpus_each_once.NAME else whole_cluster.judge(machine)


def _without_database(machine: Machine) -> str:
    """Why no slurmdbd runs, "" where one does."""
    if machine.cast.database:
        return ""
    lacking = database.lacking(machine.source)
    return lacking or "the bundle holds no slurmdbd.conf, or no slurm.conf that uses it"


def _all(machine: Machine) -> int:
    return len(machine.cast.compute) + len(machine.cast.nodes_missing)


def _controller_failure(machine: Machine, release: Release) -> tuple[str, ...]:
    """What the first controller said when it did not come up, the telling line first; () when it is up."""
    name = machine.cast.controllers[0]
    if not any(h.name == name and machine.has_conf(h) for h in machine.cast.hosts):
        return (f"slurmctld did not start: bundle.json gives its host {name} no {machine.cast.conf_path}",)
    started = machine.start_controllers()[name]
    if started.ok and machine.wait_for_controller():
        return ()
    text = machine.controller_log(name)
    lines = logs_clean.unknown_errors(text, release, "slurmctld") or error_lines(text) or (started.last_line,)
    return tuple(f"slurmctld did not start: {line}" for line in dict.fromkeys((first_fatal(lines), *lines)))


def let_memory_through(machine: Machine) -> None:
    """Start the first node alone, until slurmctld has taken `node_reg_mem_percent`.

    Up to 24.11 slurmctld reads the number while the first node registers and takes any old errno of that
    thread for a failure (validate_node_specs in src/slurmctld/node_mgr.c); it then refuses every node for its
    memory. Another start is another try.
    """
    name = machine.cast.controllers[0]
    machine.start_nodes(machine.cast.compute[:1], lambda _: None)
    for _ in range(6):
        registered.wait_for_nodes(machine, machine.cast.compute[:1], lambda _: None)
        if "Unable to convert node_reg_mem_percent" not in machine.controller_log(name):
            return
        machine.restart_controllers()


def _not_run(why: tuple[str, ...], machine: Machine, release: Release) -> tuple[Verdict, ...]:
    rest = tuple(Verdict.not_checked(name, why[0]) for name in _WITH_JOBS)
    return Verdict(registered.NAME, False, why), logs_clean.judge(machine, release), *rest


def _located(verdict: Verdict, bundle: Bundle) -> Verdict:
    """The verdict with the line of the bundle that its messages are about."""
    places = places_of(verdict.evidence, bundle) if verdict.failed else ()
    return replace(verdict, evidence=(*verdict.evidence, *(f"the line is {place}" for place in places)))


def _findings(verdicts: tuple[Verdict, ...], bundle: Bundle) -> tuple[Finding, ...]:
    findings = []
    for verdict in verdicts:
        if not verdict.failed:
            continue
        place = next(iter(places_of(verdict.evidence, bundle)), None)
        findings.append(
            Finding(
                f"rehearse/{verdict.name}",
                verdict.name,
                Severity.ERROR,
                verdict.evidence[0],
                file=place.file if place else "",
                line=place.line if place else 0,
                evidence=verdict.evidence,
                fix=_FIXES[verdict.name],
            )
        )
    return tuple(findings)
