"""Who runs which daemon under which name and address is read from the bundle alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import InputError
from slurmwright.rehearse.cast import Cast, Host, cast_of
from slurmwright.rehearse.expect import ExpectedGpu, ExpectedNode
from slurmwright.topology.cpus import CpuLayout

DGX = ExpectedNode(
    "dgx-h100",
    CpuLayout.regular(2, 56, 2, 1, "contiguous"),
    "h100",
    tuple(ExpectedGpu(minor, minor // 4) for minor in range(8)),
    False,
    None,
)


def file(path: str, text: str, hosts: str = "ctl1") -> BundleFile:
    return BundleFile(path, path[1:], hosts, "root", "root", "0644", text)


def cast(text: str, nodes: tuple[str, ...] = (), *more: BundleFile, hosts: str = "ctl1") -> Cast:
    files = (file("/etc/slurm/slurm.conf", text, hosts), *more)
    return cast_of(Bundle("pod1", "24.11", files), dict.fromkeys(nodes, DGX))


def host(of: Cast, name: str) -> Host:
    return next(one for one in of.hosts if one.name == name)


def test_controllers_and_nodes_keep_their_names_and_addresses() -> None:
    found = cast(
        "SlurmctldHost=ctl1(10.0.0.1)\nSlurmctldHost=ctl2(10.0.0.2)\n"
        "NodeName=gpu[1-2] NodeAddr=10.20.1.[11-12]\n",
        ("gpu1", "gpu2"),
    )
    assert [(one.name, one.address, one.controller, one.node) for one in found.hosts] == [
        ("ctl1", "10.0.0.1", True, ""),
        ("ctl2", "10.0.0.2", True, ""),
        ("gpu1", "10.20.1.11", False, "gpu1"),
        ("gpu2", "10.20.1.12", False, "gpu2"),
    ]
    assert found.controllers == ("ctl1", "ctl2")
    assert [one.shape for one in found.compute] == [DGX, DGX]


def test_hosts_without_addresses_get_free_ones() -> None:
    found = cast("SlurmctldHost=ctl1\nNodeName=gpu[1-3] NodeAddr=10.99.0.[1-3]\n", ("gpu1", "gpu2", "gpu3"))
    assert host(found, "ctl1").address == "10.99.0.4"


def test_a_controller_that_also_computes_is_one_host() -> None:
    found = cast("SlurmctldHost=lab1\nNodeName=lab1 NodeAddr=10.0.0.9\n", ("lab1",))
    assert [(one.name, one.address, one.controller, one.node) for one in found.hosts] == [
        ("lab1", "10.0.0.9", True, "lab1")
    ]


def test_a_node_runs_on_the_host_that_its_line_names() -> None:
    found = cast("SlurmctldHost=c\nNodeName=gpu[1-2] NodeHostname=n[7,3].cluster.example\n", ("gpu1", "gpu2"))
    assert [(one.name, one.node) for one in found.compute] == [("n7", "gpu1"), ("n3", "gpu2")]
    assert host(found, "n7").aliases == ("n7.cluster.example",)


def test_names_in_place_of_addresses_are_names_of_the_host() -> None:
    found = cast("SlurmctldHost=ctl1(ctl1-ib)\nNodeName=gpu[1-2] NodeAddr=gpu[1-2]-ib\n", ("gpu1", "gpu2"))
    assert [one.aliases for one in found.hosts] == [("ctl1-ib",), ("gpu1-ib",), ("gpu2-ib",)]
    assert len({one.address for one in found.hosts}) == 3


def test_settings_of_default_lines_hold_for_the_nodes_after_them() -> None:
    found = cast(
        "SlurmctldHost=c\nNodeName=DEFAULT State=FUTURE\nNodeName=gpu1\nNodeName=gpu2 State=UNKNOWN\n"
    )
    assert found.nodes_unknown == ("gpu2",)


def test_of_a_repeated_key_the_last_counts() -> None:
    found = cast("SlurmctldHost=c\nNodeName=gpu1 NodeAddr=10.0.0.1 NodeAddr=10.0.0.2\n", ("gpu1",))
    assert host(found, "gpu1").address == "10.0.0.2"


def test_nodes_of_only_one_side_are_named_and_not_started() -> None:
    found = cast("SlurmctldHost=c\nNodeName=gpu[1-2]\n", ("gpu2", "gpu3"))
    assert (found.nodes_missing, found.nodes_unknown) == (("gpu3",), ("gpu1",))
    assert [one.name for one in found.hosts] == ["c", "gpu2"]


@pytest.mark.parametrize("name", ["../../etc", "a b", "ctl1;reboot", "ctl_1", "ctl[1-2]", "ctl1(a,b)"])
def test_a_controller_that_is_no_host_is_refused_with_its_line(name: str) -> None:
    with pytest.raises(InputError, match="is not a host; expected NAME") as caught:
        cast(f'ClusterName=pod1\nSlurmctldHost="{name}"\n')
    assert (caught.value.problems[0].file, caught.value.problems[0].line) == ("/etc/slurm/slurm.conf", 2)


@pytest.mark.parametrize("name", ["../../etc", "gpu[1-", "gpu_1", "@all"])
def test_a_node_line_that_names_no_hosts_starts_none(name: str) -> None:
    assert [one.name for one in cast(f"SlurmctldHost=c\nNodeName={name}\n", ("gpu1",)).hosts] == ["c"]


def test_paths_and_names_come_from_the_bundle() -> None:
    found = cast(
        "SlurmUser=slurm\nStateSaveLocation=/srv/state/\nSlurmdSpoolDir=/srv/spool/%n/x\n"
        "SlurmctldLogFile=/srv/log/ctld.log\nSlurmdLogFile=/srv/log/%h/slurmd.log\n"
        "SlurmctldPidFile=/var/run/slurm/ctld.pid\nSlurmdPidFile=/run/slurmd/slurmd.%n.pid\n"
        "SlurmctldPort=6820-6825\n"
    )
    assert (found.user, found.port, found.state_dir) == ("slurm", "6820", "/srv/state")
    assert (found.controller_log, found.node_log) == ("/srv/log/ctld.log", "/srv/log/slurmd.log")
    assert found.folders == ("/run/slurm", "/run/slurmd", "/srv/log", "/srv/spool/x")
    assert found.spool == "/srv/spool/%n/x"


def test_what_the_bundle_leaves_open_is_slurms_default() -> None:
    found = cast("ClusterName=pod1\n")
    assert (found.user, found.port, found.controllers) == ("root", "6817", ())
    assert found.node_log.startswith("/var/log/")


def test_a_path_leads_nowhere_else() -> None:
    assert cast("StateSaveLocation=/../../root/x\n").state_dir == "/root/x"


def test_every_host_holds_the_files_that_the_bundle_gives_it() -> None:
    gres = file("/etc/slurm/gres.conf", "", "gpu[1-2]")
    found = cast("SlurmctldHost=ctl1\nNodeName=gpu[1-2]\n", ("gpu1", "gpu2"), gres, hosts="ctl1,gpu2")
    held = {one.name: [f.path.rpartition("/")[2] for f in one.files] for one in found.hosts}
    assert held == {"ctl1": ["slurm.conf"], "gpu1": ["gres.conf"], "gpu2": ["slurm.conf", "gres.conf"]}


def test_files_given_to_a_node_name_reach_its_host() -> None:
    gres = file("/etc/slurm/gres.conf", "", "gpu1")
    found = cast("SlurmctldHost=c\nNodeName=gpu1 NodeHostname=n1\n", ("gpu1",), gres)
    assert host(found, "n1").files == (gres,)


def test_equal_nodes_say_the_same_and_an_edited_one_does_not() -> None:
    gres = file(
        "/etc/slurm/gres.conf",
        "NodeName=gpu[1-3] Name=gpu File=/dev/nvidia0\nNodeName=gpu3 Name=gpu File=/dev/nvidia1\n",
    )
    found = cast(
        "SlurmctldHost=c\nNodeName=gpu[1-2] NodeAddr=10.0.0.[1-2] CPUs=4\nNodeName=gpu3 CPUs=4\n",
        ("gpu1", "gpu2", "gpu3"),
        gres,
    )
    one, two, three = (host(found, name).lines for name in ("gpu1", "gpu2", "gpu3"))
    assert one == two
    assert one != three


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from('SlurmctldHostNodeName=Addr[1-9],. #\\"\n'), max_size=120))
def test_any_text_gives_a_cast_or_an_input_error(text: str) -> None:
    try:
        found = cast(f"SlurmctldHost=c\nNodeName=gpu1\n{text}", ("gpu1",))
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 - either outcome is right
    else:
        assert len({one.name for one in found.hosts}) == len(found.hosts)
