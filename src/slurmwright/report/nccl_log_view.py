"""What NCCL's logs tell, as text for a person: the first cause, then what followed and what is only slow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group as Parts
from rich.console import RenderableType
from rich.text import Text

from slurmwright.core.cpu_list import fold_cpus
from slurmwright.core.hosts import fold
from slurmwright.nccl.log import Diagnosis, Group
from slurmwright.nccl.log_behind import Behind

_HEADS = {
    "cause": "also a cause",
    "suspect": "possibly a cause",
    "timeout": "a limit ran out",
    "follow": "followed",
    "slow": "slow, no failure",
}


def draw_log(found: Diagnosis, looked_at: str) -> RenderableType:
    """The first cause with its line and what to do; every other kind of fault in a row."""
    return Parts(*_parts(found, looked_at))


def _parts(found: Diagnosis, looked_at: str) -> Iterator[Text]:
    if found.first:
        yield from _first(found)
    for one in found.behind:
        yield from _behind(one)
    if found.named:
        yield Text(f"PyTorch itself names rank {_ranks(found.named)} as behind")
    rest: dict[str, list[Group]] = {}
    for group in found.groups:
        if group is not found.first:
            rest.setdefault(group.fault.name, []).append(group)
    for groups in rest.values():
        yield from _others(groups)
    if found.left_out:
        yield Text(f"{found.left_out} more lines are of further hosts and adapters, counted only")
    for file, line, text in found.unknown[:5]:
        yield Text.assemble(("warning not in the catalogue", "yellow"), f"  {file}:{line}")
        yield Text(f"  seen: {text}")
    if found.unknown_count > 5:
        yield Text(f"  and {found.unknown_count - 5} more such warnings")
    if any(found.timeouts.values()):
        yield Text(
            f"limits that ran out: {found.timeouts['nccl']} lines of NCCL's own (network, sockets), "
            f"{found.timeouts['pytorch']} of PyTorch's (init_process_group(timeout=...), heartbeat)"
        )
    yield Text(_summary(found, looked_at))


def _first(found: Diagnosis) -> Iterator[Text]:
    first = found.first
    assert first is not None  # noqa: S101 - the caller has looked
    yield Text.assemble(("first cause ", "bold red"), (first.fault.name, "bold"), f"  {_where(first)}")
    yield Text(f"  {first.fault.cause}.")
    yield Text(f"  seen: {first.file}:{first.line}: {first.evidence}")
    yield Text(f"  fix: {first.fault.fix}")
    if first.fault.kind == "follow":
        yield Text(
            "  Such a line only follows a failure: the log of the rank that failed first is not among these."
        )
    if not found.timed and len(found.groups) > 1:
        yield Text("  No times in these logs: files were taken in the order given.")


def _behind(one: Behind) -> Iterator[Text]:
    """Who was behind in one group when its limit ran out, and what that means."""
    work, waiting = one.work, f"{one.waiting} ranks waited in it"
    if one.verdict == "absent":
        yield _head("behind", f"rank {_ranks(at.rank for at in one.ranks)}", one)
        for at in one.ranks[:8]:
            on = f" on {at.host}" if at.host else ""
            yield Text(f"  rank {at.rank}{on} called {at.called} last; {waiting} ({work})")
            yield Text(f"  seen: {at.file}:{at.line}")
        yield Text(f"  fix: what did it do instead of collective {work}, or inside of it? py-spy dump there")
    elif one.verdict == "mixed":
        calls = "; ".join(f"{name}: rank {_ranks(ranks)}" for name, ranks in one.mixed)
        yield _head("different calls", f"for collective {work}", one)
        yield Text(f"  {calls}. Ranks took different ways through the program.")
    elif one.verdict == "silent":
        hosts = fold(sorted({host for _, host in one.silent if host}))
        yield _head("told nothing", f"rank {_ranks(rank for rank, _ in one.silent)} on {hosts}", one)
        yield Text(f"  {waiting} ({work}); read what these ranks printed last, and dmesg of their hosts")
    else:
        yield _head("nobody behind", f"all {one.waiting} ranks that told had called collective {work}", one)
        yield Text("  Not the program of one rank: look at the network and the GPUs.")


def _head(what: str, who: str, one: Behind) -> Text:
    return Text.assemble((f"{what} ", "bold yellow"), f"{who}  (PyTorch group {one.group})")


def _ranks(ranks: Iterable[int]) -> str:
    return fold_cpus(ranks)


def _others(groups: list[Group]) -> Iterator[Text]:
    one = groups[0]
    hosts = fold(sorted({group.host for group in groups if group.host}))
    nics = sorted({group.nic for group in groups if group.nic})
    where = " ".join(part for part in (hosts and f"on {hosts}", ",".join(nics[:8])) if part)
    count = sum(group.count for group in groups)
    head = _HEADS[one.fault.kind]
    yield Text.assemble((f"{head} ", "yellow"), (one.fault.name, "bold"), f"  {count} lines {where}".rstrip())
    if one.fault.kind != "follow":
        yield Text(f"  {one.fault.cause}.")
        yield Text(f"  seen: {one.file}:{one.line}: {one.evidence}")
        yield Text(f"  fix: {one.fault.fix}")


def _where(group: Group) -> str:
    ranks = ",".join(map(str, sorted(group.ranks)[:8]))
    parts = (
        group.host and f"on {group.host}",
        ranks and f"rank {ranks}",
        group.nic,
        f"{group.count} lines" if group.count > 1 else "",
    )
    return ", ".join(part for part in parts if part)


def _summary(found: Diagnosis, looked_at: str) -> str:
    told = f", {found.hosts} hosts, {found.ranks} ranks" if found.hosts else ""
    known = "" if found.groups or found.unknown_count else ": nothing known"
    return f"{looked_at}: {found.size / 1e6:.1f} MB{told}{known}."
