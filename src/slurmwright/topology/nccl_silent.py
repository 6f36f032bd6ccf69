"""Elements of a topology file to what NCCL takes and understands otherwise than meant, without a word."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.catalogue.nccl_versions import NcclVersion, since, topology_facts
from slurmwright.topology.nccl_build import element_budget, first_number
from slurmwright.topology.nccl_grammar import Element
from slurmwright.topology.nccl_masks import mask_mistakes
from slurmwright.topology.nccl_mistakes import (
    CPU,
    DOUBLED,
    INTERNAL,
    NVLINK,
    SPEED,
    UNMATCHED,
    Mistake,
    busid_of,
    good_busid,
)

_CPU_COMPLETE = ("affinity", "arch", "vendor", "familyid", "modelid")
_PCI_COMPLETE = (
    "class",
    "vendor",
    "device",
    "subsystem_vendor",
    "subsystem_device",
    "link_speed",
    "link_width",
)
_SOCKET_NICS = ("eth", "en", "bond", "ib")


def silent_mistakes(root: Element, system: Element, version: NcclVersion) -> Iterator[Mistake]:
    """Everything this version takes and reads otherwise."""
    yield from _ignored(root)
    for second in root.children[1:]:
        yield Mistake(UNMATCHED, "warning", second.line, "only the first <system> of a file counts")
    yield from mask_mistakes(system)
    for cpu in system.below("cpu"):
        yield from _cpu(cpu, version)
    yield from _numbers_twice(system)
    for pci in system.below("pci"):
        yield from _pci(pci)
    yield from _gpus(system, version)
    yield from _nets(system)
    yield from _fusion(system, version)
    limit = since(topology_facts()["elements"], version)
    if element_budget(system) >= limit:
        text = (
            f"with the GPUs and NICs that NCCL adds the node has {element_budget(system)} elements; it has "
        )
        yield Mistake(UNMATCHED, "warning", 0, f"{text}room for {limit - 1}")


def _ignored(element: Element) -> Iterator[Mistake]:
    for name, line in element.ignored:
        severe = name in ("gpu", "nvlink", "net", "pci", "cpu", "nic", "c2c")
        place = f"inside <{element.name}>" if element.name else "outside of <system>"
        text = f"<{name}> {place} is skipped"
        yield Mistake(UNMATCHED, "error" if severe else "warning", line, text, _PLACES.get(name, ""))
    keys = [attribute.key for attribute in element.attributes if attribute.key]
    for key in sorted({key for key in keys if keys.count(key) > 1}):
        text = f"{key} stands twice in <{element.name}>; the first one counts"
        yield Mistake(UNMATCHED, "warning", element.line, text)
    for attribute in element.attributes:
        if "&" in attribute.value:
            text = f'{attribute.key}="{attribute.value[:40]}" is taken as it stands: NCCL knows no entities'
            yield Mistake(UNMATCHED, "warning", attribute.line, text)
    for child in element.children:
        yield from _ignored(child)


_PLACES = {
    "nvlink": "nvlink belongs into <gpu>",
    "net": "net belongs into <nic>",
    "gpu": "gpu belongs into its own <pci>",
}


def _cpu(cpu: Element, version: NcclVersion) -> Iterator[Mistake]:
    facts = topology_facts()
    arch, vendor = cpu.get("arch"), cpu.get("vendor")
    if arch is not None and not arch.startswith(tuple(facts["arches"])):
        text = f"arch={arch} is unknown to NCCL, which takes the way between sockets as free (5000 GB/s)"
        fix = 'arch="arm64"' if arch == "aarch64" else f"one of {', '.join(facts['arches'])}"
        yield Mistake(CPU, "error", cpu.line, text, fix)
    elif arch == "x86_64" and vendor is not None and not vendor.startswith(tuple(facts["vendors"])):
        text = f"vendor={vendor} is unknown to NCCL, which takes the way between sockets as free (5000 GB/s)"
        yield Mistake(CPU, "error", cpu.line, text, 'vendor="AuthenticAMD" or vendor="GenuineIntel"')
    if cpu.get("numaid") is not None and first_number(cpu.get("numaid")) < 0:
        text = "numaid -1 is what NCCL makes up for GPUs it cannot place"
        yield Mistake(CPU, "warning", cpu.line, text, "the number of the NUMA node")
    if cpu.get("host_hash") is not None:
        spans = facts["host_hash"]
        split = version.at_least(spans["since"]) and not version.at_least(spans["repaired"])
        text = "host_hash is NCCL's own: a copied one splits the node in two systems from 2.21 to 2.26"
        yield Mistake(INTERNAL, "error" if split else "warning", cpu.line, text, "take host_hash out")


def _numbers_twice(system: Element) -> Iterator[Mistake]:
    seen: dict[str, int] = {}
    for cpu in system.below("cpu"):
        numaid = cpu.get("numaid")
        if numaid in seen:
            text = f"numaid {numaid} stands at line {seen[numaid]} too; NCCL makes two CPUs of one"
            yield Mistake(CPU, "error", cpu.line, text)
        elif numaid is not None:
            seen[numaid] = cpu.line
    buses: dict[str, int] = {}
    for pci in system.below("pci"):
        busid = pci.get("busid")
        if busid in buses:
            text = f"busid {busid} stands at line {buses[busid]} too"
            yield Mistake(UNMATCHED, "error", pci.line, text)
        elif busid is not None:
            buses[busid] = pci.line


def _pci(pci: Element) -> Iterator[Mistake]:
    facts = topology_facts()
    busid, speed, width, kind = (pci.get(key) for key in ("busid", "link_speed", "link_width", "class"))
    if busid is not None and not good_busid(busid):
        text = f"busid {busid} never equals the driver's, which is dddd:bb:dd.f in lower case"
        yield Mistake(UNMATCHED, "error", pci.line, text, f'busid="{_mended(busid)}"')
    if speed == "":
        text = 'link_speed="" counts as 8 GT/s (Gen3), 12 GB/s at 16 lanes'
        yield Mistake(SPEED, "info", pci.line, text)
    elif speed is not None and not speed.startswith((*facts["link_speeds"], "8.0 GT/s")):
        text = f"link_speed={speed} is unknown to NCCL and counts as 8 GT/s (Gen3), 12 GB/s at 16 lanes"
        fix = f'link_speed="{speed} PCIe"' if speed.endswith(".0 GT/s") else 'link_speed="32.0 GT/s PCIe"'
        yield Mistake(SPEED, "error", pci.line, text, fix)
    elif speed is not None and pci.children and _slower(pci, speed):
        text = (
            f"link_speed={speed} of a switch is slower than what hangs below it, and caps the way out of it"
        )
        yield Mistake(SPEED, "warning", pci.line, text)
    if width is not None and (first_number(width) < 0 or first_number(width) > 32):
        yield Mistake(
            SPEED, "error", pci.line, f"link_width={width} is no number of lanes", 'link_width="16"'
        )
    if kind is not None and not kind.startswith(tuple(facts["classes"])):
        text = f"class={kind} is unknown to NCCL and counts as a switch"
        yield Mistake(SPEED, "warning", pci.line, text, _class_fix(kind))


def _slower(pci: Element, speed: str) -> bool:
    """A Gen2 bridge above Gen5 devices is a firmware's wrong table more often than a slow slot."""
    mine = link_rate(speed)
    below = [link_rate(child.get("link_speed") or "") for child in pci.children if child.name == "pci"]
    return any(child >= 4 * mine for child in below)


