"""The command line of QEMU: what the guest will see."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from slurmwright.rehearse.machines.qemu import Guest, Link, command_line
from slurmwright.rehearse.machines.shape import SERVER, Branch, Shape

NPS2 = Shape(2, 2, 2, 2, 800, (Branch(3, (0, 1), ("mlx5_0",)), Branch(0, (2,)), Branch(None, (), ("eno1",))))


def line(shape: Shape, links: Sequence[Link] = (Link(1001, 1002),), kvm: bool = False) -> list[str]:
    guest = Guest("gpu001", shape, Path("/w/gpu001"), 2201, 7, tuple(links))
    return command_line(guest, Path("/i/vmlinuz"), Path("/i/initrd"), kvm)


def values(argv: Sequence[str], option: str) -> list[str]:
    return [after for before, after in pairwise(argv) if before == option]


def test_every_cpu_is_given_to_one_numa_node() -> None:
    cpus = [v for v in values(line(NPS2), "-numa") if v.startswith("cpu,")]
    assert len(set(cpus)) == NPS2.cpus == 16
    assert cpus[0] == "cpu,node-id=0,socket-id=0,core-id=0,thread-id=0"
    assert cpus[-1] == "cpu,node-id=3,socket-id=1,core-id=3,thread-id=1"


def test_sockets_cores_and_threads_multiply_to_all_cpus() -> None:
    assert values(line(NPS2), "-smp") == ["16,sockets=2,cores=4,threads=2"]


def test_memory_is_the_sum_of_the_numa_nodes() -> None:
    argv = line(NPS2)
    sizes = [v for v in values(argv, "-object") if v.startswith("memory-backend-ram")]
    assert sizes == [f"memory-backend-ram,id=m{n},size=200M" for n in range(4)]
    assert values(argv, "-m") == ["800M"]


def test_a_guest_of_one_numa_node_says_nothing_of_numa() -> None:
    assert values(line(SERVER), "-numa") == []


def test_gpus_and_the_nic_of_a_switch_lie_below_it_on_its_numa_node() -> None:
    devices = values(line(NPS2), "-device")
    assert "pxb-pcie,id=r0root,bus=pcie.0,bus_nr=16,numa_node=3" in devices
    assert any(d.startswith("pcie-root-port,id=r0,bus=r0root,") for d in devices)
    assert "x3130-upstream,id=r0up,bus=r0" in devices
    below = [d for d in devices if d.startswith("xio3130-downstream") and "bus=r0up" in d]
    assert len(below) == 3
    assert "pci-testdev,id=g1,bus=r0d1" in devices
    assert "edu,id=n0x0,bus=r0d2" in devices


def test_a_single_device_hangs_at_its_root_port() -> None:
    devices = values(line(NPS2), "-device")
    assert "pci-testdev,id=g2,bus=r1" in devices
    assert "pxb-pcie,id=r1root,bus=pcie.0,bus_nr=22,numa_node=0" in devices


def test_a_device_of_unknown_numa_node_hangs_at_the_machine_itself() -> None:
    devices = values(line(NPS2), "-device")
    assert any(d.startswith("pcie-root-port,id=r2,bus=pcie.0,") for d in devices)


def test_the_server_is_the_hub_of_the_inner_network() -> None:
    argv = line(SERVER, [Link(5001, 6001), Link(5002, 6002)])
    nets = values(argv, "-netdev")
    assert "socket,id=cable1,udp=127.0.0.1:6002,localaddr=127.0.0.1:5002" in nets
    assert "hubport,id=port1,hubid=0,netdev=cable1" in nets
    assert "hubport,id=inner,hubid=0" in nets


def test_a_compute_guest_has_one_cable() -> None:
    assert "socket,id=inner,udp=127.0.0.1:1002,localaddr=127.0.0.1:1001" in values(line(NPS2), "-netdev")


def test_ssh_is_forwarded_from_this_machine_alone_and_nothing_leads_out() -> None:
    user = next(v for v in values(line(NPS2), "-netdev") if v.startswith("user,"))
    assert "restrict=on" in user
    assert "hostfwd=tcp:127.0.0.1:2201-:22" in user


def test_kvm_only_where_it_runs() -> None:
    assert values(line(NPS2), "-accel") == ["tcg,thread=multi"]
    assert values(line(NPS2, kvm=True), "-accel") == ["kvm"]
