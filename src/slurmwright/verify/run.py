"""A cluster, its hardware and a way to its login host, to the report: which promises hold, if not why."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from slurmwright.core.run import Runner
from slurmwright.verify import judge, judge_hosts
from slurmwright.verify.causes import findings
from slurmwright.verify.causes.case import Case
from slurmwright.verify.documents import Document
from slurmwright.verify.expect import ExpectedNode
from slurmwright.verify.judge import Ground, judge_beside, judge_launch
from slurmwright.verify.launches import (
    BATCH,
    BESIDE,
    HOSTS,
    INTERACTIVE,
    SSH,
    SSH_REFUSED,
    Launch,
    launches,
)
from slurmwright.verify.reached import Data
from slurmwright.verify.session import Admin, Progress, Session, by_node
from slurmwright.verify.slurm import Chosen, choose
from slurmwright.verify.values import IN_SERVICE, Point, Report, checks_of
from slurmwright.verify.wanted import Wanted

#: Jobs that are started in other ways than by srun, each with one GPU.
_OTHERS = {name: Launch(name, 1, limited=False) for name in (BATCH, INTERACTIVE, SSH)}
_GOOD = {
    IN_SERVICE: "slurmctld can use it",
    BATCH: "the batch script opens its GPU and no other",
    INTERACTIVE: "an interactive step opens its job's GPU and no other",
    SSH: "a session over SSH opens its job's GPU and no other",
    SSH_REFUSED: "a session over SSH is refused where the user has no job",
    HOSTS: "the host answered",
    **judge.GOOD,
    **judge_hosts.GOOD,
}
#: Idle nodes without an answer that are asked in another way: where nothing gets through, a few tell why.
_MOST_ASKED = 8
_AUTHENTICATION = (
    "Permission denied (",
    "Host key verification",
    "Connection refused",
    "timed out",
    "resolve",
)


@dataclass
class _Gathered:
    """What has been seen so far."""

    points: list[Point] = field(default_factory=list)
    jobs: dict[str, list[tuple[str, Data]]] = field(default_factory=dict)
    hosts: dict[str, Data] = field(default_factory=dict)


@dataclass(frozen=True)
class Sight:
    """All that one verification saw, before anybody says what it means."""

    cluster: str
    case: Case
    good: Mapping[str, str]
    launched: int
    seconds: float

    def report(self, read: bool | None = None) -> Report:
        """Checks and findings; `read` says anew whether Slurm's files may be used as evidence."""
        case = self.case if read is None else replace(self.case, read=read)
        checks = checks_of(case.points, self.good)
        return Report(self.cluster, checks, findings(case), self.launched, self.seconds)


def verify(
    cluster: str,
    shapes: Mapping[str, ExpectedNode],
    wanted: Wanted,
    runner: Runner,
    ground: Ground | None = None,
    progress: Progress = lambda *_: None,
    admin: Admin | None = None,
) -> Report:
    """Try everything on the nodes that are idle now. `admin` runs a script on a host that Slurm cannot reach.

    Raises SlurmwrightError where slurmctld cannot be asked.
    """
    return look(cluster, shapes, wanted, runner, ground, progress, admin).report()


def look(
    cluster: str,
    shapes: Mapping[str, ExpectedNode],
    wanted: Wanted,
    runner: Runner,
    ground: Ground | None = None,
    progress: Progress = lambda *_: None,
    admin: Admin | None = None,
) -> Sight:
    """What `verify` sees, for those who judge it themselves."""
    ground, begun = ground or Ground(), time.monotonic()
    session, seen = Session(runner, wanted, progress), _Gathered()
    rows = session.rows()
    kinds = choose(shapes, rows, wanted.nodes, wanted.partition, bool(wanted.reservation))
    hosts = {host for kind in kinds for host in (*kind.nodes, *kind.skipped)}
    reasons = {row.node: row.told for row in rows if row.gone and row.node in hosts}
    for host in sorted(hosts):
        seen.points.append(Point(IN_SERVICE, host, reasons.get(host, "")))
    try:
        kinds = tuple(_try(session, kind, shapes, ground, seen, reasons) for kind in kinds)
        if ground.confined and wanted.tries(HOSTS):
            _look(session, kinds, shapes, seen, reasons, admin)
    finally:
        session.close()
    case = Case(seen.points, seen.jobs, seen.hosts, shapes, reasons, wanted.read, ground.stand_ins)
    good = {**_GOOD, **_good_launches(kinds)}
    return Sight(cluster, case, good, session.launched, time.monotonic() - begun)


def _good_launches(kinds: Sequence[Chosen]) -> dict[str, str]:
    found = {}
    for kind in kinds:
        for one in launches(kind.shape):
            who = "each task" if one.tasks > 1 else "a job"
            found[one.name] = f"{who} opens the {one.of_task} GPUs that it was given and no other"
    return found


