"""Looks at GPUs, NVLink, PCIe links, memory and NICs of hosts of one type; each look gives findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.finding import Finding, Severity
from slurmwright.discover.majority import majority
from slurmwright.model.facts import HostFacts
from slurmwright.model.own_type_checks import normal_pci

Hosts = Mapping[str, HostFacts]

#: A DIMM is at least a 32nd of the memory; what firmware and kernel keep for themselves differs by less.
_LEAST_DIMM = 0.02
_SHOWN = 6


def _error(rule: str, name: str, host: str, text: str, fix: str) -> Finding:
    return Finding(rule, name, Severity.ERROR, text, host=host, fix=fix)


def gpu_counts(facts: Hosts, kind: NodeType, missing: Mapping[str, int]) -> Iterator[Finding]:
    """GPUs that are gone; those that `exceptions` declares missing are counted as there."""
    counts = {
        host: len(own.gpus) + missing.get(host, 0) for host, own in facts.items() if own.gpus is not None
    }
    most = majority(counts)
    usual = most.value if most.value is not None else kind.gpu.count
    every = {
        normal_pci(gpu.pci)
        for host, own in facts.items()
        if counts.get(host) == usual
        for gpu in own.gpus or ()
    }
    for host, count in counts.items():
        if count == usual:
            continue
        gone = sorted(every - {normal_pci(gpu.pci) for gpu in facts[host].gpus or ()})
        text = f"has {count} GPUs, its siblings have {usual}"
        text += f"; gone: {', '.join(gone)}" if gone else ""
        line = f"exceptions: {{{host}: {{gpus_missing: [N]}}}}"
        fix = f"drain it and look at dmesg for Xid 79; if it stays lost: {line}"
        yield _error("FA020", "gpu-missing" if count < usual else "gpu-added", host, text, fix)
    if most.value is not None and most.value != kind.gpu.count:
        text = (
            f"type {kind.name} says {kind.gpu.count} GPUs, but {most.count} of its hosts, which is most, "
            f"have {most.value}; the type is wrong for them rather than they are"
        )
        fix = "give these hosts a type of their own under node_types"
        yield Finding("FA001", "type-differs-from-its-hosts", Severity.WARNING, text, fix=fix)


def links(facts: Hosts, kind: NodeType) -> Iterator[Finding]:
    """A pair without its NVLink: against the siblings, and inside one matrix that is NVLink but for it."""
    rows = {host: own.gpu_links for host, own in facts.items() if own.gpu_links}
    most = majority(rows)
    for host, own in rows.items():
        usual = most.value if most.value is not None and len(most.value) == len(own) else own
        bad = [
            f"GPU{one}-GPU{two} {link} instead of {expected}"
            for one, two, link, expected in _pairs(own, usual)
            if link != expected
        ] or list(_odd(own))
        if bad:
            more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
            yield _error(
                "FA004",
                "nvlink-down",
                host,
                f"GPUs are not joined as on most hosts: {', '.join(bad[:_SHOWN])}{more}",
                "look at `nvidia-smi nvlink -s` and the fabric manager's log; drain the host",
            )


def _pairs(own: tuple[str, ...], usual: tuple[str, ...]) -> Iterator[tuple[int, int, str, str]]:
    for one, (row, other) in enumerate(zip(own, usual, strict=True)):
        for two, (link, expected) in enumerate(zip(row.split(), other.split(), strict=False)):
            if one < two:
                yield one, two, link, expected


def _odd(own: tuple[str, ...]) -> Iterator[str]:
    """Pairs that are not NVLink where most are, all alike: a mesh of few GPUs may join only some."""
    pairs = [(one, two, link) for one, two, link, _ in _pairs(own, own)]
    joined = [link for _, _, link in pairs if link.startswith("NV")]
    if len(joined) < len(pairs) * 0.5 or len(set(joined)) != 1 or len(pairs) < 6:
        return
    for one, two, link in pairs:
        if not link.startswith("NV"):
            yield f"GPU{one}-GPU{two} {link} instead of {joined[0]}"


def widths(facts: Hosts, kind: NodeType) -> Iterator[Finding]:
    """PCIe links that came up with fewer lanes than card and slot can have, or than on most hosts."""
    seen = {
        host: {
            f"{what} {normal_pci(device.pci)}": (
                device.pcie_width,
                device.pcie_width_max or device.pcie_width,
            )
            for what, devices in (("GPU", own.gpus), ("NIC", own.nics))
            for device in devices or ()
            if device.pcie_width
        }
        for host, own in facts.items()
    }
    for device in sorted({name for own in seen.values() for name in own}):
        values = {host: own[device][0] for host, own in seen.items() if device in own}
        usual = majority(values).value
        for host, width in values.items():
            best = max(width or 0, usual or 0) if usual else seen[host][device][1] or 0
            if width is not None and width < best:
                text = f"{device} runs with x{width} lanes, expected x{best}"
                fix = "reseat the card or its riser, and look at dmesg for AER errors"
                yield _error("FA005", "pcie-narrow", host, text, fix)
    yield from _all_narrow(seen)


def _all_narrow(seen: Mapping[str, Mapping[str, tuple[int | None, int | None]]]) -> Iterator[Finding]:
    """Where most hosts have it, it is the machine's way of being built: one word for all."""
    odd = {
        host: ", ".join(
            f"{name} x{width} of x{best}"
            for name, (width, best) in own.items()
            if width and best and width < best
        )
        for host, own in seen.items()
    }
    usual = majority(odd)
    if usual.value:
        text = f"on most hosts: {usual.value}"
        yield Finding(
            "FA006", "pcie-narrow-everywhere", Severity.INFO, text, fix="look at the vendor's drawing"
        )


