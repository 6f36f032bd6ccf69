"""Live files: the same script that runs on hosts, here on folders that stand for them."""

from __future__ import annotations

import getpass
import grp
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from slurmwright.apply.hosts import UNREACHED
from slurmwright.apply.live import paths_of, read_live
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.hosts import expand
from slurmwright.core.run import Local, Result
from slurmwright.plan import compare, plan_json

USER, GROUP = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name
DROP_IN = "/etc/systemd/system/slurmd.service.d/slurmwright.conf"
SLURM = """\
ClusterName=lab
SlurmctldHost=ctl1
SlurmctldHost=ctl2
SlurmctldParameters=enable_configless
KillWait=30
NodeName=gpu[1-2] CPUs=4 RealMemory=1000
PartitionName=all Nodes=ALL
"""
DATABASE = "DbdHost=db1\nStoragePass=@SLURMWRIGHT_STORAGE_PASSWORD@\n"


class Folders:
    """Hosts as folders. `gone` do not answer; `seen` are the scripts that each was given."""

    def __init__(self, root: Path, gone: Sequence[str] = ()) -> None:
        self.root, self.gone = root, gone
        self.seen: dict[str, str] = {}
        self.version = ""

    def run(self, host: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 60) -> Result:
        self.seen[host] = stdin
        if host in self.gone:
            return Result(tuple(argv), UNREACHED, "", f"ssh: {host}: no route")
        done = Local().run(argv, stdin=stdin.replace("/etc/", f"{self.root}/{host}/etc/"), limit_s=limit_s)
        out = done.out.replace(f"{self.root}/{host}/etc/", "/etc/")
        return replace(done, out=out.replace("version ", f"version {self.version}"))

    def put(self, host: str, path: str, text: str, *, owner: str, group: str, mode: str) -> Result:
        raise AssertionError("reading live files writes nothing")

    def hold(self, bundle: Bundle) -> None:
        for file in bundle.files:
            for host in expand(file.hosts):
                self.write(host, file.path, file.text)

    def write(self, host: str, path: str, text: str) -> None:
        place = self.root / host / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
        place.chmod(0o644)


def file(path: str, hosts: str, text: str) -> BundleFile:
    return BundleFile(path, path.lstrip("/"), hosts, USER, GROUP, "0644", text)


def bundle(slurm: str = SLURM) -> Bundle:
    return Bundle(
        "lab",
        "24.11",
        (
            file("/etc/slurm/slurm.conf", "ctl[1-2]", slurm),
            file("/etc/slurm/slurmdbd.conf", "db1", DATABASE),
            file(DROP_IN, "gpu[1-2]", "[Service]\nLimitMEMLOCK=infinity\n"),
        ),
    )


@pytest.fixture
def hosts(tmp_path: Path) -> Folders:
    found = Folders(tmp_path)
    found.hold(bundle())
    return found


def test_what_hosts_hold_is_the_bundle_that_was_pushed(hosts: Folders) -> None:
    live = read_live(hosts, bundle())
    assert compare(live.bundle, bundle()).changes == ()
    assert [one.hosts for one in live.bundle.files] == ["ctl[1-2]", "db1", "gpu[1-2]"]


def test_only_hosts_with_files_are_asked_and_nodes_for_their_own_alone(hosts: Folders) -> None:
    read_live(hosts, bundle())
    assert sorted(hosts.seen) == ["ctl1", "ctl2", "db1", "gpu1", "gpu2"]
    assert "slurm.conf" not in hosts.seen["gpu1"]


def test_a_password_does_not_leave_its_host(hosts: Folders) -> None:
    hosts.write("db1", "/etc/slurm/slurmdbd.conf", "DbdHost=db1\n StoragePass = hunter2 # real\n")
    live = read_live(hosts, bundle())
    assert "hunter2" not in repr(live)
    found = compare(live.bundle, bundle())
    assert (found.changes, "hunter2" in str(plan_json(found))) == ((), False)


def test_keys_are_never_read() -> None:
    extra = (file("/etc/munge/munge.key", "ctl1", "x"), file("/etc/slurm/slurm.key", "ctl1", "x"))
    wanted = paths_of(replace(bundle(), files=(*bundle().files, *extra)), None)
    assert not [path for path in wanted["ctl1"] if "key" in path]


def test_a_file_that_slurm_would_read_and_nobody_rendered_counts(hosts: Folders) -> None:
    hosts.write("ctl1", "/etc/slurm/topology.conf", "SwitchName=s1 Nodes=gpu[1-2]\n")
    found = compare(read_live(hosts, bundle()).bundle, bundle())
    assert {change.file for change in found.changes} == {"topology.conf"}


def test_a_host_that_does_not_answer_is_named_and_left_alone(hosts: Folders) -> None:
    hosts.gone = ("gpu2",)
    hosts.write("gpu1", DROP_IN, "[Service]\nLimitMEMLOCK=1\n")
    live = read_live(hosts, bundle())
    assert live.unread == {"gpu2": "not reached: ssh: gpu2: no route"}
    assert compare(live.bundle, bundle()).hosts_contacted == ("ctl1", "ctl2", "gpu1")


def test_a_new_node_that_does_not_answer_yet_gets_its_files(hosts: Folders) -> None:
    hosts.gone = ("gpu3",)
    new = bundle(SLURM.replace("gpu[1-2]", "gpu[1-3]"))
    new = replace(
        new,
        files=tuple(
            replace(f, hosts=f.hosts.replace("1-2]", "1-3]")) if f.path == DROP_IN else f for f in new.files
        ),
    )
    found = compare(read_live(hosts, new).bundle, new)
    assert [step.hosts for step in found.steps if step.action == "stage" and DROP_IN in step.files] == [
        "gpu3"
    ]


def test_without_any_slurm_conf_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(SlurmwrightError, match=r"ctl1: holds no slurm\.conf; ctl2: not reached"):
        read_live(Folders(tmp_path, ["ctl2"]), bundle())


def test_another_release_on_the_hosts_is_an_upgrade(hosts: Folders) -> None:
    hosts.version = "slurm-wlm 22.05.8"
    with pytest.raises(SlurmwrightError, match=r"run Slurm 22\.05\.8, and cluster\.yaml says 24\.11"):
        read_live(hosts, bundle())


def test_bytes_that_are_no_text_are_a_reason(hosts: Folders) -> None:
    (hosts.root / "gpu1" / DROP_IN.lstrip("/")).write_bytes(b"\xff\xfe")
    assert read_live(hosts, bundle()).unread == {"gpu1": f"{DROP_IN} is no text in UTF-8"}