def _try(
    session: Session,
    kind: Chosen,
    shapes: Mapping[str, ExpectedNode],
    ground: Ground,
    seen: _Gathered,
    reasons: dict[str, str],
) -> Chosen:
    """All jobs of one kind of node. Gives it back without the nodes that were lost on the way."""
    tries = session.wanted.tries
    every = tuple(one for one in launches(kind.shape) if tries(one.name))
    beside, inside = (bool(kind.shape.gpus) and tries(name) for name in (BESIDE, INTERACTIVE))
    others = (*((BESIDE, BATCH) if beside else ()), *((INTERACTIVE, SSH) if inside else ()))
    for host, why in kind.skipped.items():
        seen.points += [Point(name, host, skipped=why) for name in (*(one.name for one in every), *others)]
    if not kind.nodes:
        return kind
    for at, one in enumerate(every):
        session.progress(f"{kind.name}: {one.name}", at, len(every) + len(others))
        found, said = session.launch(kind, one)
        lost = {} if found else session.lost(kind)
        if lost:
            reasons.update(lost)
            left = (*(later.name for later in every[at:]), *others)
            seen.points += [Point(IN_SERVICE, host, why) for host, why in lost.items()]
            seen.points += [Point(name, host, skipped=why) for host, why in lost.items() for name in left]
            rest = tuple(host for host in kind.nodes if host not in lost)
            kind = replace(kind, nodes=rest, skipped={**kind.skipped, **lost})
            if not rest:
                return kind
            found, said = session.launch(kind, one)
        _judge(kind, one, by_node(found), said, shapes, ground, seen)
    if beside:
        session.progress(f"{kind.name}: {BESIDE}", len(every), len(every) + len(others))
        _beside(session, kind, shapes, ground, seen)
    if inside and ground.confined:
        session.progress(f"{kind.name}: {INTERACTIVE}", len(every) + 2, len(every) + len(others))
        _sessions(session, kind, shapes, ground, seen)
    return kind


def _judge(
    kind: Chosen,
    one: Launch,
    nodes: Mapping[str, Sequence[Document]],
    said: str,
    shapes: Mapping[str, ExpectedNode],
    ground: Ground,
    seen: _Gathered,
) -> None:
    for host in kind.nodes:
        own = nodes.get(host, ())
        if not own:
            seen.points.append(Point(one.name, host, skipped=f"no answer: {said}" if said else "no answer"))
            continue
        seen.jobs.setdefault(host, []).extend((one.name, doc.data) for doc in own)
        seen.points += judge_launch(one, host, shapes[host], own, ground)


def _beside(
    session: Session, kind: Chosen, shapes: Mapping[str, ExpectedNode], ground: Ground, seen: _Gathered
) -> None:
    found, said = session.beside(kind)
    if not found:
        seen.points += [Point(BESIDE, host, skipped=said or "no answer") for host in kind.nodes]
        seen.points += [Point(BATCH, host, skipped=said or "no answer") for host in kind.nodes[:1]]
        return
    on_node: dict[str, dict[str, Data]] = {host: {} for host in kind.nodes}
    batches: list[Document] = []
    for job, documents in found.items():
        batches += [one for one in documents if one.tag == BATCH]
        for one in documents:
            if one.tag != BATCH and one.node in on_node:
                on_node[one.node][job] = one.data
    for host, jobs in on_node.items():
        seen.points += judge_beside(host, shapes[host], jobs, ground)
    for one in batches:
        seen.points += judge_launch(_OTHERS[BATCH], one.node, shapes[one.node], [one], ground)
    if not batches:
        seen.points.append(Point(BATCH, kind.nodes[0], skipped="no batch script left its document"))


def _sessions(
    session: Session, kind: Chosen, shapes: Mapping[str, ExpectedNode], ground: Ground, seen: _Gathered
) -> None:
    node, root = kind.nodes[0], session.uid() == 0
    ssh = session.wanted.ssh and not root
    why = "root is let in everywhere; run verify as an ordinary user" if root else "not asked for"
    found, said = session.interactive(kind, ssh)
    for name in (INTERACTIVE, SSH):
        own = [one for one in found if one.tag == name]
        if own:
            seen.points += judge_launch(_OTHERS[name], node, shapes[node], own[:1], ground)
        else:
            told = why if name == SSH and not ssh else f"no answer: {said}"
            seen.points.append(Point(name, node, skipped=told))
    if not ssh or session.stuck:
        seen.points.append(Point(SSH_REFUSED, node, skipped=session.stuck or why))
        return
    done = session.ssh_without_job(node)
    if done.ok:
        fault = "a session over SSH is let in although the user has no job here"
        seen.points.append(Point(SSH_REFUSED, node, fault))
    elif any(word in done.err for word in _AUTHENTICATION):
        seen.points.append(Point(SSH_REFUSED, node, skipped=f"no session at all: {done.last_line}"))
    else:
        seen.points.append(Point(SSH_REFUSED, node))


def _look(
    session: Session,
    kinds: Sequence[Chosen],
    shapes: Mapping[str, ExpectedNode],
    seen: _Gathered,
    reasons: Mapping[str, str],
    admin: Admin | None,
) -> None:
    """The hosts themselves, after all jobs: by one step for each kind, by `admin` where Slurm is no way.

    An idle node may answer no job either: slurmctld believes in it until SlurmdTimeout is over.
    """
    session.progress("hosts", 0, 1)
    session.gone()
    credential = session.credential()
    ours = session.ours("")
    for kind in kinds:
        told: dict[str, str] = dict(kind.skipped)
        if kind.nodes:
            found, said = session.hosts(kind, credential)
            seen.hosts.update(found)
            told |= {host: f"no answer: {said}" for host in kind.nodes if host not in found}
        silent = [host for host in told if host in kind.nodes and host not in seen.jobs][:_MOST_ASKED]
        for host, why in told.items():
            ask = admin if host in reasons or host in silent else None
            data = session.asked(host, ask, session.credential()) if ask else None
            if data is not None:
                seen.hosts[host] = data
            else:
                seen.points.append(Point(HOSTS, host, skipped=why))
    seen.points += [Point(HOSTS, host) for host in seen.hosts]
    seen.points += judge_hosts.judge_hosts(shapes, seen.hosts, ours)
