"""Only what one machine forces is changed, every change is listed, and no line moves."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import InputError
from slurmwright.core.release import Release
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.expect import ExpectedGpu, ExpectedNode
from slurmwright.rehearse.values import Adaptation
from slurmwright.topology.cpus import CpuLayout

NEW = Release("24.11", 5)
DGX = ExpectedNode(
    "dgx-h100",
    CpuLayout.regular(2, 56, 2, 1, "contiguous"),
    "h100",
    tuple(ExpectedGpu(minor, minor // 4) for minor in range(8)),
    False,
    "nvml",
)
#: NPS4 and no known type; GPU 0 sits on NUMA node 3, GPU 1 on node 1, of GPU 2 nobody knows.
SPLIT = ExpectedNode(
    "split",
    CpuLayout.regular(2, 64, 2, 4, "contiguous"),
    "",
    (ExpectedGpu(1, 1), ExpectedGpu(0, 3), ExpectedGpu(2, None)),
    True,
    "nvml",
)


def adapted(
    release: Release = NEW, expected: dict[str, ExpectedNode] | None = None, **texts: str
) -> tuple[dict[str, str], tuple[Adaptation, ...]]:
    """Adapt a bundle of slurm_conf=, gres_conf= and cgroup_conf=; gives the texts by file name."""
    named = {name.replace("_", "."): text for name, text in texts.items()}
    files = tuple(
        BundleFile(f"/etc/slurm/{name}", name, "ctl1", "root", "root", "0644", text)
        for name, text in sorted(named.items())
    )
    bundle, made = adapt(Bundle("pod1", str(release), files), release, expected or {})
    return {file.path.rpartition("/")[2]: file.text for file in bundle.files}, made


def slurm_conf(text: str) -> list[str]:
    return adapted(slurm_conf=text)[0]["slurm.conf"].splitlines()


def test_a_bundle_without_slurm_conf_is_refused() -> None:
    with pytest.raises(InputError, match=r"no slurm\.conf"):
        adapted(gres_conf="Name=gpu File=/dev/nvidia0\n")


@pytest.mark.parametrize("name", ["slurm_conf", "gres_conf", "cgroup_conf", "slurmdbd_conf"])
def test_an_include_is_refused_with_its_line(name: str) -> None:
    texts = {"slurm_conf": "ClusterName=a\n", name: "# ours\ninclude more.conf\n"}
    with pytest.raises(InputError) as error:
        adapted(**texts)
    file = name.replace("_", ".")
    assert str(error.value).startswith(
        f"/etc/slurm/{file}:2: Include more.conf is not followed by a rehearsal"
    )


def test_a_plain_bundle_only_gets_what_every_rehearsal_needs() -> None:
    texts, made = adapted(slurm_conf="ClusterName=pod1\n", cgroup_conf="CgroupPlugin=autodetect\n")
    assert texts["slurm.conf"] == (
        "ClusterName=pod1\n"
        "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n"
        "SlurmctldParameters=node_reg_mem_percent=0.001\n"
    )
    assert texts["cgroup.conf"] == "CgroupPlugin=disabled\n"
    assert [one.key for one in made] == ["CgroupPlugin", "CommunicationParameters", "SlurmctldParameters"]


def test_config_overrides_is_never_written() -> None:
    texts, _ = adapted(slurm_conf="SlurmdParameters=numa_node_as_socket\n")
    assert "config_overrides" not in "".join(texts.values())


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("ProctrackType=proctrack/cgroup", "ProctrackType=proctrack/linuxproc"),
        ("proctracktype = Proctrack/CGroup  # jobs", "proctracktype = proctrack/linuxproc  # jobs"),
        ("ProctrackType=proctrack/linuxproc", "ProctrackType=proctrack/linuxproc"),
        ("ProctrackType=proctrack/pgid", "ProctrackType=proctrack/pgid"),
        ("JobAcctGatherType=jobacct_gather/cgroup", "JobAcctGatherType=jobacct_gather/linux"),
        (
            "TaskPlugin=task/cgroup,task/affinity",
            "# not in a rehearsal: TaskPlugin=task/cgroup,task/affinity",
        ),
        ("SelectType=select/cons_tres", "SelectType=select/cons_tres"),
    ],
)
def test_plugins_that_need_cgroups_are_replaced_and_no_others(line: str, after: str) -> None:
    assert slurm_conf(f"{line}\nClusterName=pod1\n")[:2] == [after, "ClusterName=pod1"]


def test_a_change_names_file_line_and_both_values() -> None:
    _, made = adapted(slurm_conf="ClusterName=pod1\nProctrackType=proctrack/cgroup\n")
    change = next(one for one in made if one.key == "ProctrackType")
    assert (change.file, change.line, change.old, change.new) == (
        "/etc/slurm/slurm.conf",
        2,
        "proctrack/cgroup",
        "proctrack/linuxproc",
    )
    assert change.reason


def test_every_line_of_a_repeated_key_goes() -> None:
    lines = slurm_conf("TaskPlugin=task/affinity\nTaskPlugin=task/cgroup\n")
    assert [line.startswith("#") for line in lines[:2]] == [True, True]


def test_all_physical_lines_of_a_continued_line_are_commented_out() -> None:
    lines = slurm_conf("TaskPlugin=\\\ntask/cgroup,\\\ntask/affinity\nClusterName=pod1\n")
    assert [line.startswith("# not in a rehearsal: ") for line in lines[:4]] == [True, True, True, False]
    assert lines[3] == "ClusterName=pod1"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("enable_configless", "enable_configless,node_reg_mem_percent=0.001"),
        ("node_reg_mem_percent=90,enable_configless", "enable_configless,node_reg_mem_percent=0.001"),
        ("NODE_REG_MEM_PERCENT=90.0", "node_reg_mem_percent=0.001"),
        ("node_reg_mem_percent=0.001,enable_configless", "node_reg_mem_percent=0.001,enable_configless"),
    ],
)
def test_memory_that_this_machine_lacks_is_let_through_by_the_only_value(old: str, new: str) -> None:
    assert slurm_conf(f"SlurmctldParameters={old}\n")[0] == f"SlurmctldParameters={new}"


def test_words_of_a_list_that_are_there_already_are_not_repeated() -> None:
    line = slurm_conf("CommunicationParameters=NoCtldInAddrAny,EnableIPv6\n")[0]
    assert line == "CommunicationParameters=NoCtldInAddrAny,EnableIPv6,NoInAddrAny"


ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=db1
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations,limits
PriorityWeightTRES=GRES/gpu=1000
PartitionName=DEFAULT AllowQos=normal
PartitionName=train Nodes=gpu1 TRESBillingWeights=GRES/gpu=8 QOS=part AllowAccounts=ml State=UP
"""