def memory(facts: Hosts, kind: NodeType) -> Iterator[Finding]:
    """Less memory by a DIMM or more; a few MiB differ between hosts that are alike."""
    sizes = {host: own.memory.real_memory_mb for host, own in facts.items() if own.memory}
    if not sizes:
        return
    ordered = sorted(sizes.values())
    usual = ordered[len(ordered) // 2]
    for host, size in sizes.items():
        if abs(size - usual) > usual * _LEAST_DIMM:
            text = f"has {size} MiB of memory, most of its siblings have about {usual} MiB"
            fix = "look for a DIMM that is missing or switched off: `dmidecode -t memory`, the BMC's log"
            name = "memory-missing" if size < usual else "memory-added"
            yield _error("FA021", name, host, text, fix)
    said = kind.memory.real_memory_mb
    if said and abs(usual - said) > said * _LEAST_DIMM:
        text = f"type {kind.name} says {said} MiB of memory, most of its hosts have about {usual} MiB"
        yield Finding(
            "FA001",
            "type-differs-from-its-hosts",
            Severity.INFO,
            text,
            fix="nothing: render takes it from facts",
        )


def nics(facts: Hosts, kind: NodeType) -> Iterator[Finding]:
    """NICs that most siblings have at that address."""
    seen = {host: own.nics for host, own in facts.items() if own.nics is not None}
    every = sorted({normal_pci(nic.pci) for own in seen.values() for nic in own})
    for pci in every:
        there = {host: any(normal_pci(nic.pci) == pci for nic in own) for host, own in seen.items()}
        most = majority(there)
        if most.value is True:
            for host in most.outliers:
                text = f"has no NIC at {pci}, {most.count} of {len(there)} siblings have one"
                yield _error(
                    "FA012", "nic-missing", host, text, "reseat the card; look at dmesg for mlx5_core"
                )


def nic_rates(facts: Hosts, kind: NodeType) -> Iterator[Finding]:
    """Ports that run slower than the same port of most siblings, or that are down there alone."""
    ports = {
        host: {normal_pci(nic.pci): (nic.rate_gbps, nic.state, nic.name) for nic in own.nics or ()}
        for host, own in facts.items()
    }
    for pci in sorted({pci for own in ports.values() for pci in own}):
        rates = {
            host: rate for host, own in ports.items() if pci in own and (rate := own[pci][0]) is not None
        }
        states = {
            host: state for host, own in ports.items() if pci in own and (state := own[pci][1]) is not None
        }
        usual, usually = majority(rates), majority(states)
        for host in ports:
            slow = usual.value is not None and rates.get(host, usual.value) < usual.value
            down = usually.value == "ACTIVE" and states.get(host, "ACTIVE") != "ACTIVE"
            if slow or down:
                shown, now, name = ports[host][pci]
                text = f"{name} at {pci} has {shown} Gbit/s, {now}; most siblings have "
                text += f"{usual.value} Gbit/s, {usually.value}"
                fix = "look at the cable, the switch port and `ibstat`"
                yield _error("FA013", "nic-slow", host, text, fix)
