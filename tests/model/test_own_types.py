"""node_types of a file: what extends gives, what becomes unknown, and what does not fit together."""

from collections.abc import Callable

import pytest

from slurmwright.catalogue.node_types import NodeType, load_node_type
from slurmwright.model.cluster import Cluster

FaultsOf = Callable[[str], list[str]]


@pytest.fixture
def own(good: str) -> Callable[[str], str]:
    """The good file with its nodes of type `mine`, described as given."""

    def text(described: str) -> str:
        return good.replace("type: dgx-h100", "type: mine") + f"node_types:\n  mine: {described}\n"

    return text


@pytest.fixture
def resolved(load: Callable[[str], Cluster], own: Callable[[str], str]) -> Callable[[str], NodeType]:
    def node_type(described: str) -> NodeType:
        return load(own(described)).node_types["mine"]

    return node_type


Resolved = Callable[[str], NodeType]


def numa_of(node_type: NodeType) -> list[int | None]:
    return [gpu.numa for gpu in node_type.gpus]


def test_what_is_not_said_comes_from_the_base(resolved: Resolved) -> None:
    base = load_node_type("dgx-h100")
    changed = resolved("{extends: dgx-h100, description: ours}")
    assert changed == base.model_copy(update={"name": "mine", "description": "ours"})


def test_bases_may_have_bases(load: Callable[[str], Cluster], own: Callable[[str], str]) -> None:
    cluster = load(own("{extends: b, cpu: {threads_per_core: 1}}\n  b: {extends: dgx-a100-80gb, note: x}"))
    assert list(cluster.node_types) == ["mine"]
    mine = cluster.node_types["mine"]
    assert (mine.note, mine.cpu.threads_per_core, mine.cpu.cores_per_socket) == ("x", 1, 64)


@pytest.mark.parametrize(
    ("change", "numa"),
    [
        ("", [3, 3, 1, 1, 7, 7, 5, 5]),
        (", cpu: {numa_per_socket: 2}", [1, 1, 0, 0, 3, 3, 2, 2]),
        (", cpu: {numa_per_socket: 1}", [0, 0, 0, 0, 1, 1, 1, 1]),
        (", cpu: {numa_per_socket: 8}", [None] * 8),
        (", cpu: {sockets: 1}", [None] * 8),
        (", cpu: {threads_per_core: 1}", [3, 3, 1, 1, 7, 7, 5, 5]),
    ],
)
def test_gpus_follow_a_coarser_division_and_are_unknown_in_a_finer_one(
    resolved: Resolved, change: str, numa: list[int | None]
) -> None:
    changed = resolved(f"{{extends: dgx-a100-80gb{change}}}")
    assert numa_of(changed) == numa
    assert changed.network.devices[0].numa == numa[0]


def test_gpus_stay_where_they_are_when_only_the_unknown_is_told(resolved: Resolved) -> None:
    base = load_node_type("digitalocean-h100-8")
    assert base.cpu.numa_per_socket is base.cpu.sockets is None
    assert numa_of(resolved(f"{{extends: {base.name}, cpu: {{sockets: 2, numa_per_socket: 1}}}}")) == [
        gpu.numa for gpu in base.gpus
    ]


def test_gpus_that_are_given_are_not_recomputed(resolved: Resolved) -> None:
    gpus = ", ".join(f"{{index: {at}, numa: {at % 2}}}" for at in range(4))
    changed = resolved(f"{{extends: l40s-4gpu, cpu: {{numa_per_socket: 2}}, gpus: [{gpus}]}}")
    assert numa_of(changed) == [0, 1, 0, 1]


def test_measured_memory_of_the_base_does_not_hold_for_other_memory(resolved: Resolved) -> None:
    assert resolved("{extends: l40s-4gpu, memory: {nominal_gib: 512}}").memory.real_memory_mb is None
    assert resolved("{extends: l40s-4gpu, memory: {nominal_gib: 1024}}").memory.real_memory_mb == 1031051


def test_a_type_without_a_base_counts_the_gpus_it_lists(resolved: Resolved) -> None:
    mine = resolved("{cpu: {sockets: 2}, gpu: {model: l40s}, gpus: [{index: 0}, {index: 1}]}")
    assert mine.gpu.count == 2
    assert mine.cpu.cores_per_socket is None
    assert mine.source == ("cluster.yaml",)


