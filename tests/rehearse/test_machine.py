"""What a machine lays out, in a sandbox over a small made-up root; no Slurm is started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.run import Result
from slurmwright.rehearse.cast import cast_of
from slurmwright.rehearse.expect import ExpectedGpu, ExpectedNode
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.sandbox import Sandbox
from slurmwright.topology.cpus import CpuLayout

pytestmark = pytest.mark.rehearsal
Lay = Callable[..., Machine]

SHAPE = ExpectedNode(
    "two",
    CpuLayout.regular(2, 4, 2, 1, "interleaved"),
    "l40s",
    (ExpectedGpu(0, 0, "l40s"), ExpectedGpu(3, 1, "l40s")),
    False,
    None,
)
CONF = """\
SlurmctldHost=ctl1
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir="/srv/spool dir/%n"
SlurmdLogFile=/var/log/slurm/slurmd.log
NodeName=gpu[1-2] NodeHostname=n[1-2] NodeAddr=gpu[1-2]-ib
"""


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of this machine that a link of the root names."""
    path = tmp_path / "victim"
    path.write_text("mine\n")
    return path


@pytest.fixture
def lay(tmp_path: Path, victim: Path) -> Iterator[Lay]:
    """A function that lays a cluster of a controller and two nodes, with more files of a bundle."""
    root = tmp_path / "root"
    for folder in ("usr", "etc/alternatives"):
        (root / folder).mkdir(parents=True)
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nmunge:x:101:102::/:/bin/false\n")
    (root / "etc/group").write_text("root:x:0:\nmunge:x:102:\n")
    (root / "etc/alternatives/tool").symlink_to(victim)
    with Sandbox() as sandbox:

        def machine(*more: BundleFile) -> Machine:
            files = (file("/etc/slurm/slurm.conf", CONF), *more)
            cast = cast_of(Bundle("pod1", "24.11", files), dict.fromkeys(("gpu1", "gpu2"), SHAPE))
            made = Machine(sandbox, SlurmRoot(root), cast)
            made.build()
            return made

        yield machine


def file(path: str, text: str, hosts: str = "ctl1", mode: str = "0644") -> BundleFile:
    return BundleFile(path, path[1:], hosts, "root", "root", mode, text)


def inside(machine: Machine, path: str) -> Path:
    return machine.sandbox.path(machine.root + path)


def of_host(machine: Machine, host: str, path: str) -> Path:
    return machine.sandbox.path(f"{machine.sandbox.folder}/hosts/{host}/{path}")


def test_hosts_are_found_by_every_name_they_are_called(lay: Lay) -> None:
    rows = [line.split() for line in inside(lay(), "/etc/hosts").read_text().splitlines()]
    assert [row[1:] for row in rows] == [
        ["localhost"],
        ["ctl1"],
        ["n1", "gpu1", "gpu1-ib"],
        ["n2", "gpu2", "gpu2-ib"],
    ]
    assert len({row[0] for row in rows}) == 4


def test_every_address_of_a_host_is_on_the_sandbox(lay: Lay) -> None:
    machine = lay()
    shown = machine.sandbox.run(["ip", "-brief", "-4", "address"]).out
    assert all(f"{host.address}/32" in shown for host in machine.cast.hosts)


def test_gpus_are_device_files_that_only_nodes_with_gpus_have(lay: Lay) -> None:
    machine = lay()
    found = machine.sandbox.script(f"cd {machine.sandbox.folder}; ls -l dev*/nvidia[0-9]*")
    assert [line.split()[-1] for line in found.splitlines()] == ["dev1/nvidia0", "dev1/nvidia3"]
    assert all(line.startswith("crw-rw-rw-") and " 195, " in line for line in found.splitlines())


def test_a_user_that_the_root_lacks_is_added_and_one_it_has_is_kept(lay: Lay) -> None:
    rows = [line.split(":") for line in inside(lay(), "/etc/passwd").read_text().splitlines()]
    assert [row[:4] for row in rows] == [
        ["root", "x", "0", "0"],
        ["munge", "x", "101", "102"],
        ["slurm", "x", "102", "102"],
    ]