def test_what_needs_the_database_goes_with_it() -> None:
    lines = slurm_conf(ACCOUNTING)
    assert [line for line in lines[:5] if not line.startswith("# not in a rehearsal: ")] == []
    assert lines[5:7] == ["PartitionName=DEFAULT", "PartitionName=train Nodes=gpu1 State=UP"]


def test_what_goes_with_the_database_is_listed() -> None:
    _, made = adapted(slurm_conf=ACCOUNTING)
    gone = {(one.line, one.key) for one in made if "slurmdbd" in one.reason}
    assert gone >= {(1, "AccountingStorageType"), (6, "AllowQos"), (7, "TRESBillingWeights"), (7, "QOS")}


@pytest.mark.parametrize("storage", ["", "AccountingStorageType=accounting_storage/none\n"])
def test_settings_that_lack_their_database_stay_so_that_slurm_refuses_them(storage: str) -> None:
    text = storage + "".join(ACCOUNTING.splitlines(keepends=True)[2:])
    assert "\n".join(slurm_conf(text)).startswith(text)


@pytest.mark.parametrize(
    ("release", "plugin"),
    [
        ("22.05.8", "cgroup/v1"),
        ("23.11.1", "cgroup/v1"),
        ("24.05.0", "disabled"),
        ("24.11.5", "disabled"),
        ("26.05.5", "disabled"),
    ],
)
def test_the_cgroup_plugin_is_one_that_the_release_has(release: str, plugin: str) -> None:
    texts, _ = adapted(
        Release.parse(release), slurm_conf="ClusterName=a\n", cgroup_conf="ConstrainCores=yes\n"
    )
    assert texts["cgroup.conf"] == f"ConstrainCores=yes\nCgroupPlugin={plugin}\n"


def test_a_missing_cgroup_conf_is_added_for_the_hosts_of_slurm_conf() -> None:
    bundle = Bundle(
        "pod1",
        "24.11",
        (BundleFile("/opt/slurm/etc/slurm.conf", "etc/slurm.conf", "ctl[1-2]", "root", "root", "0644", ""),),
    )
    result, _ = adapt(bundle, NEW, {})
    added = result.find("/opt/slurm/etc/cgroup.conf")
    assert added is not None
    assert (added.hosts, added.source, added.text) == (
        "ctl[1-2]",
        "etc/cgroup.conf",
        "CgroupPlugin=disabled\n",
    )


