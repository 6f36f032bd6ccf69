"""What lines say together with the DEFAULT lines before them.

The table is what `scontrol show node` and `show partition` of slurmctld 22.05.8, 24.11.5 and 26.05.5 gave
for this file.
"""

import pytest

from slurmwright.conf import effective_lines, parse, with_defaults

CONF = """\
NodeName=n0 CPUs=1
NodeName=DEFAULT Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=1000
NodeName=default RealMemory=2000 Weight=7 Features=f1
NodeName=n1 RealMemory=3000 Feature=f2
NodeName=n2 Weight=9 weight=10
NodeName=DEFAULT Weight=8
NodeName=n3
PartitionName=DEFAULT MaxTime=10 Nodes=n1
PartitionName=p1
PartitionName=p2 Nodes=n2 MaxTime=20
"""


def shown(first_key: str, *keys: str) -> dict[str, list[str | None]]:
    lines = effective_lines(parse(CONF), first_key)
    found = {line.statement.pairs[0].value: [line.get(key) for key in keys] for line in lines}
    return {name: [pair and pair.value for pair in row] for name, row in found.items()}


def test_nodes_inherit_as_slurmctld_shows_them() -> None:
    assert shown("NodeName", "Sockets", "RealMemory", "Weight") == {
        "n0": [None, None, None],
        "n1": ["2", "3000", "7"],
        "n2": ["2", "2000", "10"],
        "n3": ["2", "2000", "8"],
    }


def test_partitions_inherit_as_slurmctld_shows_them() -> None:
    assert shown("PartitionName", "Nodes", "MaxTime") == {"p1": ["n1", "10"], "p2": ["n2", "20"]}


def test_own_feature_hides_inherited_features_as_slurmctld_shows_it() -> None:
    assert shown("NodeName", "Feature", "Features")["n1"] == ["f2", None]
    assert shown("NodeName", "Feature", "Features")["n2"] == [None, "f1"]


def test_pairs_are_the_lines_own_then_the_inherited_with_their_places() -> None:
    n3 = effective_lines(parse(CONF), "nodename")[-1]
    assert [(p.key, p.value, p.line) for p in n3.pairs] == [
        ("NodeName", "n3", 7),
        ("Sockets", "2", 2),
        ("CoresPerSocket", "4", 2),
        ("ThreadsPerCore", "1", 2),
        ("RealMemory", "2000", 3),
        ("Weight", "8", 6),
        ("Features", "f1", 3),
    ]


@pytest.mark.parametrize("key", ["NodeAddr", "NodeHostname", "BcastAddr", "GresConf"])
def test_what_slurm_reads_from_the_line_alone_is_not_inherited_source_parse_nodename(key: str) -> None:
    (line,) = effective_lines(parse(f"NodeName=DEFAULT {key}=x CPUs=2\nNodeName=a\n"), "NodeName")
    assert line.get(key) is None
    assert [p.key for p in line.inherited] == ["CPUs"]


def test_defaults_reach_over_files_that_are_read_one_after_the_other() -> None:
    main, included = parse("NodeName=DEFAULT CPUs=4\n"), parse("NodeName=a\n")
    (line,) = with_defaults([*main.lines("NodeName"), *included.lines("NodeName")])
    assert [p.value for p in line.pairs] == ["a", "4"]
