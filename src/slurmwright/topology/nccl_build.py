"""Elements of a topology file to the places where NCCL ends after reading (src/graph/topo.cc, paths.cc).

Each rank fills in what the file lacks for its own GPU and the bridges above it. What stands above a NIC that
the file names is never filled in by the others, so from 2.22 on it must be complete.
"""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.catalogue.nccl_versions import NcclVersion, topology_facts
from slurmwright.topology.nccl_grammar import Element, c_int
from slurmwright.topology.nccl_mistakes import (
    REFUSED,
    Mistake,
    busid_number,
    busid_of,
    good_busid,
    is_leaf_gpu,
)


def refusals(system: Element, version: NcclVersion) -> Iterator[Mistake]:
    """Every place where this version ends, in no order."""
    yield from _missing_identity(system, version)
    yield from _missing_above_nics(system, version)
    yield from _bus_ids(system, version)
    yield from _host_hash(system, version)
    yield from _nvlinks(system)


def _refused(line: int, message: str, fix: str = "") -> Mistake:
    return Mistake(REFUSED, "error", line, message, fix, refuses=True)


def _missing_identity(system: Element, version: NcclVersion) -> Iterator[Mistake]:
    for cpu in system.below("cpu"):
        if cpu.get("numaid") is None:
            yield _refused(cpu.line, "<cpu> has no numaid", 'numaid="0"')
    crash = not version.at_least(topology_facts()["busid_required_crash_until"])
    for pci in system.below("pci"):
        if pci.get("busid") is None:
            text = "<pci> has no busid" + (", which crashes NCCL before 2.30" if crash else "")
            yield _refused(pci.line, text, 'busid="dddd:bb:dd.f" in lower case')


def _missing_above_nics(system: Element, version: NcclVersion) -> Iterator[Mistake]:
    """What the way from a named NIC up to its CPU needs; a GPU below once filled in all but the class."""
    per_rank = version.at_least(topology_facts()["fused_per_rank"])
    told: set[int] = set()
    for net in system.below("net"):
        if net.get("name") is None:
            continue
        for one in net.above:
            filled = not per_rank and bool(one.below("gpu"))
            for key in _needed(one):
                if one.get(key) is None and (key == "class" or not filled) and id(one) not in told:
                    told.add(id(one))
                    text = (
                        f"<{one.name}> above the NIC {net.get('name')} has no {key}, and nothing fills it in"
                    )
                    yield _refused(one.line, text, _EXAMPLES[key])


_EXAMPLES = {
    "arch": 'arch="x86_64"',
    "vendor": 'vendor="GenuineIntel"',
    "familyid": 'familyid="6"',
    "modelid": 'modelid="143"',
    "class": 'class="0x060400" for a switch, 0x020000 for an Ethernet NIC, 0x020700 for InfiniBand',
    "link_speed": 'link_speed="32.0 GT/s PCIe"',
    "link_width": 'link_width="16"',
}


def _needed(one: Element) -> tuple[str, ...]:
    if one.name == "pci":
        return "class", "link_width", "link_speed"
    if one.name != "cpu":
        return ()
    if one.get("arch") is not None and not (one.get("arch") or "").startswith("x86_64"):
        return ("arch",)
    intel = (one.get("vendor") or "").startswith("GenuineIntel")
    return ("arch", "vendor", "familyid", "modelid") if intel else ("arch", "vendor")


def _bus_ids(system: Element, version: NcclVersion) -> Iterator[Mistake]:
    facts = topology_facts()
    strict = version.at_least(facts["busid_strict"]["since"]) and not version.at_least(
        facts["busid_strict"]["until"]
    )
    for pci in system.below("pci"):
        busid = pci.get("busid")
        if busid is None:
            continue
        holds_gpu = any(child.name == "gpu" for child in pci.children)
        if strict and holds_gpu and not good_busid(busid):
            text = f"a GPU under busid {busid}, which NCCL does not find: it stops or crashes with {version}"
            yield _refused(pci.line, text, 'busid="dddd:bb:dd.f" in lower case, a domain of four digits')
        if version.at_least(facts["mlopart"]) and is_leaf_gpu(pci) and busid_number(busid) & 3:
            text = (
                f"the GPU {busid} has a function other than 0 or 4; from {facts['mlopart']} NCCL "
                "needs the last two bits of its bus id for itself"
            )
            yield _refused(pci.line, text, "give the virtual machine's GPUs function 0")


def _host_hash(system: Element, version: NcclVersion) -> Iterator[Mistake]:
    spans = topology_facts()["host_hash"]
    if not version.at_least(spans["since"]) or version.at_least(spans["refused_until"]):
        return
    for cpu in system.below("cpu"):
        if cpu.get("host_hash") is not None:
            text = "host_hash of another start makes two nodes of one: NVLinks end nowhere, and NCCL stops"
            yield _refused(cpu.line, text, "take host_hash out")
            return


def _nvlinks(system: Element) -> Iterator[Mistake]:
    """NCCL stops where a GPU's link to another one is not answered by a link back."""
    gpus = {busid_number(busid_of(gpu)): gpu for gpu in system.below("gpu")}
    linked: dict[int, set[int]] = {}
    places: dict[tuple[int, int], int] = {}
    for number, gpu in gpus.items():
        linked[number] = set()
        for link in gpu.children:
            if link.name != "nvlink":
                continue
            if link.get("count") is None:
                yield _refused(link.line, "<nvlink> has no count", 'count="18"')
            tclass = link.get("tclass")
            if tclass is None or not tclass.startswith("0x03"):
                continue
            if link.get("target") is None:
                yield _refused(link.line, "<nvlink> to a GPU has no target", 'target="dddd:bb:dd.f"')
                continue
            target = busid_number(link.get("target") or "")
            linked[number].add(target)
            places[number, target] = link.line
    for number, targets in linked.items():
        for target in sorted(targets):
            if target in gpus and number not in linked[target]:
                yield _refused(*_unanswered(gpus[number], gpus[target], places[number, target]))


def _unanswered(here: Element, there: Element, line: int) -> tuple[int, str, str]:
    """The place to mend: the other GPU's only link, else its <gpu>."""
    links = [child for child in there.children if child.name == "nvlink"]
    mine, other = busid_of(here), busid_of(there)
    text = f"the NVLink of {mine} to {other} (line {line}) is not answered by one of {other} to {mine}"
    count = next((link.get("count") for link in here.children if link.line == line), None) or "18"
    fix = f'<nvlink target="{mine}" count="{count}" tclass="0x030200"/> in the <gpu> of {other}'
    return (links[0].line if len(links) == 1 else there.line), text, fix


def element_budget(system: Element) -> int:
    """How many elements NCCL has in hand once it has added what the file lacks: a GPU and its NVLinks, a NIC
    and its port for each such leaf."""
    count = 1 + len(system.below("cpu", "pci", "gpu", "nic", "net", "nvlink", "c2c", "pcilink"))
    for pci in system.below("pci"):
        names = [child.name for child in pci.children]
        nic = (pci.get("class") or "").startswith("0x02") and "nic" not in names
        if nic or (is_leaf_gpu(pci) and "gpu" not in names):
            count += 2
    return count


def first_number(text: str | None, default: int = 0) -> int:
    """An attribute as NCCL reads numbers."""
    return default if text is None else c_int(text)
