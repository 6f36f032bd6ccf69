"""A configuration of several files is one sequence of lines; an Include that cannot be followed is named."""

from collections.abc import Mapping

import pytest

from slurmwright.conf import Tree, read_tree
from slurmwright.conf.tree import MAX_FILES


def tree(files: Mapping[str, str]) -> Tree:
    found = read_tree("/etc/slurm/slurm.conf", {f"/etc/slurm/{k}": v for k, v in files.items()}.get)
    assert found is not None
    return found


def faults(files: Mapping[str, str]) -> list[tuple[str, int, str]]:
    return [(fault.doc.file, fault.line, fault.kind) for fault in tree(files).faults]


def test_no_file_is_no_tree() -> None:
    assert read_tree("/etc/slurm/slurm.conf", {}.get) is None


def test_included_lines_stand_where_the_include_stands() -> None:
    found = tree({"slurm.conf": "ReturnToService=0\nInclude more.conf\n", "more.conf": "ReturnToService=2\n"})
    setting = found.get("returntoservice")
    assert setting is not None
    assert (setting.value, setting.doc.file, setting.line) == ("2", "/etc/slurm/more.conf", 1)


def test_a_value_behind_the_include_wins() -> None:
    found = tree({"slurm.conf": "Include more.conf\nReturnToService=0\n", "more.conf": "ReturnToService=2\n"})
    setting = found.get("ReturnToService")
    assert setting is not None
    assert setting.doc.file == "/etc/slurm/slurm.conf"


def test_default_lines_reach_into_later_files() -> None:
    found = tree(
        {
            "slurm.conf": "NodeName=DEFAULT CPUs=8\nInclude nodes.conf\n",
            "nodes.conf": "NodeName=n1\nNodeName=n2\n",
        }
    )
    records = found.records("NodeName")
    assert [(r.doc.file, r.line.statement.line) for r in records] == [
        ("/etc/slurm/nodes.conf", 1),
        ("/etc/slurm/nodes.conf", 2),
    ]
    assert [pair.value for r in records if (pair := r.line.get("cpus"))] == ["8", "8"]


@pytest.mark.parametrize(
    ("place", "kind"), [("b.conf", "not-beside-its-file"), ("d/b.conf", "not-beside-slurm-conf")]
)
def test_a_relative_name_in_another_folder_means_two_places(place: str, kind: str) -> None:
    files = {"slurm.conf": "Include d/a.conf\n", "d/a.conf": "Include b.conf\n", place: "ClusterName=x\n"}
    assert tree(files).get("ClusterName") is not None
    assert faults(files) == [("/etc/slurm/d/a.conf", 1, kind)]


def test_the_cluster_name_stands_for_itself_in_lower_case() -> None:
    files = {"slurm.conf": "ClusterName=Pod1\nInclude nodes_%c.conf\n", "nodes_pod1.conf": "NodeName=n1\n"}
    assert len(tree(files).records("NodeName")) == 1


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"slurm.conf": "\nInclude gone.conf\n"}, "missing"),
        ({"slurm.conf": "\nInclude conf.d/*.conf\n"}, "pattern"),
        ({"slurm.conf": "\nInclude nodes_%c.conf\nClusterName=x\n"}, "cluster-name"),
        ({"slurm.conf": "\nInclude slurm.conf\n"}, "loop"),
    ],
)
def test_an_include_that_cannot_be_followed_is_named(files: Mapping[str, str], kind: str) -> None:
    assert faults(files) == [("/etc/slurm/slurm.conf", 2, kind)]


def test_a_loop_over_two_files_ends() -> None:
    assert faults({"slurm.conf": "Include a.conf\n", "a.conf": "Include slurm.conf\n"}) == [
        ("/etc/slurm/a.conf", 1, "loop")
    ]


def test_files_that_multiply_end_too() -> None:
    files = {f"{n}.conf": f"Include {n + 1}.conf\n" * 9 for n in range(30)}
    found = tree({"slurm.conf": "Include 0.conf\n", "30.conf": "", **files})
    assert len(found.documents) <= MAX_FILES
    assert any(fault.kind == "many" for fault in found.faults)