NODES = "NodeName=DEFAULT Gres=gpu:h100:8\nNodeName=gpu[1-3] State=UNKNOWN\n"


def gres_conf(text: str, **more: ExpectedNode) -> list[str]:
    expected = {f"gpu{number}": DGX for number in (1, 2, 3)} | more
    texts, _ = adapted(slurm_conf=NODES, gres_conf=text, expected=expected)
    return texts["gres.conf"].splitlines()


def detected(nodes: str) -> list[str]:
    return [
        f"NodeName={nodes} Name=gpu Type=h100 File=/dev/nvidia{minor} Cores={cores}"
        for minor, cores in enumerate(["0-55"] * 4 + ["56-111"] * 4)
    ]


def test_explicit_gpu_lines_stay_byte_for_byte() -> None:
    text = "# mine\nAutoDetect=off\nNodeName=gpu[1-3] Name=gpu  File=/dev/nvidia[0-7] Cores=0-5 # mine\n"
    assert "\n".join(gres_conf(text)) + "\n" == text


def test_detection_everywhere_becomes_the_lines_that_it_would_find() -> None:
    assert gres_conf("AutoDetect=nvml\n") == [
        "# not in a rehearsal: AutoDetect=nvml",
        *detected("gpu[1-3]"),
    ]


@pytest.mark.parametrize(("release", "folded"), [("22.05", "a1-ib,a2-ib"), ("24.11", "a[1-2]-ib")])
def test_detected_lines_name_hosts_as_the_release_reads_them(release: str, folded: str) -> None:
    texts = {"slurm_conf": "NodeName=a1-ib,a2-ib\n", "gres_conf": "AutoDetect=nvml\n"}
    files, _ = adapted(Release.parse(release), {"a1-ib": DGX, "a2-ib": DGX}, **texts)
    assert files["gres.conf"].splitlines()[1].startswith(f"NodeName={folded} Name=gpu Type=h100 ")


def test_detection_is_listed_with_its_line() -> None:
    texts = {"slurm_conf": NODES, "gres_conf": "\nAutoDetect=nvml\n"}
    _, made = adapted(expected={"gpu1": DGX}, **texts)
    assert [(one.line, one.old) for one in made if one.key == "AutoDetect"] == [(2, "nvml")]


def test_detection_on_some_nodes_leaves_the_others_alone() -> None:
    text = "NodeName=gpu[1-2] AutoDetect=nvml Name=gpu\nNodeName=gpu3 Name=gpu File=/dev/nvidia[0-7]\n"
    assert gres_conf(text) == [
        "# not in a rehearsal: NodeName=gpu[1-2] AutoDetect=nvml Name=gpu",
        "NodeName=gpu3 Name=gpu File=/dev/nvidia[0-7]",
        *detected("gpu[1-2]"),
    ]


def test_a_node_on_which_detection_is_off_gets_no_lines() -> None:
    assert gres_conf("AutoDetect=nvml\nNodeName=gpu2 AutoDetect=off\n")[2:] == detected("gpu[1,3]")


def test_nodes_named_by_two_detecting_lines_get_their_lines_once() -> None:
    assert gres_conf("AutoDetect=nvml\nNodeName=gpu[1-3] AutoDetect=nvml\n")[2:] == detected("gpu[1-3]")


def test_listed_devices_are_not_listed_again() -> None:
    text = "AutoDetect=nvml\nNodeName=gpu1 Name=gpu Type=h100 File=/dev/nvidia[0-7] AutoDetect=nvml\n"
    assert gres_conf(text) == [
        "# not in a rehearsal: AutoDetect=nvml",
        "NodeName=gpu1 Name=gpu Type=h100 File=/dev/nvidia[0-7]",
        *detected("gpu[2-3]"),
    ]


def test_devices_listed_for_all_nodes_are_not_listed_again() -> None:
    assert gres_conf("AutoDetect=nvml\nName=gpu File=/dev/nvidia[0-7]\n")[1:] == [
        "Name=gpu File=/dev/nvidia[0-7]"
    ]


def test_other_devices_do_not_stand_for_gpus() -> None:
    text = "AutoDetect=nvml\nNodeName=gpu[1-3] Name=nic File=/dev/infiniband/uverbs0\n"
    assert gres_conf(text)[2:] == detected("gpu[1-3]")


def test_a_line_that_only_counts_gpus_gives_way_to_what_is_found() -> None:
    lines = gres_conf("AutoDetect=nvml\nName=gpu Type=h100 Count=8\n")
    assert lines[1] == "# not in a rehearsal: Name=gpu Type=h100 Count=8"


