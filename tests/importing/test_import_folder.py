"""A folder of others becomes a cluster.yaml that renders to the same meaning, or says what differs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from slurmwright.core.errors import InputError
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.release import Release
from slurmwright.importing.command import Imported, import_folder
from slurmwright.model.cluster import Cluster
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.render import render

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests/data"
INDEX = yaml.safe_load((DATA / "imported/index.yaml").read_text(encoding="utf-8"))
CONFIGURATIONS = DATA / "configurations"
EXAMPLES = sorted(path.parent for path in (ROOT / "inventories").glob("*/cluster.yaml"))

SLURM = """\
ClusterName=c
SlurmctldHost=h
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
GresTypes=gpu
NodeName=n[1-2] Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000 Gres=gpu:h100:2
PartitionName=p Nodes=ALL Default=YES
"""
GRES = """\
NodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia0 Cores=0-7
NodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia1 Cores=8-15
"""
Write = Callable[..., Path]


def taken(path: Path, release: str = "24.11") -> Imported:
    return import_folder(path, Release.parse(release))


def loaded(found: Imported) -> Cluster:
    return cluster_from(parse_yaml(found.text, "cluster.yaml"))


def listed(found: Imported) -> list[str]:
    return [line(f) for f in found.findings if f.severity is not Severity.INFO]


def line(finding: Finding) -> str:
    return f"{Path(finding.file).name}:{finding.line}: {finding.message}"


@pytest.mark.parametrize("name", INDEX)
def test_files_of_other_styles_render_to_the_same_meaning(
    other_style: Callable[[str], tuple[Path, str]], name: str
) -> None:
    assert listed(taken(*other_style(name))) == []


def test_there_are_at_least_eight_styles() -> None:
    assert len({entry["style"] for entry in INDEX.values()}) >= 8


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_our_own_files_render_to_the_same_meaning_again(example: Path) -> None:
    bundle = yaml.safe_load((example / "rendered/bundle.json").read_text(encoding="utf-8"))
    assert listed(taken(example / "rendered/etc/slurm", bundle["release"])) == []


def test_gpus_on_whole_sockets_become_a_hardware_map(written: Write) -> None:
    cluster = loaded(taken(written(slurm=SLURM, gres=GRES)))
    assert [gpu.numa for gpu in cluster.node_types["n-type"].gpus] == [0, 1]
    assert cluster.node_types["n-type"].gpu.model == "h100"
    assert cluster.nodes[0].as_written.gres_conf == ()


def test_comments_name_the_lines_that_words_came_from(written: Write) -> None:
    text = taken(written(slurm=SLURM + "MaxJobCount=5000\n", gres=GRES)).text
    assert "MaxJobCount: 5000" in text
    assert text.split("MaxJobCount: 5000")[1].splitlines()[0].strip() == "# slurm.conf:8"


def test_hosts_of_one_line_with_other_devices_become_groups_of_their_own(written: Write) -> None:
    gres = GRES.replace("n[1-2]", "n1") + "NodeName=n2 Name=gpu Type=h100 File=/dev/nvidia[0-1]\n"
    found = taken(written(slurm=SLURM, gres=gres))
    assert listed(found) == []
    assert [group.hosts for group in loaded(found).nodes] == [("n1",), ("n2",)]


def test_lines_that_say_the_same_become_one_group(written: Write) -> None:
    line = "NodeName=n{0} NodeAddr=10.0.0.{1} CPUs=4 RealMemory=900\n"
    slurm = (
        SLURM.replace("NodeName=n", "NodeName=g")
        .replace(" Gres=gpu:h100:2", "")
        .replace("GresTypes=gpu\n", "")
    )
    slurm += "".join(line.format(at, 9 - at) for at in (1, 2, 3))
    found = taken(written(slurm=slurm))
    assert listed(found) == []
    group = loaded(found).nodes[1]
    assert (group.hosts, group.address) == (("n1", "n2", "n3"), ("10.0.0.8", "10.0.0.7", "10.0.0.6"))
    assert "# slurm.conf:7 and 2 more\n" in found.text


def test_host_names_of_their_own_keep_their_order(written: Write) -> None:
    slurm = SLURM + "NodeName=a NodeHostname=x CPUs=1\nNodeName=b NodeHostname=w CPUs=1\n"
    assert listed(taken(written(slurm=slurm, gres=GRES))) == []


def test_a_node_without_detection_beside_a_file_that_detects(written: Write) -> None:
    gres = "AutoDetect=nvml\n" + GRES.replace("n[1-2]", "n1 AutoDetect=off")
    found = taken(written(slurm=SLURM, gres=gres))
    assert listed(found) == []
    assert [group.autodetect for group in loaded(found).nodes] == [None, "nvml"]


def test_cpu_ids_in_cores_are_listed_and_become_cores(written: Write) -> None:
    gres = GRES.replace("Cores=0-7", "Cores=0-7,16-23").replace("Cores=8-15", "Cores=8-15,24-31")
    found = taken(written(slurm=SLURM, gres=gres))
    assert [text.split(" names")[0] for text in listed(found)] == [
        "gres.conf:1: Cores=0-7,16-23",
        "gres.conf:2: Cores=8-15,24-31",
    ]
    text = next(f.text for f in render(loaded(found), {}).files if f.path == "/etc/slurm/gres.conf")
    assert "File=/dev/nvidia0 Cores=0-7\n" in text


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("Prolog=/a\nProlog=/b\n", "slurm.conf:8: Prolog stands in 2 lines (/a, /b)"),
        (
            "SlurmdParameters=config_overrides\n",
            "slurm.conf:8: SlurmdParameters=config_overrides is not taken",
        ),
        ("JobCompPass=geheim\n", "slurm.conf:8: JobCompPass is not taken over: JobCompPass is a secret"),
        ("MaxJobCount=many\n", "slurm.conf:8: MaxJobCount=many is not taken over: MaxJobCount"),
        (
            "DownNodes=n1 State=DOWN\n",
            "slurm.conf:8: DownNodes 1: line=DownNodes=n1 State=DOWN is not written",
        ),
        ("PartitionName=empty\n", "slurm.conf:8: partition empty has no nodes of this file and is left out"),
        (
            "JobContainerType=job_container/tmpfs\n",
            "slurm.conf:8: JobContainerType=job_container/tmpfs is not",
        ),
        ("NodeName=m CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2\n", "slurm.conf:8: m: CPUs=8, but"),
        ("NodeName=m CPUs=96\n", "slurm.conf:8: m: CPUs=96 without Sockets= makes 96 sockets"),
    ],
)
def test_what_is_not_expressed_is_listed_with_its_line(written: Write, more: str, message: str) -> None:
    found = listed(taken(written(slurm=SLURM + more, gres=GRES)))
    assert len(found) == 1
    assert found[0].startswith(message)


def test_cores_of_no_whole_socket_are_kept_and_pointed_out(written: Write) -> None:
    gres = GRES.replace("Cores=0-7", "Cores=0,2,4,6,8,10,12,14").replace("Cores=8-15", "Cores=1,3,5,7")
    found = taken(written(slurm=SLURM, gres=gres))
    assert listed(found) == []
    odd = [line(f) for f in found.findings if f.name == "odd-cores"]
    assert [text.partition(" is ")[0] for text in odd] == [
        "gres.conf:1: Cores=0,2,4,6,8,10,12,14",
        "gres.conf:2: Cores=1,3,5,7",
    ]


def test_a_database_on_localhost_gets_the_name_of_the_controller(written: Write) -> None:
    more = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=localhost\n"
    found = taken(written(slurm=SLURM + more, gres=GRES))
    assert [text.partition(";")[0] for text in listed(found)] == [
        "slurm.conf:9: AccountingStorageHost=localhost is not taken over: AccountingStorageHost follows from "
        "the rest of this file"
    ]


def test_gpus_without_files_of_nvidia_are_kept_as_they_are(written: Write) -> None:
    slurm = SLURM.replace("gpu:h100:2", "gpu:MI300X:2")
    gres = "NodeName=n[1-2] Name=gpu Type=MI300X File=/dev/dri/renderD[128,136]\n"
    assert listed(taken(written(slurm=slurm, gres=gres))) == []


def test_secrets_are_in_no_text(written: Write) -> None:
    more = "JobCompPass=geheim\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=d\n"
    database = "DbdHost=d\nSlurmUser=slurm\nStoragePass=geheim\nStorageType=accounting_storage/mysql\n"
    found = taken(written(slurm=SLURM + more, gres=GRES, slurmdbd=database))
    assert "geheim" not in found.text + "".join(map(str, found.findings))


def test_an_option_without_effect_in_the_release_makes_no_difference(written: Write) -> None:
    cgroup = "ConstrainCores=yes\nCgroupAutomount=yes\n"
    found = taken(written(slurm=SLURM, gres=GRES, cgroup=cgroup))
    assert listed(found) == []
    assert any("CgroupAutomount=yes is not taken over" in f.message for f in found.findings)


def test_the_newest_release_that_knows_every_key_is_assumed_and_said(written: Write) -> None:
    found = import_folder(written(slurm=SLURM + "SchedulerAuth=x\n", gres=GRES), None)
    assert found.release == Release("23.11")
    assert any("do not name their release" in f.message for f in found.findings)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"slurm": SLURM.replace("NodeName=n", "#")}, "slurm.conf: has no NodeName line"),
        (
            {"slurm": SLURM.replace("n[1-2]", "n_[1-2]")},
            "slurm.conf:6:1: 'n_1' in 'n_[1-2]' is not a host name",
        ),
        ({"slurm": SLURM + "NodeName=n2 CPUs=2\n"}, "slurm.conf:8:1: n2 has a NodeName line already, line 6"),
        ({"slurm": SLURM.replace("SlurmctldHost=h\n", ""), "gres": GRES}, "slurm.conf: has no SlurmctldHost"),
        ({"slurm": SLURM.replace("ClusterName=c\n", ""), "gres": GRES}, "slurm.conf: has no ClusterName"),
        (
            {"slurm": SLURM.replace("PartitionName", "#"), "gres": GRES},
            "slurm.conf: has no partition with nodes",
        ),
        ({"slurm": SLURM + "Include gone.conf\n"}, "slurm.conf:8: Include gone.conf is not in this folder"),
        ({"slurm": SLURM + "Include slurm.conf\n"}, "slurm.conf:8: Include slurm.conf includes itself"),
        ({"slurm": SLURM + "not a setting\n"}, "slurm.conf:8:1: "),
        ({"slurm": SLURM.replace("RealMemory=64000", "RealMemory=lots"), "gres": GRES}, "slurm.conf:6: "),
        ({"slurm": SLURM.replace("h100:2", "h100:3"), "gres": GRES}, "slurm.conf: n[1-2]: slurm.conf says"),
        ({"slurm": SLURM}, "slurm.conf:6:78: n[1-2] has Gres=gpu:h100:2, but no line of gres.conf is about"),
        ({"gres": GRES}, "holds no slurm.conf"),
    ],
)
def test_what_cannot_become_a_cluster_is_an_error_with_its_line(
    written: Write, texts: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError) as error:
        taken(written(**texts))
    assert message in str(error.value)


def test_files_outside_the_folder_are_not_opened(written: Write, tmp_path: Path) -> None:
    (tmp_path / "outside.conf").write_text("MaxJobCount=1\n", encoding="utf-8")
    for name in ("../outside.conf", str(tmp_path / "outside.conf")):
        with pytest.raises(InputError, match="is not in this folder"):
            taken(written(slurm=f"{SLURM}Include {name}\n", gres=GRES))


def test_block_levels_of_23_11_become_sizes(written: Write) -> None:
    topology = "BlockName=a Nodes=n1\nBlockName=b Nodes=n2\nBlockLevels=0,1\n"
    slurm = SLURM + "TopologyPlugin=topology/block\n"
    found = taken(written(slurm=slurm, gres=GRES, topology=topology), "23.11")
    assert listed(found) == []
    network = loaded(found).topology
    assert network is not None
    assert network.sizes == (1, 2)


def test_topology_yaml_keeps_its_blocks(written: Write) -> None:
    text = (
        "- topology: block\n  cluster_default: true\n  block:\n    block_sizes: [1, 2]\n"
        "    blocks: [{block: a, nodes: n1}, {block: b, nodes: n2}]\n"
    )
    found = taken(written(slurm=SLURM, gres=GRES, yaml=text), "25.05.2")
    assert listed(found) == []
    topology = loaded(found).topology
    assert topology is not None
    assert (topology.format, [unit.name for unit in topology.units]) == ("yaml", ["a", "b"])


def test_a_second_topology_is_listed(written: Write) -> None:
    text = "- topology: flat\n  cluster_default: true\n  flat: true\n- topology: x\n  flat: true\n"
    found = listed(taken(written(slurm=SLURM, gres=GRES, yaml=text), "25.05.2"))
    assert found[0].startswith("topology.yaml:4: topology 2: topology=x is not written by render")


def test_words_that_people_give_slurmd_are_added_to_the_socket_switch(written: Write) -> None:
    slurm = SLURM.replace("Sockets=2 CoresPerSocket=8", "Sockets=4 CoresPerSocket=4")
    slurm += "SlurmdParameters=contain_spank,numa_node_as_socket\n"
    found = taken(written(slurm=slurm, gres=GRES.replace("0-7", "0-3").replace("8-15", "8-11")))
    assert listed(found) == []
    cluster = loaded(found)
    assert cluster.overrides["slurm.conf"]["SlurmdParameters"] == {"contain_spank": True}
    assert cluster.node_types["n-type"].cpu.numa_per_socket == 2