@pytest.mark.parametrize(
    ("described", "line"),
    [
        ("{extends: dgx-h1000}", "19: node type 'dgx-h1000' is not known; did you mean 'dgx-h100'?"),
        ("{extends: mine}", "19: extends goes round in a circle: mine -> mine"),
        ("{extends: [a]}", "19: extends is a list; expected the name of a node type"),
        ("5", "9: node type is '5'; expected a mapping such as {extends: dgx-h100}"),
        ("{extends: dgx-h100, name: x}", "29: unknown key 'name'; the key above is the type's name"),
        ("{extends: dgx-h100, cpus: {sockets: 2}}", "29: unknown key 'cpus'; did you mean 'cpu'?"),
        ("{extends: dgx-h100, cpu: {sokets: 2}}", "35: unknown key 'sokets'; did you mean 'sockets'?"),
        ("{extends: dgx-h100, cpu: {sockets: two}}", "44: sockets is 'two'; expected a whole number"),
        (
            "{extends: dgx-h100, cpu: {numa_per_socket: 3}}",
            "52: cpu.numa_per_socket is 3, which does not divide cpu.cores_per_socket, 56",
        ),
        (
            "{extends: dgx-h100, gpu: {count: 7}}",
            "42: gpu.count is 7 but gpus lists 8; list all of them or correct the count",
        ),
        (
            "{extends: dgx-h100, gpus: [{index: 0}]}",
            "35: gpu.count is 8 but gpus lists 1; list all of them or correct the count",
        ),
        (
            "{extends: dgx-h100, gpu: {model: h10}}",
            "42: GPU model 'h10' is not in the catalogue; did you mean 'h100'?",
        ),
        ("{gpus: [{index: 0}, {index: 0}]}", "37: GPU index 0 stands twice, first as entry 1"),
        (
            "{cpu: {sockets: 1, numa_per_socket: 2}, gpus: [{index: 0, numa: 2}]}",
            "73: numa is 2 but the type has 2 NUMA nodes; expected 0 to 1",
        ),
        (
            "{gpus: [{index: 0, pci: '1b:00'}]}",
            "33: '1b:00' is no PCI address; expected domain:bus:device.function in quotes, for example "
            '"0000:1b:00.0"',
        ),
        (
            "{gpus: [{index: 0, pci: 0000:47:00.0}]}",
            "33: unquoted 0000:47:00.0 is a number to some YAML readers and text to others; put it in "
            'quotes: "0000:47:00.0"',
        ),
        (
            "{gpus: [{index: 0, pci: '0000:1b:00.0'}, {index: 1, pci: '00000000:1B:00.0'}]}",
            "66: PCI address 00000000:1B:00.0 is already that of entry 1",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(
    faults_of: FaultsOf, own: Callable[[str], str], described: str, line: str
) -> None:
    assert faults_of(own(described)) == [f"cluster.yaml:13:{line}"]


def test_a_circle_is_noted_once_and_who_hangs_on_it_not_at_all(
    faults_of: FaultsOf, own: Callable[[str], str]
) -> None:
    assert faults_of(own("{extends: b}\n  b: {extends: c}\n  c: {extends: b}\n  d: {extends: mine}")) == [
        "cluster.yaml:14:16: extends goes round in a circle: b -> c -> b"
    ]


def test_an_endless_chain_is_refused(faults_of: FaultsOf, good: str) -> None:
    chain = "".join(f"  t{at}: {{extends: t{at + 1}}}\n" for at in range(2000))
    lines = faults_of(f"{good}node_types:\n{chain}  t2000: {{}}\n")
    assert lines[0] == "cluster.yaml:13:17: extends passes through more than 16 types"


def test_a_fault_of_a_base_is_noted_once(faults_of: FaultsOf, own: Callable[[str], str]) -> None:
    assert faults_of(own("{extends: b}\n  b: {extends: dgx-h100, gpu: {count: 7}}")) == [
        "cluster.yaml:14:39: gpu.count is 7 but gpus lists 8; list all of them or correct the count"
    ]


def test_names_may_not_hide_the_catalogue_or_leave_a_folder(faults_of: FaultsOf, good: str) -> None:
    assert faults_of(good + "node_types:\n  dgx-h200: {}\n  ../x: {}\n") == [
        "cluster.yaml:13:3: 'dgx-h200' is a type of the catalogue; give yours another name",
        "cluster.yaml:14:3: node type '../x' is no name; expected letters, digits and '_.:+-', "
        "at most 64 of them",
    ]
