"""`slurmwright apply PLAN.json`: what it refuses, what it says when it stops half-way, and how it goes on.

The hosts are folders of this machine; shell scripts run in them as on hosts, Slurm's commands are answered.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from slurmwright.apply.hosts import UNREACHED
from slurmwright.apply.lock import folder_of, locked
from slurmwright.apply.placing import put
from slurmwright.cli import apply_plan
from slurmwright.cli.main import main
from slurmwright.core import run as core
from slurmwright.core.bundle import read_bundle
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.hosts import expand
from slurmwright.model.load import load_cluster
from slurmwright.render import render

CLUSTER = """\
name: tiny
slurm: {release: "24.11"}
control: {controllers: [ctl1]}
nodes:
  - {hosts: "gpu[1-2]", type: dgx-h100}
partitions:
  - {name: train, nodes: all, default: true, max_time: "1-00:00:00"}
"""
CONF = "etc/slurm/slurm.conf"


class Folders:
    """Hosts below one folder; `lost` names what is answered as not reached."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lost: tuple[str, str] = ("", "")
        self.commands: list[str] = []

    def run(self, host: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 60) -> core.Result:
        words = tuple(argv)
        if host == self.lost[0] and self.lost[1] in " ".join(words):
            return core.Result(words, UNREACHED, "", "connection lost")
        if words[0] in ("scontrol", "squeue", "systemctl"):
            self.commands.append(" ".join(words))
            return core.Result(words, 0, self._slurm(words), "")
        home = str(self.root / host)
        here = [word.replace("/etc/", f"{home}/etc/") if word != words[2] else word for word in words]
        if "cat >" in words[2]:
            here[5], here[6] = str(os.getuid()), str(os.getgid())
        done = subprocess.run(here, input=stdin, capture_output=True, text=True, check=False)
        return core.Result(words, done.returncode, done.stdout.replace(home, ""), done.stderr)

    def put(self, host: str, path: str, text: str, *, owner: str, group: str, mode: str) -> core.Result:
        return put(self.run, host, path, text, owner=owner, group=group, mode=mode)

    def _slurm(self, words: tuple[str, ...]) -> str:
        if "ping" in words:
            return "Slurmctld(primary) at ctl1 is UP\n"
        if "node" in words:
            return "".join(f"NodeName=gpu{number} State=IDLE Reason=\n" for number in (1, 2))
        return ""

    def text(self, host: str, path: str = CONF) -> str:
        return (self.root / host / path).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Said:
    """How a command ended; an error as `cli.main.run` ends and says it."""

    exit_code: int
    stdout: str
    output: str


class Lab:
    """An inventory whose rendered files are on its hosts."""

    def __init__(self, folder: Path, hosts: Folders) -> None:
        self.folder, self.hosts = folder, hosts
        folder.mkdir()
        self.say("1-00:00:00")
        bundle = render(load_cluster(folder), {})
        bundle.write(folder / "rendered")
        for file in bundle.files:
            for host in expand(file.hosts):
                path = hosts.root / host / file.path.lstrip("/")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(file.text, encoding="utf-8")

    def say(self, time: str) -> None:
        text = CLUSTER.replace("1-00:00:00", time)
        (self.folder / "cluster.yaml").write_text(text, encoding="utf-8")

    def plan(self, time: str) -> str:
        self.say(time)
        file = self.folder.parent / f"plan-{time[0]}.json"
        done = self.call("plan", "--no-live", "-o", str(file))
        assert done.exit_code == 1, done.output
        return str(file)

    def call(self, verb: str, *words: str) -> Said:
        done = CliRunner().invoke(main, [verb, "-i", str(self.folder), *words])
        if isinstance(done.exception, SlurmwrightError):
            return Said(2, done.stdout, f"{done.output}{done.exception}")
        return Said(done.exit_code, done.stdout, done.output)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    hosts = Folders(tmp_path / "hosts")
    monkeypatch.setattr(apply_plan, "hosts_of", lambda cluster: hosts)
    return Lab(tmp_path / "tiny", hosts)