def link_rate(speed: str) -> float:
    """GB/s of 16 lanes as NCCL counts them."""
    facts = topology_facts()
    found = [rate for text, rate in facts["link_speeds"].items() if speed.startswith(text)]
    return float(found[0] if found else facts["link_speed_else"])


def _class_fix(kind: str) -> str:
    return f'class="0x{kind.lower()}"' if kind[:2].isdigit() and not kind.startswith("0x") else ""


def _mended(busid: str) -> str:
    low = busid.lower()
    if low.count(":") == 1:
        return f"0000:{low}"
    return low[-12:] if len(low) > 12 else low


def _gpus(system: Element, version: NcclVersion) -> Iterator[Mistake]:
    devices: dict[str, int] = {}
    known = {busid_of(gpu) for gpu in system.below("gpu")}
    for gpu in system.below("gpu"):
        dev = gpu.get("dev")
        if dev in devices:
            text = f"dev {dev} is the <gpu> at line {devices[dev]} too"
            yield Mistake(INTERNAL, "warning", gpu.line, text, "one number for each GPU, or none")
        elif dev is not None:
            devices[dev] = gpu.line
        for key in ("rank", "mlopart"):
            if gpu.get(key) is not None:
                text = f"{key} is NCCL's own, left over from a dump"
                yield Mistake(INTERNAL, "info", gpu.line, text, f"take {key} out")
        yield from _links(gpu, known)


