"""No text makes import end otherwise than with a cluster.yaml that loads, or an InputError with a place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES, Release
from slurmwright.importing.command import import_folder
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml

CONFIGURATIONS = Path(__file__).parents[1] / "data/configurations"
FOLDERS = sorted(path for path in CONFIGURATIONS.iterdir() if (path / "slurm.conf").exists())
Write = Callable[..., Path]

#: What people and editors do to lines, and what they never should.
PIECES = st.sampled_from(
    [
        *(
            "",
            "\0",
            "\\",
            '"',
            "#",
            "=",
            "\n",
            "\r\n",
            "[",
            "]",
            ",",
            "é",
            "\udc80",
            "\u2028",
            "{",
            "*",
            "&a",
        ),
        *("NodeName=", "n[1-", "n[1-99999999]", "Gres=gpu", "Cores=99999-1", "File=/dev/nvidia[3-1]", "null"),
        *(
            "Include ",
            "DEFAULT",
            "99999999999999999999",
            "-1",
            "0",
            "1e9",
            "no",
            "~",
            "%",
            "@",
            "${x}",
            "$(x)",
        ),
    ]
)


def taken(path: Path, release: Release | None) -> None:
    try:
        text, problems = import_folder(path, release).text, ()
    except InputError as error:
        text, problems = "", error.problems
    assert all(problem.file for problem in problems)
    if text:
        cluster_from(parse_yaml(text, "cluster.yaml"))


@pytest.mark.parametrize("source", FOLDERS, ids=lambda path: path.name)
def test_one_change_in_a_good_file(written: Write, source: Path) -> None:
    names = sorted(path.stem for path in source.glob("*.conf"))
    texts = {name: (source / f"{name}.conf").read_text(encoding="utf-8") for name in names}

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def change(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(names))
        text = texts[name]
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        changed = text[:start] + data.draw(PIECES) + text[end:]
        taken(written(**{**texts, name: changed}), Release(data.draw(st.sampled_from(SERIES))))

    change()


def test_lines_of_words_of_slurm(written: Write) -> None:
    keys = [
        "ClusterName",
        "SlurmctldHost",
        "NodeName",
        "PartitionName",
        "Nodes",
        "Gres",
        "Name",
        "File",
        "Cores",
    ]
    keys += [
        "CPUs",
        "Sockets",
        "AutoDetect",
        "SwitchName",
        "Switches",
        "RealMemory",
        "NodeAddr",
        "Type",
        "Count",
    ]
    values = [
        "a",
        "a[1-2]",
        "ALL",
        "gpu:2",
        "gpu",
        "/dev/nvidia[0-1]",
        "0-1",
        "4",
        "nvml",
        "b",
        "",
        "DEFAULT",
    ]
    pair = st.tuples(st.sampled_from(keys), st.sampled_from(values)).map("=".join)
    lines = st.lists(st.lists(pair, min_size=1, max_size=4).map(" ".join), max_size=6).map("\n".join)

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(lines, lines, lines)
    def draw(slurm: str, gres: str, topology: str) -> None:
        head = "ClusterName=c\nSlurmctldHost=h\nTopologyPlugin=topology/tree\nNodeName=a[1-2] Gres=gpu:2\n"
        text = f"{head}PartitionName=p Nodes=ALL\n{slurm}\n"
        taken(written(slurm=text, gres=gres, topology=topology), Release("24.11"))

    draw()


def test_any_bytes(written: Write) -> None:
    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.binary(max_size=200), st.binary(max_size=100), st.text(max_size=80))
    def draw(slurm: bytes, gres: bytes, network: str) -> None:
        folder = written(slurm="", gres="")
        (folder / "slurm.conf").write_bytes(slurm)
        (folder / "gres.conf").write_bytes(gres)
        (folder / "topology.yaml").write_text(network, encoding="utf-8", errors="replace")
        taken(folder, None)

    draw()


@pytest.mark.parametrize(
    "text", ["- topology: x\n  tree: {switches: 5}\n", "{}\n", "- 1\n", "x: [\n", "- &a [*a]\n"]
)
def test_topology_yaml_that_says_nothing(written: Write, text: str) -> None:
    slurm = "ClusterName=c\nSlurmctldHost=h\nNodeName=a CPUs=2\nPartitionName=p Nodes=ALL\n"
    taken(written(slurm=slurm, yaml=text), Release("26.05"))


def test_a_folder_in_the_place_of_a_file_is_named(written: Write) -> None:
    folder = written(slurm="ClusterName=c\n")
    (folder / "gres.conf").mkdir()
    with pytest.raises(InputError, match=r"gres\.conf: is no file"):
        import_folder(folder, None)