def test_exactly_the_plan_is_carried_out(lab: Lab) -> None:
    done = lab.call("apply", lab.plan("2-00:00:00"), "--yes")
    assert done.exit_code == 0, done.output
    assert "MaxTime=2-00:00:00" in lab.hosts.text("ctl1")
    assert "scontrol reconfigure" in lab.hosts.commands
    assert not any("systemctl" in command for command in lab.hosts.commands)
    assert not list(lab.hosts.root.rglob(".*slurmwright-new"))


def test_what_was_applied_is_what_the_next_plan_compares_with(lab: Lab) -> None:
    lab.call("apply", lab.plan("2-00:00:00"), "--yes")
    assert lab.call("plan", "--no-live").exit_code == 0


def test_a_plan_is_not_carried_out_unasked(lab: Lab) -> None:
    done = lab.call("apply", lab.plan("2-00:00:00"))
    assert done.exit_code == 2
    assert "--yes" in done.output
    assert "MaxTime=1-00:00:00" in lab.hosts.text("ctl1")


def test_a_cluster_yaml_that_says_otherwise_by_now_makes_the_plan_stale(lab: Lab) -> None:
    plan = lab.plan("2-00:00:00")
    lab.say("3-00:00:00")
    done = lab.call("apply", plan, "--yes")
    assert done.exit_code == 2
    assert "stale" in done.output
    assert "MaxTime=1-00:00:00" in lab.hosts.text("ctl1")


def test_a_file_that_a_host_holds_otherwise_makes_the_plan_stale(lab: Lab) -> None:
    plan = lab.plan("2-00:00:00")
    path = lab.hosts.root / "ctl1" / CONF
    path.write_text(path.read_text(encoding="utf-8") + "# by hand\n", encoding="utf-8")
    done = lab.call("apply", plan, "--yes")
    assert done.exit_code == 2
    assert "ctl1: /etc/slurm/slurm.conf is another" in done.output
    assert lab.hosts.text("ctl1").endswith("# by hand\n")


def test_a_run_that_stops_half_way_says_what_is_done_and_goes_on_without_the_plan(lab: Lab) -> None:
    plan = lab.plan("2-00:00:00")
    lab.hosts.lost = ("ctl1", "scontrol reconfigure")
    done = lab.call("apply", plan, "--yes", "--format", "json")
    assert done.exit_code == 3
    said = json.loads(done.stdout)
    assert [step["action"] for step in said["done"]] == ["stage", "confirm", "activate"]
    assert [step["action"] for step in said["not_done"]] == ["reconfigure", "check"]
    assert "connection lost" in said["why"][0]
    lab.hosts.lost = ("", "")
    done = lab.call("apply")
    assert done.exit_code == 0, done.output
    assert "goes on with an unfinished apply, 3 of 5 steps are done" in done.output


def test_another_plan_is_refused_while_one_is_unfinished(lab: Lab) -> None:
    plan = lab.plan("2-00:00:00")
    lab.hosts.lost = ("ctl1", "scontrol reconfigure")
    lab.call("apply", plan, "--yes")
    done = lab.call("apply", lab.plan("3-00:00:00"), "--yes")
    assert done.exit_code == 2
    assert "--rollback" in done.output


def test_a_rollback_returns_the_hosts_and_what_was_rendered_to_the_former_files(lab: Lab) -> None:
    former = lab.hosts.text("ctl1")
    lab.call("apply", lab.plan("2-00:00:00"), "--yes")
    done = lab.call("apply", "--rollback")
    assert done.exit_code == 0, done.output
    assert lab.hosts.text("ctl1") == former
    found = read_bundle(lab.folder / "rendered")[0].find(f"/{CONF}")
    assert found is not None
    assert found.text == former


def test_a_second_apply_is_told_who_is_at_work(lab: Lab) -> None:
    plan = lab.plan("2-00:00:00")
    with locked(folder_of(lab.folder)):
        done = lab.call("apply", plan, "--yes")
    assert done.exit_code == 2
    assert f"process {os.getpid()}" in done.output


def test_options_of_ansible_do_not_go_with_a_plan(lab: Lab) -> None:
    done = lab.call("apply", lab.plan("2-00:00:00"), "--yes", "--limit", "gpu1")
    assert done.exit_code == 2
    assert "--limit" in done.output
