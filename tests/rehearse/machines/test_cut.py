"""Bundles to the bundles of a few guests: what changes, what stays byte for byte, what is listed."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path

import pytest

from slurmwright.catalogue.node_types import load_node_type
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import expected_nodes
from slurmwright.rehearse.machines.cut import Scale, cut
from slurmwright.rehearse.machines.plan import Plan, plan
from slurmwright.rehearse.values import Adaptation
from slurmwright.render import render

INVENTORIES = Path(__file__).parents[3] / "inventories"
H100, A100 = INVENTORIES / "dgx-h100-64n", INVENTORIES / "dgx-a100-20n"


def of(inventory: Path, count: int = 2) -> tuple[Bundle, Plan]:
    cluster = load_cluster(inventory)
    return render(cluster, {}), plan(cluster, {}, expected_nodes(cluster, {}), count)


def changed(old: Bundle, new: Bundle, name: str) -> tuple[list[str], list[str]]:
    """Lines of one file that went and lines that came."""
    before, after = (next(f.text for f in b.files if f.path.endswith(f"/{name}")) for b in (old, new))
    diff = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [line[2:] for line in diff if line[0] == "-"], [line[2:] for line in diff if line[0] == "+"]


def small(text: str, name: str = "slurm.conf") -> tuple[str, tuple[Adaptation, ...]]:
    """A file of pod1 cut to gpu001 and gpu002."""
    _, guests = of(H100)
    file = BundleFile(f"/etc/slurm/{name}", name, "ctl1", "root", "root", "0644", text)
    new, made = cut(Bundle("pod1", "24.11", (file,)), guests)
    return new.files[0].text, made


def test_nodes_without_a_guest_are_future_and_keep_their_numbers() -> None:
    bundle, guests = of(H100)
    new, _ = cut(bundle, guests)
    _, came = changed(bundle, new, "slurm.conf")
    assert came[0].startswith("NodeName=gpu[001-002] NodeAddr=10.20.1.[1-2] CPUs=16 ")
    assert came[0].endswith("State=UNKNOWN")
    assert came[1] == (
        "NodeName=gpu[003-064] NodeAddr=10.20.1.[3-64] CPUs=224 Boards=1 SocketsPerBoard=2 CoresPerSocket=56 "
        "ThreadsPerCore=2 RealMemory=2022000 Gres=gpu:h100:8 Features=h100,ndr State=FUTURE"
    )


def test_a_guest_of_nps4_keeps_eight_sockets() -> None:
    bundle, guests = of(A100)
    _, came = changed(bundle, cut(bundle, guests)[0], "slurm.conf")
    assert "CPUs=32 Boards=1 SocketsPerBoard=8 CoresPerSocket=2 ThreadsPerCore=2" in came[0]


def test_cores_of_a_gpu_stay_on_its_numa_node() -> None:
    bundle, guests = of(A100)
    _, came = changed(bundle, cut(bundle, guests)[0], "gres.conf")
    assert [line.split("Cores=")[1] for line in came] == ["6-7", "2-3", "14-15", "10-11"]


@pytest.mark.parametrize("inventory", [H100, A100], ids=lambda path: path.name)
def test_every_changed_line_is_listed_and_every_other_stays(inventory: Path) -> None:
    bundle, guests = of(inventory)
    new, made = cut(bundle, guests)
    after = {file.source: file for file in new.files}
    assert after.keys() == {file.source for file in bundle.files}
    for file in bundle.files:
        listed = {one.line for one in made if one.file == file.path and one.line}
        gone = {
            at
            for at, line in enumerate(file.text.splitlines(), start=1)
            if line not in after[file.source].text.splitlines()
        }
        assert gone == listed, file.source
        assert replace(after[file.source], text="", hosts="") == replace(file, text="", hosts="")


def test_the_files_of_database_and_login_host_go_to_the_server() -> None:
    bundle, guests = of(A100)
    new, made = cut(bundle, guests)
    assert guests.moved == ("head2", "login1")
    file = new.find("/etc/slurm/slurmdbd.conf")
    assert file is not None
    assert file.hosts == "head1"
    assert "DbdHost=head1\n" in file.text
    assert ("DbdHost", "head2", "head1") in {(one.key, one.old, one.new) for one in made}


def test_with_a_guest_for_each_node_none_is_future() -> None:
    bundle, guests = of(H100, 64)
    once, _ = cut(bundle, guests)
    assert "FUTURE" not in next(f.text for f in once.files if f.path.endswith("/slurm.conf"))


def test_a_wrong_number_stays_wrong() -> None:
    text, _ = small("NodeName=gpu[001-064] CPUs=112 SocketsPerBoard=2 CoresPerSocket=28 RealMemory=4126850\n")
    assert "CPUs=8 SocketsPerBoard=2 CoresPerSocket=2 RealMemory=1344\n" in text


def test_cores_across_two_gpus_numa_nodes_stay_across() -> None:
    text, _ = small("NodeName=gpu[001-064] Name=gpu File=/dev/nvidia0 Cores=28-83\n", "gres.conf")
    assert "Cores=2-5" in text


def test_a_line_without_guests_is_future_as_a_whole() -> None:
    text, made = small("NodeName=gpu[010-012] CPUs=224 State=UNKNOWN # rack 3\n")
    assert text == "NodeName=gpu[010-012] CPUs=224 State=FUTURE # rack 3\n"
    assert [one.key for one in made] == ["State"]


def test_a_line_of_guests_alone_is_not_split() -> None:
    text, _ = small("NodeName=gpu001 CPUs=224\nNodeName=gpu002 CPUs=224")
    assert text == "NodeName=gpu001 CPUs=16\nNodeName=gpu002 CPUs=16"


def test_memory_of_a_cpu_is_what_a_guest_has_for_each() -> None:
    node_type = load_node_type("dgx-h100")
    _, guests = of(H100)
    scale = Scale(guests.nodes[0])
    whole = node_type.memory.real_memory_mb
    assert whole is not None
    assert scale.memory(whole) == guests.nodes[0].shape.usable_mb
    assert scale.memory_of_cpu(whole // 224) == pytest.approx(guests.nodes[0].shape.usable_mb // 16, abs=1)


def test_detection_by_nvml_becomes_detection_by_the_drivers_files() -> None:
    text, made = small("AutoDetect=nvml\n", "gres.conf")
    assert text == "AutoDetect=nvidia\n"
    assert made[0].reason.startswith("Debian's Slurm is built without NVML")


def test_a_program_that_the_bundle_does_not_bring_is_not_run() -> None:
    text, made = small("Prolog=/opt/site/prolog\nPrologFlags=X11,Contain\n")
    assert text == "# not in a rehearsal: Prolog=/opt/site/prolog\nPrologFlags=X11,Contain\n"
    assert [one.key for one in made] == ["Prolog"]