def test_folders_are_made_for_each_host_with_blanks_and_patterns_in_their_names(lay: Lay) -> None:
    machine = lay()
    assert of_host(machine, "n1", "private/srv/spool dir/gpu1").is_dir()
    assert of_host(machine, "n2", "private/srv/spool dir/gpu2").is_dir()
    assert of_host(machine, "ctl1", "private/var/spool/slurmctld").stat().st_uid == 102


def test_a_host_holds_the_files_that_the_bundle_gives_it_and_no_others(lay: Lay) -> None:
    machine = lay(file("/etc/slurm/gres.conf", "x\n", "ctl1,n1", "0600"))
    assert of_host(machine, "ctl1", "files/etc/slurm/slurm.conf").read_text() == CONF
    assert of_host(machine, "n1", "files/etc/slurm/gres.conf").stat().st_mode & 0o777 == 0o600
    assert not of_host(machine, "n2", "files/etc/slurm/gres.conf").exists()


def test_a_file_elsewhere_is_laid_once_where_its_text_is_one(lay: Lay) -> None:
    machine = lay(file("/etc/enroot/enroot.conf", "ENROOT=1\n", "n[1-2]"))
    assert inside(machine, "/etc/enroot/enroot.conf").read_text() == "ENROOT=1\n"


def test_files_of_one_path_and_several_texts_stay_apart(lay: Lay) -> None:
    machine = lay(file("/etc/a b", "one\n", "n1"), file("/etc/a b", "two\n", "n2"))
    assert of_host(machine, "n1", "files/etc/a b").read_text() == "one\n"
    assert of_host(machine, "n2", "files/etc/a b").read_text() == "two\n"
    assert "'/etc/a b'" not in of_host(machine, "ctl1", "enter").read_text()


def test_a_link_of_the_root_does_not_lead_to_this_machines_file(lay: Lay, victim: Path) -> None:
    machine = lay(file("/etc/alternatives/tool", "theirs\n"))
    assert inside(machine, "/etc/alternatives/tool").read_text() == "theirs\n"
    assert victim.read_text() == "mine\n"


def test_a_file_below_the_read_only_part_of_the_root_is_one_error_line(lay: Lay) -> None:
    with pytest.raises(SlurmwrightError, match=r"^/usr/sbin/tool cannot be laid .*Read-only file system$"):
        lay(file("/usr/sbin/tool", "x\n"))


def test_a_shell_on_a_host_sees_its_name_and_its_layout(lay: Lay) -> None:
    machine = lay()
    script = of_host(machine, "n1", "enter").read_text()
    assert "hostname n1" in script
    assert "pack:2 [numa] core:4 pu:2(indexes=0,8,2,10,4,12,6,14,1,9,3,11,5,13,7,15)" in script
    assert "HWLOC_SYNTHETIC" not in of_host(machine, "ctl1", "enter").read_text()


def test_only_hosts_without_files_of_their_own_ask_the_controllers_for_them(lay: Lay) -> None:
    machine = lay(file("/etc/slurm/slurm.conf.d/x", "", "n2"))
    one, two = machine.cast.compute
    assert machine.slurmd(one) == ["slurmd", "--conf-server", "ctl1:6817", "-L", "/var/log/slurm/slurmd.log"]
    assert machine.slurmd(two) == machine.slurmd(one)


class _Busy(Machine):
    """Of a slurmctld that answers the third time, unless it is gone before."""

    def __init__(self, lives: bool) -> None:
        self.lives, self.times = lives, 0

    def ctl(self, *argv: str, limit_s: float = 120) -> Result:
        self.times += 1
        return Result(argv, 0, "NodeName=gpu1", "") if self.times == 3 else Result(argv, 1, "", "timed out")

    def _controller_lives(self) -> bool:
        return self.lives


@pytest.mark.parametrize(("lives", "said"), [(True, "NodeName=gpu1"), (False, "")])
def test_a_question_that_timed_out_is_put_again_while_slurmctld_lives(lives: bool, said: str) -> None:
    assert _Busy(lives).answer("scontrol", "show", "node") == said
