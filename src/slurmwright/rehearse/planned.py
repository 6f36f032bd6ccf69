"""A plan to verdicts: the old bundle runs with jobs on it, the steps are carried out, three things are asked.

Did the daemons take the change, did every job live that should, and did every node come back?
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from slurmwright.conf.meaning.nodes import gres_entries
from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.hosts import expand
from slurmwright.core.release import Release
from slurmwright.plan import Change, Plan
from slurmwright.plan.sides import side_of
from slurmwright.rehearse import database
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.carry import Carried, carry, nodes_of, running
from slurmwright.rehearse.cast import Cast, cast_of, slurm_conf
from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.processes import ENGINE, Progress
from slurmwright.rehearse.sandbox import Sandbox
from slurmwright.rehearse.scenarios import jobs, registered
from slurmwright.rehearse.slurm_text import pairs, read_nodes
from slurmwright.rehearse.values import NodeCount, Rehearsal, Verdict

#: Nodes that get a job: those of the change first.
_MOST_JOBS = 16
#: How long a node may stay away.
_RETURN_S = 60.0
_FIX = "compare with the row that the plan names in `source`: the real daemon is right"
#: Key of a node line → what scontrol shows for it.
_SHOWN = {"Features": "AvailableFeatures", "CPUs": "", "Gres": ""}


def rehearse_plan(
    plan: Plan,
    expected: Mapping[str, ExpectedNode],
    root: SlurmRoot,
    version: str,
    progress: Progress,
) -> Rehearsal:
    """Raises SlurmwrightError where the old bundle itself does not run here."""
    release = Release.parse(version)
    lacking = database.lacking(root)
    shapes = shapes_of(plan, expected)
    old, adapted = adapt(plan.old, release, shapes, lacking)
    new, _ = adapt(plan.new, release, shapes, lacking)
    with Sandbox() as sandbox:
        progress("starting the old bundle", 0, 1)
        machine = started(sandbox, root, both(old, new), old, shapes)
        progress("submitting jobs", 0, 1)
        submit(machine, plan)
        progress("carrying out the plan", 0, 1)
        verdicts = judged(machine, plan, new)
        nodes = read_nodes(machine.answer("scontrol", "show", "node", "-o"))
    count = NodeCount(len(nodes), sum(n.answered for n in nodes), sum(n.idle for n in nodes))
    findings = tuple(
        Finding(f"rehearse/{v.name}", v.name, Severity.ERROR, v.evidence[0], evidence=v.evidence, fix=_FIX)
        for v in verdicts
        if v.failed
    )
    return Rehearsal(ENGINE, version, count, verdicts, adapted, findings)


def shapes_of(plan: Plan, expected: Mapping[str, ExpectedNode]) -> dict[str, ExpectedNode]:
    """The hardware of every node; one that only the old side has is like a known one of the same words."""
    found = dict(expected)
    said: dict[str, dict[str, str]] = {}
    for bundle in (plan.new, plan.old):
        for (file, subject, key), one in side_of(bundle).meaning(()).items():
            if file == "slurm.conf" and subject.startswith("node ") and key in ("cpus", "gres"):
                said.setdefault(subject.removeprefix("node "), {})[key] = one.normal
    for name in said:
        alike = next((other for other in expected if said.get(other) == said[name]), None)
        if name not in found and alike is not None:
            found[name] = expected[alike]
    return found


def both(old: Bundle, new: Bundle) -> Bundle:
    """The old bundle with the nodes that only the new one has, so that every host is there to be started."""
    main, former = slurm_conf(old), nodes_of(old)
    side = side_of(new)
    said = side.meaning(()) if any(name not in former for name in side.nodes) else {}
    lines = ""
    for name, host in side.nodes.items():
        if name not in former:
            address = said.get(("slurm.conf", f"node {name}", "nodeaddr"))
            lines += (
                f"NodeName={name} NodeHostname={host}{f' NodeAddr={address.written}' if address else ''}\n"
            )
    text = main.text + ("" if main.text.endswith("\n") else "\n") + lines
    return replace(old, files=tuple(replace(f, text=text) if f == main else f for f in old.files))


def started(
    sandbox: Sandbox, root: SlurmRoot, every: Bundle, old: Bundle, shapes: Mapping[str, ExpectedNode]
) -> Machine:
    """The machine with all hosts of `every`, and the daemons of `old` running."""
    cast = _with_files(cast_of(every, shapes), old)
    machine = Machine(sandbox, root, cast)
    machine.build()
    machine.start_munge()
    told = database.start(machine)
    results = machine.start_controllers() if not told else {}
    if told or not machine.wait_for_controller():
        why = told or tuple(result.last_line for result in results.values())
        raise SlurmwrightError(f"the old bundle does not run here: {'; '.join(why)}")
    database.admit(machine)
    first = nodes_of(old)
    hosts = [host for host in machine.cast.compute if host.node in first]
    machine.start_nodes(hosts, lambda _: None)
    registered.wait_for_nodes(machine, hosts, lambda _: None)
    return machine


def _with_files(cast: Cast, old: Bundle) -> Cast:
    """The cast holding the files of the old side as they are."""
    texts = {file.path: file for file in old.files if file.path == cast.conf_path}
    hosts = tuple(
        replace(host, files=tuple(texts.get(file.path, file) for file in host.files)) for host in cast.hosts
    )
    return replace(cast, hosts=hosts)


def submit(machine: Machine, plan: Plan) -> frozenset[int]:
    """A job on each node that has none, the nodes of the change first, and one in a partition that goes."""
    about = [name for change in plan.changes for name in change.nodes]
    leaving = [change.partition for change in plan.changes if change.effects.drain == "partition"]
    busy = {name for row in running(machine).values() for name in expand(row["NodeList"])}
    shown = jobs.partitions(machine)
    nodes = {node.name: node for node in jobs.nodes(machine)}
    order = dict.fromkeys([*(name for name in about if name in nodes), *nodes])
    wanted = [name for name in order if name not in busy][:_MOST_JOBS]
    ids = set()
    for name in wanted:
        mine = [part for part, members in shown.items() if name in members]
        part = next((one for one in mine if one in leaving), mine[0] if mine else "")
        words = ["--parsable", "-o", "/dev/null", "-w", name, "-p", part, "--mem=1"]
        words += ["--gres=gpu:1"] if nodes[name].gpus else []
        done = machine.ctl("sbatch", *words, "--wrap", "sleep 3600") if part else None
        if done is not None and done.ok:
            ids.add(int(done.out.split(";")[0]))
    jobs.settle(machine, tuple(ids), lambda seen: all(job.state == "RUNNING" for job in seen.values()))
    return frozenset(running(machine))


def judged(machine: Machine, plan: Plan, new: Bundle) -> tuple[Verdict, ...]:
    """Carry out the plan and ask the three things."""
    before = running(machine)
    carried = carry(machine, plan, new)
    return (
        _carried(carried, _not_taken(machine, plan) if not carried.faults else ()),
        _survived(before, running(machine), carried, machine),
        _returned(machine, new),
    )


def _carried(carried: Carried, lines: Iterator[str] | tuple[str, ...]) -> Verdict:
    faults = (*carried.faults, *lines)
    return Verdict("change-taken", not faults, faults or carried.skipped or ("every step did its part",))


def _survived(
    before: Mapping[int, Mapping[str, str]],
    after: Mapping[int, Mapping[str, str]],
    carried: Carried,
    machine: Machine,
) -> Verdict:
    name = "jobs-survive"
    kept = {number: row for number, row in before.items() if number not in carried.ended}
    if not kept:
        return Verdict.not_checked(name, "no job ran on a node that the plan leaves alone")
    lost = []
    for number, row in kept.items():
        now = after.get(number)
        if now is None or any(now.get(key) != row.get(key) for key in ("Restarts", "StartTime", "NodeList")):
            said = pairs(machine.ctl("scontrol", "show", "job", "-o", str(number)).out)
            state = f"{said.get('JobState', 'gone')}, Restarts={said.get('Restarts', '?')}"
            lost.append(f"job {number} on {row.get('NodeList')} did not live through it: {state}")
    told = (f"{len(kept)} jobs ran on, {len(carried.ended)} were ended by the drain",)
    return Verdict(name, not lost, tuple(lost) or told)


def _returned(machine: Machine, new: Bundle) -> Verdict:
    """slurmd that starts anew is called not responding until slurmctld asks it again, so it has time."""
    wanted = nodes_of(new)
    end = time.monotonic() + _RETURN_S
    while (faults := _missing(machine, wanted)) and time.monotonic() < end:
        time.sleep(0.5)
    return Verdict("nodes-return", not faults, faults or (f"all {len(wanted)} nodes answer",))


def _missing(machine: Machine, wanted: Collection[str]) -> tuple[str, ...]:
    seen = {node.name: node for node in jobs.nodes(machine)}
    faults = [f"{name} is unknown to slurmctld" for name in wanted if name not in seen]
    faults += [f"{name} should be gone" for name in seen if name not in wanted]
    for name, node in seen.items():
        words = set(node.state.replace("*", "+NOT_RESPONDING").split("+"))
        if name in wanted and (not node.answered or words & {"DRAIN", "DRAINED", "INVALID_REG", "DOWN"}):
            faults.append(f"{name} is {node.state}: {node.reason or 'no reason'}")
    return tuple(faults)


def _not_taken(machine: Machine, plan: Plan) -> Iterator[str]:
    """What slurmctld still shows otherwise than the plan says."""
    rows = [pairs(line) for line in machine.answer("scontrol", "show", "node", "-o").splitlines()]
    nodes = {row.get("NodeName", ""): row for row in rows}
    parts = {
        row.get("PartitionName", ""): row
        for row in (
            pairs(line) for line in machine.answer("scontrol", "show", "partition", "-o").splitlines()
        )
    }
    config = dict(_config(machine.answer("scontrol", "show", "config")))
    for change in plan.changes:
        key = change.subject.rpartition(" ")[2]
        if change.file != "slurm.conf":
            continue
        if change.partition and change.kind in ("added", "removed") and change.rows[:1] != ("other",):
            whole = change.subject == f"partition {change.partition}"
            if whole and (change.partition in parts) != (change.kind == "added"):
                yield f"{change.subject} is {'not there' if change.kind == 'added' else 'still there'}"
        elif change.nodes:
            for name in change.nodes:
                if name in nodes and (said := _node_fault(change, key, nodes[name])):
                    yield f"{name}: {said}"
        elif change.new is not None and key.lower() in config:
            shown, value = config[key.lower()], change.new
            if _words(shown) != _words(value):
                yield f"{key} is shown as {shown}, the plan says {value}"


def _node_fault(change: Change, key: str, row: Mapping[str, str]) -> str:
    """What a node line still shows otherwise; "" where it does not."""
    if change.kind in ("added", "removed") and not change.subject.endswith(f" {key}"):
        return ""
    if key == "CPUs" and change.new:
        wanted = dict(word.split("=") for word in change.new.split())
        shown = {k: row.get("CPUTot" if k == "CPUs" else k) for k in wanted}
        return "" if shown == wanted else f"shown as {shown}, the plan says {change.new}"
    if key == "Gres":
        entries = [gres_entries(text or "") for text in (row.get("Gres"), change.new)]
        return "" if entries[0] == entries[1] else f"Gres={row.get('Gres')}, the plan says {change.new}"
    value = row.get(_SHOWN.get(key, key))
    if value is None or change.new is None:
        return ""
    return "" if _words(value) == _words(change.new) else f"{key}={value}, the plan says {change.new}"


def _config(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, sign, value = line.partition(" = ")
        if sign:
            yield key.strip().lower(), value.strip()


def _words(text: str) -> set[str]:
    """The words of a value, without units and plugin families: `10 sec` and `10` are the same."""
    plain = text.lower().removesuffix(" sec").strip()
    return {word.strip().rpartition("/")[2] for word in plain.split(",")} - {"(null)", ""}
