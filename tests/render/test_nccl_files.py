"""nccl.conf, topology files and mounts: by fabric and type, exact names, nothing that nobody knows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slurmwright.catalogue.node_types import load_node_type
from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import CpuFact, GpuFact, HostFacts, NicFact, NumaFact
from slurmwright.render import render, render_notes

Make = Callable[..., Cluster]
AZURE = '{hosts: "n[1-2]", type: azure-standard_nd96isr_h100_v5}'
DGX = '{hosts: "n[1-2]", type: dgx-h100}'


def lines(bundle: Bundle, path: str = "/etc/nccl.conf") -> list[str]:
    file = bundle.find(path)
    assert file is not None, path
    return [line for line in file.text.splitlines() if line and not line.startswith("#")]


def test_without_a_fabric_nothing_is_written_for_nccl(make: Make) -> None:
    assert [file.path for file in render(make(), {}).files if "nccl" in file.path] == []


def test_infiniband_names_the_compute_rails_exactly(make: Make) -> None:
    bundle = render(make(nodes=DGX, more="fabric: {kind: infiniband}\nnccl: {socket_interface: bond0}"), {})
    rails = ",".join(f"mlx5_{number}" for number in (0, 3, 4, 5, 6, 9, 10, 11))
    assert lines(bundle) == ["NCCL_DEBUG=WARN", f"NCCL_IB_HCA=={rails}", "NCCL_SOCKET_IFNAME==bond0"]
    file = bundle.find("/etc/nccl.conf")
    assert file is not None
    assert (file.hosts, file.owner, file.mode) == ("n[1-2]", "root", "0644")


def test_roce_has_its_class_and_infiniband_has_sharp_only_where_it_is_said(make: Make) -> None:
    roce = lines(render(make(nodes=DGX, more="fabric: {kind: roce}\nnccl: {traffic_class: 106}"), {}))
    sharp = lines(render(make(nodes=DGX, more="fabric: {kind: infiniband}\nnccl: {sharp: true}"), {}))
    assert "NCCL_IB_TC=106" in roce
    assert "NCCL_COLLNET_ENABLE=1" in sharp
    assert [line for line in (*roce, *sharp) if "GID" in line or "ALGO" in line or "PROTO" in line] == []


@pytest.mark.parametrize("kind", ["efa", "ethernet"])
def test_nothing_of_rdma_is_said_on_other_networks(make: Make, kind: str) -> None:
    assert lines(render(make(nodes=DGX, more=f"fabric: {{kind: {kind}}}"), {})) == ["NCCL_DEBUG=WARN"]


@pytest.mark.parametrize(
    ("kind", "word", "error"),
    [
        ("infiniband", "traffic_class: 106", "traffic_class is for RoCE; fabric.kind is infiniband"),
        ("roce", "sharp: true", "SHARP is in InfiniBand switches; fabric.kind is roce"),
        ("none", "socket_interface: eth0", "nothing is written for NCCL without a fabric"),
    ],
)
def test_words_for_another_network_are_refused(make: Make, kind: str, word: str, error: str) -> None:
    with pytest.raises(InputError, match=error):
        make(nodes=DGX, more=f"fabric: {{kind: {kind}}}\nnccl: {{{word}}}")


def test_machines_that_hide_pcie_get_a_topology_file_and_others_none(make: Make) -> None:
    fabric = "fabric: {kind: infiniband}"
    azure, dgx = (render(make(nodes=nodes, more=fabric), {}) for nodes in (AZURE, DGX))
    path = "/etc/nccl/azure-standard_nd96isr_h100_v5.xml"
    assert f"NCCL_TOPO_FILE={path}" in lines(azure)
    file = azure.find(path)
    assert file is not None
    assert '<pci busid="0001:00:00.0"' in file.text
    assert [file.path for file in dgx.files if file.path.startswith("/etc/nccl/")] == []


def test_always_and_never_mean_it(make: Make) -> None:
    always = make(nodes=DGX, more="fabric: {kind: infiniband}\nnccl: {topology_file: always}")
    never = make(nodes=AZURE, more="fabric: {kind: infiniband}\nnccl: {topology_file: never}")
    assert "NCCL_TOPO_FILE=/etc/nccl/dgx-h100.xml" in lines(render(always, {}))
    assert [file.path for file in render(never, {}).files if file.path.startswith("/etc/nccl/")] == []


def test_always_with_a_type_whose_devices_are_unknown_is_refused_with_what_is_missing(make: Make) -> None:
    cluster = make(more="fabric: {kind: infiniband}\nnccl: {topology_file: always}")
    with pytest.raises(InputError, match="of small is not known: pci of GPU 0, 1, 2, 3"):
        render(cluster, {})


def test_containers_get_both_from_the_host(make: Make) -> None:
    more = "fabric: {kind: infiniband}\nscratch: {base: /local/scratch}\ncontainers: {runtime: enroot-pyxis}"
    mounts = lines(render(make(nodes=AZURE, more=more), {}), "/etc/enroot/mounts.d/50-nccl.fstab")
    assert [line.split()[:3] for line in mounts] == [
        ["/etc/nccl.conf", "/etc/nccl.conf", "none"],
        ["/etc/nccl", "/etc/nccl", "none"],
    ]
    assert all("ro" in line.split()[3].split(",") for line in mounts)


def test_types_that_differ_have_a_file_each(make: Make) -> None:
    nodes = '{hosts: "a[1-2]", type: dgx-h100}\n{hosts: b1, type: dgx-b200}'
    bundle = render(make(nodes=nodes, more="fabric: {kind: infiniband}"), {})
    found = {file.hosts: file.source for file in bundle.files if file.path == "/etc/nccl.conf"}
    assert found == {"a[1-2]": "@dgx-h100/etc/nccl.conf", "b1": "@dgx-b200/etc/nccl.conf"}


def test_a_host_that_names_its_adapters_otherwise_has_its_own_names(make: Make) -> None:
    rails = [nic for nic in load_node_type("dgx-h100").network.devices if nic.role == "compute"]
    nics = tuple(NicFact(name=f"ibp{at}", pci=str(nic.pci)) for at, nic in enumerate(rails))
    other = (NicFact(name="ibp77", pci="0000:aa:00.0"),)
    fact = HostFacts(format="slurmwright/facts/1", host="n2", nics=(*nics, *other))
    bundle = render(make(nodes=DGX, more="fabric: {kind: infiniband}"), {"n2": fact})
    texts = {file.hosts: file.text for file in bundle.files if file.path == "/etc/nccl.conf"}
    assert "NCCL_IB_HCA==ibp0,ibp1,ibp2,ibp3,ibp4,ibp5,ibp6,ibp7\n" in texts["n2"]
    assert "NCCL_IB_HCA==mlx5_0," in texts["n1"]


def test_a_host_whose_gpus_are_elsewhere_gets_no_file_of_its_type(make: Make) -> None:
    gpus = tuple(GpuFact(pci=f"0000:{at:02x}:00.0", minor=at, numa=0) for at in range(8))
    fact = HostFacts(format="slurmwright/facts/1", host="n2", gpus=gpus)
    bundle = render(make(nodes=AZURE, more="fabric: {kind: infiniband}"), {"n2": fact})
    assert [file.hosts for file in bundle.files if file.path.startswith("/etc/nccl/")] == ["n1"]


def test_what_nobody_knows_is_left_out_and_told(make: Make) -> None:
    cluster = make(more="fabric: {kind: roce}")
    assert lines(render(cluster, {})) == ["NCCL_DEBUG=WARN"]
    assert {"nccl-adapters", "nccl-class"} <= {note.name for note in render_notes(cluster, {})}


def test_a_host_whose_bios_makes_other_numa_nodes_has_a_file_of_its_own(make: Make) -> None:
    kind = load_node_type("dgx-h100")
    numa = tuple(
        NumaFact(
            id=node,
            socket=node // 2,
            cpus=f"{node * 28}-{node * 28 + 27},{node * 28 + 112}-{node * 28 + 139}",
        )
        for node in range(4)
    )
    gpus = tuple(GpuFact(pci=str(gpu.pci), minor=gpu.index, numa=gpu.index // 2) for gpu in kind.gpus)
    fact = HostFacts(
        format="slurmwright/facts/1", host="n2", gpus=gpus, cpu=CpuFact(threads_per_core=2, numa=numa)
    )
    bundle = render(make(nodes=DGX, more="fabric: {kind: roce}\nnccl: {topology_file: always}"), {"n2": fact})
    texts = {
        file.path: (file.hosts, file.text) for file in bundle.files if file.path.startswith("/etc/nccl/")
    }
    assert {path: hosts for path, (hosts, _) in texts.items()} == {
        "/etc/nccl/dgx-h100.xml": "n1",
        "/etc/nccl/dgx-h100-2.xml": "n2",
    }
    assert texts["/etc/nccl/dgx-h100-2.xml"][1].count("<cpu ") == 4
    found = {file.hosts: file.text for file in bundle.files if file.path == "/etc/nccl.conf"}
    assert "NCCL_TOPO_FILE=/etc/nccl/dgx-h100-2.xml" in found["n2"]


TUNED = (
    "nccl:\n  tuned:\n    - {type: dgx-h100, fabric: roce, nodes: 8, nccl: 2.27.7, "
    "set: {NCCL_IB_QPS_PER_CONNECTION: 4}}"
)


def test_measured_settings_come_with_what_they_were_measured_on(make: Make) -> None:
    bundle = render(make(nodes=DGX, more=f"fabric: {{kind: roce}}\n{TUNED}"), {})
    assert "NCCL_IB_QPS_PER_CONNECTION=4" in lines(bundle)
    file = bundle.find("/etc/nccl.conf")
    assert file is not None
    assert "# Measured by slurmwright nccl tune on 8 nodes, roce, NCCL 2.27.7." in file.text


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("fabric: roce", "fabric: infiniband", "measured on infiniband, but fabric.kind is roce"),
        ("type: dgx-h100,", "type: dgx-h200,", "no nodes of type 'dgx-h200'"),
        ("PER_CONNECTION", "PER_CONECTION", "did you mean 'NCCL_IB_QPS_PER_CONNECTION'"),
        ("NCCL_IB_QPS_PER_CONNECTION: 4", "NCCL_ALGO: Ring", "fixed for every size"),
        ("NCCL_IB_QPS_PER_CONNECTION: 4", "NCCL_IB_HCA: mlx5_0", "follows from the rest"),
        ("CONNECTION: 4", 'CONNECTION: "4 # x"', "no value that a file can hold"),
    ],
)
def test_measured_settings_that_do_not_fit_are_refused(make: Make, old: str, new: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        make(nodes=DGX, more=f"fabric: {{kind: roce}}\n{TUNED.replace(old, new)}")