def test_found_lines_follow_device_numbers_numa_nodes_and_what_is_unknown() -> None:
    texts, _ = adapted(
        slurm_conf="NodeName=gpu9\n", gres_conf="NodeName=gpu9 AutoDetect=nvml\n", expected={"gpu9": SPLIT}
    )
    assert texts["gres.conf"].splitlines()[1:] == [
        "NodeName=gpu9 Name=gpu File=/dev/nvidia0 Cores=48-63",
        "NodeName=gpu9 Name=gpu File=/dev/nvidia1 Cores=16-31",
        "NodeName=gpu9 Name=gpu File=/dev/nvidia2",
    ]


def test_a_node_that_slurm_conf_does_not_know_gets_no_lines() -> None:
    assert gres_conf("NodeName=gpu9 AutoDetect=nvml\n", gpu9=SPLIT)[1:] == []


def test_a_node_that_the_inventory_does_not_know_gets_no_lines() -> None:
    texts, _ = adapted(slurm_conf=NODES, gres_conf="AutoDetect=nvml\n", expected={"gpu2": DGX})
    assert texts["gres.conf"].splitlines()[1:] == detected("gpu2")


LINES = st.lists(
    st.sampled_from(
        [
            "# a comment",
            "",
            "ClusterName=pod1",
            "ProctrackType=proctrack/cgroup",
            "TaskPlugin=task/cgroup",
            "TaskPlugin=task/cgroup,\\\ntask/affinity",
            "SlurmctldParameters=enable_configless",
            "SlurmctldParameters=node_reg_mem_percent=80,idle_on_node_suspend",
            "CommunicationParameters=EnableIPv6",
            "AccountingStorageType=accounting_storage/slurmdbd",
            "AccountingStorageHost=db1",
            "NodeName=gpu[1-4] Gres=gpu:8",
            "PartitionName=a Nodes=ALL TRESBillingWeights=CPU=1 AllowQos=x",
            "this is no setting",
        ]
    ),
    max_size=12,
)


@settings(max_examples=100, deadline=None)
@given(LINES, st.sampled_from(["\n", "\r\n"]))
def test_lines_keep_their_places_and_a_second_time_changes_nothing(lines: list[str], end: str) -> None:
    text = "".join(line.replace("\n", end) + end for line in lines)
    once, made = adapted(slurm_conf=text)
    before, after = text.splitlines(), once["slurm.conf"].splitlines()
    listed = {one.key for one in made}
    for old, new in zip(before, after, strict=False):
        if new == old:
            continue
        if new.startswith("# not in a rehearsal: "):
            assert new.endswith(old)
            assert listed & {"TaskPlugin", "AccountingStorageType"}
        else:
            assert new.partition("=")[0] == old.partition("=")[0]
            assert old.partition("=")[0] in listed or {"TRESBillingWeights", "AllowQos"} <= listed
    again, _ = adapted(slurm_conf=once["slurm.conf"])
    assert again["slurm.conf"] == once["slurm.conf"]


_MANY = "NodeName=gpu[1-17] CPUs=1\n"


def test_many_nodes_get_time_on_one_machine_and_no_tree_of_messages() -> None:
    texts, made = adapted(slurm_conf=f"MessageTimeout=30\nUnkillableStepTimeout=180\n{_MANY}")
    lines = texts["slurm.conf"].splitlines()
    assert lines[:2] == ["MessageTimeout=100", "UnkillableStepTimeout=500"]
    assert {"TreeWidth=65533", "TCPTimeout=60"} <= set(lines)
    keys = {"TreeWidth", "MessageTimeout", "UnkillableStepTimeout", "TCPTimeout"}
    assert {(one.key, one.line, one.old) for one in made if one.key in keys} == {
        ("TreeWidth", 0, ""),
        ("TCPTimeout", 0, ""),
        ("MessageTimeout", 1, "30"),
        ("UnkillableStepTimeout", 2, "180"),
    }


def test_few_nodes_keep_their_time_outs() -> None:
    text = "MessageTimeout=30\nNodeName=gpu[1-16] CPUs=1\n"
    assert slurm_conf(text)[:2] == text.splitlines()
    assert not any(line.startswith(("TreeWidth", "TCPTimeout")) for line in slurm_conf(text))


@pytest.mark.parametrize(
    "text", ["MessageTimeout=100\nTCPTimeout=200\n", "MessageTimeout=30\nUnkillableStepTimeout=60\n"]
)
def test_time_outs_that_are_long_enough_or_at_odds_stay(text: str) -> None:
    assert slurm_conf(text + _MANY)[:2] == text.splitlines()
