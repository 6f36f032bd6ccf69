"""Which GPUs a host has: device numbers close ranks, facts beat the type, what is withheld is still there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slurmwright.catalogue.node_types import load_node_type
from slurmwright.model.cluster import HostException, MigLayout, NodeGroup
from slurmwright.model.facts import GpuFact, HostFacts, MigFact
from slurmwright.model.facts_compare import differences
from slurmwright.model.host_gpus import HostGpu, Instance, host_gpus

_TYPE = load_node_type("dgx-h100")
_GROUP = NodeGroup(hosts=("gpu01",), type="dgx-h100")
_BUSES = tuple(str(gpu.pci) for gpu in _TYPE.gpus)


def _facts(order: list[int], mig: dict[int, tuple[MigFact, ...]] | None = None) -> HostFacts:
    """Facts in which the GPU with index order[n] is /dev/nvidiaN."""
    gpus = tuple(
        GpuFact(pci=_BUSES[index], minor=minor, numa=index // 4, mig=(mig or {}).get(index))
        for minor, index in enumerate(order)
    )
    return HostFacts(format="slurmwright/facts/1", host="gpu01", gpus=gpus)


def _differences(facts: HostFacts, exception: HostException | None, group: NodeGroup = _GROUP) -> list[str]:
    return [f"{text}; {advice}" for _, text, advice in differences(_TYPE, facts, group, exception)]


def test_a_whole_host_has_its_gpus_in_pci_order() -> None:
    found = host_gpus(_TYPE, _GROUP, None, None)
    assert [(gpu.index, gpu.minor, gpu.numa) for gpu in found] == [(n, n, n // 4) for n in range(8)]


def test_device_numbers_close_ranks_when_a_gpu_is_gone() -> None:
    found = host_gpus(_TYPE, _GROUP, HostException(gpus_missing=(1,)), None)
    assert [gpu.index for gpu in found] == [0, 2, 3, 4, 5, 6, 7]
    assert [gpu.minor for gpu in found] == list(range(7))
    assert [gpu.numa for gpu in found] == [0, 0, 0, 1, 1, 1, 1]


def test_a_withheld_gpu_keeps_its_device_number() -> None:
    found = host_gpus(_TYPE, _GROUP, HostException(gpus_withheld=(5,)), None)
    assert [gpu.minor for gpu in found if not gpu.withheld] == [0, 1, 2, 3, 4, 6, 7]
    assert [gpu for gpu in found if gpu.withheld] == [HostGpu(5, 5, 1, "0000:c3:00.0", withheld=True)]


@given(st.permutations(range(8)), st.sets(st.integers(0, 7), max_size=3))
def test_facts_say_which_device_number_a_gpu_has(order: list[int], missing: set[int]) -> None:
    left = [index for index in order if index not in missing]
    exception = HostException(gpus_missing=tuple(sorted(missing)))
    found = host_gpus(_TYPE, _GROUP, exception, _facts(left))
    assert [gpu.index for gpu in found] == left
    assert [gpu.minor for gpu in found] == list(range(len(left)))
    assert _differences(_facts(left), exception) == []


def test_instances_come_from_facts_before_the_inventory() -> None:
    group = NodeGroup(
        hosts=("gpu01",), type="dgx-h100", mig=(MigLayout(gpus=(4,), profiles=("1g.10gb",), caps=()),)
    )
    assert host_gpus(_TYPE, group, None, None)[4].instances == (Instance("1g.10gb", None),)
    facts = _facts(list(range(8)), {4: (MigFact(profile="1g.10gb", caps=(606, 607)),)})
    assert host_gpus(_TYPE, group, None, facts)[4].instances == (Instance("1g.10gb", (606, 607)),)
    assert _differences(facts, None, group) == []


def test_a_lost_gpu_that_nobody_declared_is_told_with_the_line_to_paste() -> None:
    (line,) = _differences(_facts([0, 1, 2, 3, 4, 6, 7]), None)
    assert line == (
        "has 7 GPUs but its type dgx-h100 has 8; write under its group: "
        "exceptions: {gpu01: {gpus_missing: [5]}}, or drain it until it is mended"
    )


def test_a_declared_exception_that_is_not_true_is_told() -> None:
    exception = HostException(gpus_missing=(5,))
    (whole,) = _differences(_facts(list(range(8))), exception)
    assert "which leaves 7; take gpus_missing of this host out of exceptions" in whole
    (other,) = _differences(_facts([0, 1, 2, 3, 5, 6, 7]), exception)
    assert other == (
        "has GPU 5 at 0000:c3:00.0, which exceptions names missing; "
        "the GPU that is gone is [4]: write gpus_missing: [4]"
    )


def test_instances_that_nobody_declared_are_told_with_the_line_to_paste() -> None:
    facts = _facts(list(range(8)), {4: (MigFact(profile="1g.10gb", caps=(606, 607)),)})
    (line,) = _differences(facts, None)
    assert line == (
        "has GPU 4 divided into {1g.10gb: 1} but cluster.yaml has it whole; "
        "divide it as declared, or write in its group: mig: [{gpus: [4], profiles: {1g.10gb: 1}}]"
    )
