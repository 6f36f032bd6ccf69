"""Edits of cluster.yaml: what is said changes, every other line stays, and each result loads."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

from slurmwright.core.errors import InputError
from slurmwright.model.edit import Edited, add, change, remove, replace
from slurmwright.model.units import units

INVENTORIES = Path(__file__).parents[3] / "inventories"
FILE = "cluster.yaml"
RACKS, MIXED, NAMED = "dgx-h100-64n", "mixed", "dgx-a100-20n"
Edit = Callable[[str], Edited]


def text_of(name: str) -> str:
    return (INVENTORIES / name / FILE).read_text(encoding="utf-8")


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("---", "+++")]


def refusal(edit: Callable[[], Edited]) -> str:
    with pytest.raises(InputError) as caught:
        edit()
    return str(caught.value)


def test_added_hosts_join_the_group_with_the_next_addresses_and_racks() -> None:
    before = text_of(RACKS)
    edited = add(before, FILE, ["gpu065", "gpu066"], "gpu064")
    assert changed_lines(before, edited.text) == [
        "-  - hosts: gpu[001-064]",
        "+  - hosts: gpu[001-066]",
        "-    address: 10.20.1.[1-64]",
        "+    address: 10.20.1.[1-66]",
        '-    racks: {size: 4, names: "r[01-16]"}',
        '+    racks: {size: 4, names: "r[01-17]"}',
    ]
    assert "partition debug names its hosts one by one and stays as it is" in edited.notes


def test_a_new_host_is_told_which_rack_it_fills() -> None:
    first = add(text_of(RACKS), FILE, ["gpu065"], "gpu064")
    second = add(first.text, FILE, ["gpu066"], "gpu064")
    assert "gpu066 stand in the rack of gpu065, which was not full" in second.notes
    assert not [note for note in second.notes if note.startswith("new racks")]


def test_a_new_host_comes_into_partitions_that_name_hosts_where_no_other_has_it() -> None:
    edited = add(text_of(MIXED), FILE, ["a05"], "a04", ["10.40.2.9"])
    assert edited.cluster.partitions[1].nodes.hosts == ("a01", "a02", "a03", "a04", "a05")
    assert "partition a100 has them too" in edited.notes


def test_an_address_that_does_not_follow_is_asked_for() -> None:
    said = refusal(lambda: add(text_of(MIXED), FILE, ["new1"], "h01"))
    assert said == ("the address of new1 does not follow from its group's; give --address, one for each host")


def test_an_address_beyond_254_is_not_invented() -> None:
    assert "give --address" in refusal(lambda: add(text_of(RACKS), FILE, ["gpu300"], "gpu064"))


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda text: add(text, FILE, ["gpu064"], "gpu001"), "gpu064 stands in cluster.yaml already"),
        (lambda text: add(text, FILE, ["gpu065"], "gpu65"), "did you mean"),
        (lambda text: add(text, FILE, ["gpu065", "gpu065"], "gpu001"), "named twice"),
        (
            lambda text: add(text, FILE, ["gpu065"], "gpu001", ["1.2.3.4", "1.2.3.5"]),
            "2 addresses for 1 hosts",
        ),
        (lambda text: remove(text, FILE, ["gpu063", "gpu064"]), "partition debug has no other host"),
        (lambda text: remove(text, FILE, ["gpu999"]), "is no node of this cluster"),
        (lambda text: remove(text, FILE, ["gpu001", "gpu001"]), "named twice"),
        (lambda text: remove(text, FILE, [f"gpu{n:03}" for n in range(1, 65)]), "all nodes of the cluster"),
        (lambda text: replace(text, FILE, "gpu001", "gpu002"), "stands in cluster.yaml already"),
        (lambda text: change(text, FILE, ["gpu001"], {"weigth": "2"}), "did you mean 'weight'?"),
        (lambda text: change(text, FILE, ["gpu001"], {"weight": "[1"}), "is not YAML"),
        (lambda text: change(text, FILE, ["gpu001"], {"weight": "heavy"}), "weight"),
    ],
)
def test_what_cannot_be_meant_is_refused(edit: Edit, said: str) -> None:
    assert said in refusal(lambda: edit(text_of(RACKS)))


def test_a_host_out_of_the_middle_of_a_rack_leaves_every_other_in_its_own() -> None:
    before = text_of(RACKS)
    edited = remove(before, FILE, ["gpu005", "gpu064"])
    topology = edited.cluster.topology
    assert topology is not None
    found = {u.name: u.hosts for u in units(topology, edited.cluster.nodes, edited.cluster.node_types)}
    assert found["r02"] == ("gpu006", "gpu007", "gpu008")
    assert found["r03"] == ("gpu009", "gpu010", "gpu011", "gpu012")
    assert found["r16"] == ("gpu061", "gpu062", "gpu063")
    assert [group.address[0] for group in edited.cluster.nodes] == ["10.20.1.1", "10.20.1.9"]
    assert [line for line in before.splitlines() if "#" in line] == [
        line for line in edited.text.splitlines() if "#" in line
    ]


def test_a_removed_host_takes_its_exception_with_it() -> None:
    edited = remove(text_of(MIXED), FILE, ["h07"])
    assert edited.cluster.nodes[0].exceptions == {}
    assert edited.cluster.nodes[0].address == tuple(f"10.40.1.{n}" for n in (1, 2, 3, 4, 5, 6, 8))


def test_a_group_of_nobody_goes_and_the_comment_below_it_stays() -> None:
    text = text_of(MIXED).replace("node_types:", "# our own kinds\nnode_types:")
    edited = remove(text.replace("nodes: {feature: mig}", "nodes: {type: dgx-h100}"), FILE, ["m01"])
    assert [group.type for group in edited.cluster.nodes] == ["dgx-h100", "dgx-a100-80gb", "cpu-2x64"]
    edited = remove(
        text.replace("nodes: {type: cpu-2x64}", "nodes: all"), FILE, [f"c0{n}" for n in range(1, 5)]
    )
    assert "\n\n# our own kinds\nnode_types:" in edited.text


def test_a_replaced_host_gives_its_place_to_the_new_one() -> None:
    edited = replace(text_of(MIXED), FILE, "h07", "h99", "10.40.1.99")
    group = edited.cluster.nodes[0]
    assert (group.hosts[6], group.address[6], group.exceptions) == ("h99", "10.40.1.99", {})
    assert edited.notes == ("what h07 had otherwise than its group is taken out",)
    assert (edited.added, edited.removed) == (("h99",), ("h07",))


def test_values_of_single_hosts_become_exceptions_beside_those_that_stand() -> None:
    edited = change(text_of(MIXED), FILE, ["h03", "h07"], {"real_memory_mb": "2000000"})
    differing = edited.cluster.nodes[0].differing()
    assert {host: one.real_memory_mb for host, one in differing.items()} == {"h03": 2000000, "h07": 2000000}
    assert differing["h07"].gpus_missing == (5,)
    assert "GPU 5 of h07 has fallen off the bus" in edited.text


def test_an_empty_value_takes_the_word_out() -> None:
    edited = change(text_of(MIXED), FILE, ["h07"], {"gpus_missing": ""})
    assert edited.cluster.nodes[0].exceptions == {}
    edited = change(text_of(MIXED), FILE, [f"a0{n}" for n in range(1, 5)], {"options.CoreSpecCount": ""})
    assert edited.cluster.nodes[1].options == {}


def test_values_of_a_whole_group_stand_in_it() -> None:
    edited = change(text_of(MIXED), FILE, [f"c0{n}" for n in range(1, 5)], {"weight": "7", "features": "a,b"})
    assert (edited.cluster.nodes[3].weight, edited.cluster.nodes[3].features) == (7, ("a", "b"))
    assert len(edited.cluster.nodes) == 4


def test_some_hosts_of_a_group_get_one_of_their_own_in_their_racks() -> None:
    edited = change(text_of(RACKS), FILE, ["gpu006"], {"features": "[h100, ndr, test]"})
    groups = edited.cluster.nodes
    assert [(group.hosts[0], len(group.hosts), group.racks.names) for group in groups if group.racks] == [
        ("gpu001", 5, "r[01-02]"),
        ("gpu006", 1, "r02"),
        ("gpu007", 2, "r02"),
        ("gpu009", 56, "r[03-16]"),
    ]
    assert [group.hosts for group in groups if "test" in group.features] == [("gpu006",)]
    assert edited.notes == ("gpu006 get a group of their own",)


def test_hosts_written_as_a_block_list_stay_one() -> None:
    text = text_of(NAMED).replace(
        "hosts: dgx[01-20]", "hosts:\n      - dgx[01-10]  # first row\n      - dgx[11-20]  # second row"
    )
    edited = remove(text, FILE, ["dgx13"])
    assert "- dgx[01-10]  # first row\n      - dgx[11-12,14-20] # second row" in edited.text


def test_lines_that_end_as_on_windows_go_on_so() -> None:
    edited = remove(text_of(NAMED).replace("\n", "\r\n"), FILE, ["dgx13"])
    assert edited.text.count("\r\n") == edited.text.count("\n") == text_of(NAMED).count("\n")