def _links(gpu: Element, known: set[str]) -> Iterator[Mistake]:
    mine, total = busid_of(gpu), 0
    for link in gpu.children:
        target, tclass = link.get("target"), link.get("tclass") or ""
        total += first_number(link.get("count"))
        if link.name != "nvlink" or not tclass.startswith("0x03"):
            continue
        if target == mine:
            text = f"the NVLink of {mine} goes to itself: NCCL sees no NVLink"
            yield Mistake(NVLINK, "error", link.line, text, "target is the GPU at the other end")
        elif target not in known:
            text = f"the NVLink of {mine} goes to {target}, where this file has no GPU: it counts for nothing"
            yield Mistake(NVLINK, "error", link.line, text, "target is the GPU at the other end")
    sm = first_number(gpu.get("sm"))
    row = nvlink_row(sm)
    if sm and row and total > row["links"]:
        text = f"{total} NVLinks at {mine}; a GPU of sm {sm} has {row['links']:.0f}"
        yield Mistake(NVLINK, "warning", gpu.line, text)


def nvlink_row(sm: int) -> dict[str, float] | None:
    """GB/s of one link and the links of a GPU of this compute capability."""
    table: dict[int, dict[str, float]] = topology_facts()["nvlink"]
    if sm in table:
        return table[sm]
    return next((row for least, row in table.items() if sm >= least and least != 86), None)


def _nets(system: Element) -> Iterator[Mistake]:
    guids: dict[str, tuple[str, int]] = {}
    for net in system.below("net"):
        name, speed, guid = net.get("name"), net.get("speed"), net.get("guid")
        if name is None:
            text = "<net> has no name, so no NIC of the node is this one"
            yield Mistake(UNMATCHED, "error", net.line, text, 'name="mlx5_0"')
        if speed is not None and 0 < first_number(speed) < 10000:
            number = first_number(speed)
            text = f"speed={speed} is Mbit/s: {number / 8000:.2f} GB/s"
            yield Mistake(SPEED, "error", net.line, text, f'speed="{number * 1000}"')
        elif speed is not None and first_number(speed) <= 0:
            text = f"speed={speed} counts as 10 Gbit/s"
            yield Mistake(SPEED, "warning", net.line, text, 'speed="400000" for 400 Gbit/s')
        if net.get("gdr") == "0" and name and not name.startswith(_SOCKET_NICS):
            text = f"gdr=0 keeps GPUDirect off for {name}"
            yield Mistake(SPEED, "warning", net.line, text, "take gdr out; NCCL asks the driver")
        place = busid_of(net)
        if guid is None or first_number(guid) == 0:
            continue
        if guid in guids and guids[guid][0] != place:
            text = f"guid {guid} is that of line {guids[guid][1]} too: NCCL takes both for one NIC"
            yield Mistake(DOUBLED, "error", net.line, text, "one guid for each card, or none")
        guids.setdefault(guid, (place, net.line))


def _fusion(system: Element, version: NcclVersion) -> Iterator[Mistake]:
    """From 2.22 ranks join their views by complete lists of attributes: what sysfs adds to one of them makes
    everything below stand twice (an AWS p5 file: 64 NICs for 32, 70 GB/s for 384)."""
    if not version.at_least(topology_facts()["fused_per_rank"]) or not system.below("net"):
        return
    for one in system.below("cpu", "pci"):
        if not one.below("net"):
            continue
        missing = [key for key in _complete(one) if one.get(key) is None]
        if missing:
            text = (
                f"<{one.name}> above a named NIC has no {', '.join(missing)}: ranks that fill them in and "
                "ranks that do not see two of it, and every NIC below twice"
            )
            fix = "list no gpu, nic and net at all, or give every attribute of each cpu and pci"
            yield Mistake(DOUBLED, "warning", one.line, text, fix)
            return


def _complete(one: Element) -> tuple[str, ...]:
    if one.name == "pci":
        return _PCI_COMPLETE
    return _CPU_COMPLETE if one.get("arch") == "x86_64" else ("affinity", "arch")
