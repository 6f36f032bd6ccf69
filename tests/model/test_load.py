"""cluster.yaml: what loads and as what, and the exact line for every kind of bad input."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.core.hosts import fold
from slurmwright.core.release import SERIES, Release
from slurmwright.model.cluster import Cluster
from slurmwright.model.load import cluster_from, load_cluster
from slurmwright.model.yaml_source import parse_yaml

Change = Callable[[str, str], list[str]]
Load = Callable[[str], Cluster]

_RANGE = "is not a host range; expected letters, digits, '-', '.', ',' and [ranges], for example gpu[001-064]"


def test_the_good_file_loads_with_its_short_forms_written_out(load: Load, good: str) -> None:
    cluster = load(good)
    assert cluster.slurm.release == Release("24.11")
    assert [server.host for server in cluster.control.controllers] == ["ctl1"]
    assert cluster.nodes[0].hosts == ("gpu01", "gpu02", "gpu03", "gpu04")
    assert cluster.partitions[0].nodes.all
    assert list(cluster.node_types) == ["dgx-h100"]
    assert not cluster.accounting.enabled


@pytest.mark.parametrize("name", ["dgx-h100-64n", "dgx-a100-20n", "lab-1node"])
def test_the_example_inventories_load(name: str) -> None:
    folder = Path(__file__).parents[2] / "inventories" / name
    assert load_cluster(folder) == load_cluster(folder / "cluster.yaml")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        # The file as a whole, and names
        ("name: pod1\n", "", "1:1: name is missing; expected the cluster's name in lower case"),
        ("name: pod1", "nme: pod1", "1:1: unknown key 'nme'; did you mean 'name'?"),
        ("name: pod1", "name: 2024", "1:7: name is '2024'; expected text; put it in quotes: \"2024\""),
        (
            "name: pod1",
            "name: Pod1",
            "1:7: name 'Pod1' has upper case, which Slurm maps to lower case in silence; write pod1",
        ),
        (
            "name: pod1",
            "name: ../etc",
            "1:7: name '../etc' is no cluster name; expected a-z, 0-9, '_' and '-', for example pod1",
        ),
        (
            "name: pod1",
            'name: "pod1\\nNodeName=x"',
            "1:7: name 'pod1\\nNodeName=x' is no cluster name; expected a-z, 0-9, '_' and '-', "
            "for example pod1",
        ),
        (
            "name: pod1",
            "name: " + "p" * 41,
            "1:7: name is 41 characters long; expected at most 40 (it names database tables)",
        ),
        # Release
        ('"24.11"', "24.10", '2:18: unquoted 24.10 is 24.1 to a YAML reader; put it in quotes: "24.10"'),
        (
            '"24.11"',
            '"24.12"',
            "2:18: Slurm release '24.12' is not known; expected a series such as 24.11 or a patch level "
            "such as 24.11.5; did you mean '24.11'?",
        ),
        (
            '"24.11"}',
            '"24.11", nvml: on}',
            '2:33: unquoted on is true to some YAML readers and text to others; write "on" or true',
        ),
        (
            '"24.11"}',
            '"24.11", user: "root;id"}',
            "2:33: 'root;id' is no user name; expected for example slurm",
        ),
        (
            "slurm: {release",
            "slurm: {relase",
            "2:9: unknown key 'relase'; did you mean 'release'?",
        ),
        # Servers
        (
            "{controllers: [ctl1]}",
            "{}",
            "3:1: controllers is missing; expected the hosts that run slurmctld, the primary first, "
            "for example [ctl1, ctl2]",
        ),
        (
            "[ctl1]",
            "[ctl1, ctl2]",
            "3:24: 2 controllers need one state folder that all of them see; name it on shared storage, for "
            "example state_dir: /shared/slurm/state",
        ),
        (
            "[ctl1]}",
            "[ctl1], state_dir: /var/../x}",
            "3:43: '/var/../x' is no folder; expected an absolute path such as /var/spool/slurmctld",
        ),
        ("[ctl1]}", "[ctl1], login: [a, a]}", "3:43: 'a' stands twice in login; keep one"),
        ("[ctl1]", "[{host: a, adress: b}]", "3:35: unknown key 'adress'; did you mean 'address'?"),
        (
            "[ctl1]",
            "localhost",
            "3:24: 'localhost' cannot be a host name: it is another machine on each host",
        ),
        ("[ctl1]", '"ctl1\\nx"', f"3:24: 'ctl1\\nx' {_RANGE}"),
        # Hosts
        (
            "gpu[01-04]",
            "gpu[01-04",
            "5:12: 'gpu[01-04' is not a host range (a bracket is not closed); expected for example "
            "gpu[001-064] or gpu1,gpu2",
        ),
        ("gpu[01-04]", "../gpu1", f"5:12: '../gpu1' {_RANGE}"),
        ("gpu[01-04]", '"gpu1\\nNodeName=evil"', f"5:12: 'gpu1\\nNodeName=evil' {_RANGE}"),
        ("gpu[01-04]", "5", "5:12: '5' is not a host range; expected text such as gpu[001-064]"),
        ("gpu[01-04]", "ALL", "5:12: 'ALL' cannot be a host name: Slurm keeps it for every node"),
        (
            "gpu[01-04]",
            "default",
            "5:12: 'default' cannot be a host name: Slurm reads it as defaults for the lines that follow",
        ),
        ("gpu[01-04]", "gpu[01-04],gpu02", "5:12: gpu02 stands twice in this range; name each host once"),
        ("dgx-h100", "dgx-h1000", "6:11: node type 'dgx-h1000' is not known; did you mean 'dgx-h100'?"),
        # Addresses, racks, features and the rest of a group
        (
            "features: [big]",
            "address: 10.0.0.[1-3]",
            "7:14: address names 3 addresses but hosts names 4 hosts; expected one address per host",
        ),
        (
            "features: [big]",
            "address: 10.0.0.[253-256]",
            "7:14: '10.0.0.256' is no IPv4 address; expected four numbers of 0 to 255 without leading zeros",
        ),
        (
            "features: [big]",
            "address: [a1, a2, a1, a4]",
            "7:14: address a1 of gpu03 is already that of gpu01; each host needs its own",
        ),
        ("features: [big]", "racks: {size: 0}", "7:19: size is '0'; expected 1 or more: hosts in one rack"),
        (
            "features: [big]",
            'racks: {size: 2, names: "r[1-3]"}',
            "7:29: 3 racks are named, 4 hosts in racks of 2 fill 2",
        ),
        (
            "features: [big]",
            "weight: heavy",
            "7:13: weight is 'heavy'; expected a whole number: nodes of lower weight are given out first",
        ),
        ("features: [big]", "weigth: 3", "7:5: unknown key 'weigth'; did you mean 'weight'?"),
        (
            "[big]",
            "[a&b]",
            "7:16: feature 'a&b' is no name; expected letters, digits and '_.:+-', at most 64 of them",
        ),
        ("[big]", "80", "7:15: features is '80'; expected text; put it in quotes: \"80\""),
        (
            "features: [big]",
            "autodetect: nvml",
            "7:17: autodetect nvml needs a Slurm built with NVML; say so with slurm: {nvml: true}, "
            "or leave it out",
        ),
        (
            "features: [big]",
            "options: {CoreSpecCout: 4}",
            "7:15: CoreSpecCout is not a key of slurm.conf (fatal in slurmctld, slurmd and every client "
            "command); did you mean 'CoreSpecCount'?",
        ),
        (
            "features: [big]",
            "options: {CPUs: 4}",
            "7:15: CPUs follows from the rest of this file; change type (cpu of the node type)",
        ),
        # Partitions
        (
            "name: train",
            "name: DEFAULT",
            "9:11: 'DEFAULT' cannot be a partition: Slurm reads it as defaults for the lines that follow",
        ),
        (
            "name: train",
            "name: a/b",
            "9:11: partition 'a/b' is no name; expected letters, digits, '_', '.' and '-', at most 64",
        ),
        (
            "nodes: all",
            "nodes: everything",
            "10:12: nodes is 'everything'; expected all, {type: ...}, {feature: ...} or {hosts: ...}",
        ),
        (
            "nodes: all",
            "nodes: {}",
            "10:12: partition 'train' has no nodes; expected all or {type: ...}, {feature: ...} or "
            "{hosts: ...}",
        ),
        (
            "nodes: all",
            "nodes: {type: dgx-a100-80gb}",
            "10:19: no node has type 'dgx-a100-80gb'; did you mean 'dgx-h100'?",
        ),
        ("nodes: all", "nodes: {feature: small}", "10:22: no node has feature 'small'; known: big"),
        (
            "nodes: all",
            "nodes: {hosts: 'gpu[04-06]'}",
            "10:20: gpu[05-06] is no node of this cluster; the nodes are gpu[01-04]",
        ),
        (
            "default: true",
            "max_time: 1:00:00",
            "11:15: unquoted 1:00:00 is a number to some YAML readers and text to others; put it in quotes: "
            '"1:00:00"',
        ),
        ("default: true", "max_time: 0", "11:15: max_time is 0, no time at all; expected a minute or more"),
        (
            "default: true",
            "max_time: 60\n    default_time: 2-0",
            "12:19: default_time 2-0 is longer than max_time 60",
        ),
        (
            "default: true",
            "state: up",
            "11:12: state is 'up'; expected 'UP', 'DOWN', 'DRAIN' or 'INACTIVE': what the partition accepts; "
            "did you mean 'UP'?",
        ),
        (
            "default: true\n",
            "default: true\n  - {name: train, nodes: all}\n",
            "12:12: partition 'train' already stands in line 9; rename one",
        ),
        (
            "default: true\n",
            "default: true\n  - {name: b, nodes: all, default: true}\n",
            "12:36: a second default partition, the first is in line 11; keep one",
        ),
        # Accounting and fabric
        (
            "default: true\n",
            "default: true\naccounting: true\n",
            "12:13: accounting needs slurmdbd; name its host, for example control: {database: db1}",
        ),
        (
            "default: true\n",
            "default: true\nfabric: {kind: infinband}\n",
            "12:16: kind is 'infinband'; expected 'infiniband', 'roce', 'efa', 'ethernet' or 'none': "
            "the kind of network; did you mean 'infiniband'?",
        ),
        (
            "default: true\n",
            "default: true\nfabric: 5\n",
            "12:9: fabric is '5'; expected a mapping of keys to values",
        ),
    ],
)
def test_one_mistake_gives_one_line_with_its_place_and_the_way_out(
    change: Change, old: str, new: str, line: str
) -> None:
    assert change(old, new) == [f"cluster.yaml:{line}"]


def test_overlapping_groups_name_the_hosts_and_the_other_place(change: Change) -> None:
    second = "  - hosts: gpu[03-06]\n    type: dgx-h200\npartitions:\n"
    assert change("partitions:\n", second) == [
        "cluster.yaml:8:12: gpu[03-04] already stands in the group of line 5; a host is in one group"
    ]


def test_an_address_of_two_groups_names_both_hosts(faults_of: Callable[[str], list[str]], good: str) -> None:
    text = good.replace("features: [big]", "address: 10.0.0.[1-4]").replace(
        "partitions:\n", "  - {hosts: h1, type: dgx-h100, address: 10.0.0.2}\npartitions:\n"
    )
    assert faults_of(text) == [
        "cluster.yaml:8:42: address 10.0.0.2 of h1 is already that of gpu02; each host needs its own"
    ]


def test_a_node_may_be_the_controller_but_has_one_address(
    faults_of: Callable[[str], list[str]], good: str
) -> None:
    lab = good.replace("[ctl1]", "[gpu01]")
    assert faults_of(lab) == []
    two = good.replace("features: [big]", "address: 10.0.0.[1-4]").replace(
        "[ctl1]", "[{host: gpu01, address: 10.0.0.9}]"
    )
    assert faults_of(two) == ["cluster.yaml:3:48: address of gpu01 is 10.0.0.9 here but 10.0.0.1 elsewhere"]


@pytest.mark.parametrize(
    ("release", "line"),
    [
        (
            "24.05",
            [
                "cluster.yaml:7:17: autodetect nvidia came with Slurm 24.11, and the release here is 24.05; "
                "leave it out"
            ],
        ),
        ("24.11", []),
    ],
)
def test_autodetect_nvidia_needs_a_release_that_has_it(
    faults_of: Callable[[str], list[str]], good: str, release: str, line: list[str]
) -> None:
    assert faults_of(good.replace("features: [big]", "autodetect: nvidia").replace("24.11", release)) == line


def test_all_faults_of_a_file_are_shown_at_once_in_their_order(
    faults_of: Callable[[str], list[str]], good: str
) -> None:
    text = (
        good.replace("pod1", "Pod1")
        .replace("24.11", "24.12")
        .replace("dgx-h100", "dgx-h1000")
        .replace("train", "DEFAULT")
    )
    assert [line.split(": ")[0] for line in faults_of(text)] == [
        "cluster.yaml:1:7",
        "cluster.yaml:2:18",
        "cluster.yaml:6:11",
        "cluster.yaml:9:11",
    ]


def test_no_message_speaks_pydantic(faults_of: Callable[[str], list[str]], good: str) -> None:
    text = (
        good.replace("[ctl1]", "{a: [1]}").replace("nodes: all", "nodes: [1, 2]")
        + "fabric: {kind: 3, rails: x}\n"
    )
    lines = faults_of(text)
    assert len(lines) == 5
    for line in lines:
        assert not any(
            word in line for word in ("Input should", "pydantic", "type=", "https://", "Extra inputs")
        )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\n", "cluster.yaml: is empty; `slurmwright init` writes a first cluster.yaml"),
        ("[]\n", "cluster.yaml:1: is an empty list; expected name, slurm, control, nodes and partitions"),
        ("text\n", "cluster.yaml:1: is 'text'; expected name, slurm, control, nodes and partitions"),
    ],
)
def test_a_file_that_is_no_mapping(faults_of: Callable[[str], list[str]], text: str, line: str) -> None:
    assert faults_of(text) == [line]


def test_text_that_is_not_ascii_is_refused_even_where_no_other_check_looks(change: Change) -> None:
    assert change("default: true", 'default: true\n    options: {QOS: "größe"}') == [
        "cluster.yaml:12:20: 'gr\\xf6\\xdfe' holds a character that is not printable ASCII; "
        "Slurm's files take no other"
    ]


def test_prose_of_a_node_type_may_be_in_any_language(load: Load, good: str) -> None:
    text = good.replace("type: dgx-h100", "type: mine") + (
        "node_types:\n  mine: {extends: dgx-h100, note: Größe}\n"
    )
    assert load(text).node_types["mine"].note == "Größe"


@pytest.mark.parametrize(
    ("written", "release"),
    [("24.11", Release("24.11")), ('"24.11.5"', Release("24.11", 5)), ("24.11.5", Release("24.11", 5))],
)
def test_a_release_may_stand_without_quotes_where_nothing_is_lost(
    load: Load, good: str, written: str, release: Release
) -> None:
    assert load(good.replace('"24.11"', written)).slurm.release == release


def test_a_database_host_turns_accounting_on_unless_the_file_says_otherwise(load: Load, good: str) -> None:
    text = good.replace("[ctl1]", "[ctl1], database: db1")
    assert load(text).accounting.enabled
    assert not load(text + "accounting: false\n").accounting.enabled


def test_options_and_overrides_are_loaded_in_slurms_spelling(load: Load, good: str) -> None:
    cluster = load(
        good.replace("features: [big]", "options: {corespeccount: 2}")
        + "overrides:\n"
        + "  slurm.conf:\n"
        + "    schedulerparameters: {bf_window: 10080, defer: false, bf_continue: true}\n"
        + "    DebugFlags: [Backfill, Gres]\n"
        + "    MailProg: null\n"
        + "    MaxJobCount: 20000\n"
        + "  cgroup.conf: {ConstrainSwapSpace: true}\n"
    )
    assert cluster.nodes[0].options == {"CoreSpecCount": "2"}
    assert cluster.overrides == {
        "slurm.conf": {
            "SchedulerParameters": {"bf_window": "10080", "defer": False, "bf_continue": True},
            "DebugFlags": ("Backfill", "Gres"),
            "MailProg": None,
            "MaxJobCount": "20000",
        },
        "cgroup.conf": {"ConstrainSwapSpace": "yes"},
    }


def test_a_partition_selects_by_type_feature_and_host_in_the_order_of_the_groups(
    load: Load, good: str
) -> None:
    cluster = load(
        good.replace("partitions:\n", "  - {hosts: 'h[1-3]', type: dgx-h200, features: odd}\npartitions:\n")
        + "  - {name: b, nodes: {hosts: [h2, gpu04]}}\n"
        + "  - {name: c, nodes: {feature: odd, hosts: gpu01}}\n"
        + "  - {name: d, nodes: {type: [dgx-h200, dgx-h100]}}\n"
    )
    chosen = {part.name: fold(part.nodes.select(cluster.nodes)) for part in cluster.partitions}
    assert chosen == {
        "train": "gpu[01-04],h[1-3]",
        "b": "gpu04,h2",
        "c": "gpu01,h[1-3]",
        "d": "gpu[01-04],h[1-3]",
    }
    assert cluster.partitions[1].nodes.select(cluster.nodes) == ("gpu04", "h2")


_word = st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True).filter(
    lambda word: word not in ("all", "default", "yes", "no", "on", "off", "true", "false", "null", "y", "n")
)


@settings(max_examples=25, deadline=None)
@given(
    name=_word,
    release=st.sampled_from(SERIES),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    feature=_word,
    tier=st.integers(0, 65533),
)
def test_any_cluster_drawn_from_the_words_of_the_model_loads(
    name: str, release: str, sizes: list[int], feature: str, tier: int
) -> None:
    groups = "".join(
        f"  - hosts: g{at}n[1-{size}]\n    type: dgx-a100-80gb\n    address: 10.0.{at}.[1-{size}]\n"
        f"    features: [{feature}]\n"
        for at, size in enumerate(sizes)
    )
    text = (
        f'name: {name}\nslurm: {{release: "{release}"}}\ncontrol: {{controllers: c1, login: "l[1-2]"}}\n'
        f"nodes:\n{groups}"
        f"partitions:\n  - {{name: {name}, nodes: {{feature: {feature}}}, priority_tier: {tier}}}\n"
    )
    cluster = cluster_from(parse_yaml(text, "f"))
    assert len(cluster.partitions[0].nodes.select(cluster.nodes)) == sum(sizes)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_good_file_with_any_piece_replaced_loads_or_is_an_input_error(
    good: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(good)))
    length = data.draw(st.integers(0, 12))
    piece = data.draw(st.text(alphabet="ab1:-[]{}\"'#&*,. \n~ü", max_size=8))
    with contextlib.suppress(InputError):
        cluster_from(parse_yaml(good[:start] + piece + good[start + length :], "f"))
