"""`slurmwright node` from the outside: the file, the plan, exit codes, and what slurmctld is told."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from slurmwright.cli import apply_plan
from slurmwright.cli import node as node_verb
from slurmwright.cli.plan import render_inventory
from slurmwright.core.bundle import Bundle
from slurmwright.plan import Plan

EXAMPLE = Path(__file__).parents[2] / "inventories" / "dgx-h100-64n"
#: Stands for ssh: every host answers, with the programs of one folder in the place of Slurm's.
SSH = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
[ ! -e "$FAKE/off" ] || { echo "ssh: no route to host" >&2; exit 255; }
exec sh -c "$*"
"""
SUDO = '#!/bin/sh\nshift 2\nexec "$@"\n'
SINFO = '#!/bin/sh\nfor n in 001 005 064; do echo "gpu$n|$(cat "$FAKE/state")|$(cat "$FAKE/reason")"; done\n'
SQUEUE = '#!/bin/sh\ncat "$FAKE/jobs"; : > "$FAKE/jobs"\n'
SCONTROL = '#!/bin/sh\necho "$*" >> "$FAKE/told"\n'


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    folder = tmp_path / "pod1"
    shutil.copytree(EXAMPLE, folder)
    return folder


class Cluster:
    """The stand-in for a running cluster."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir(parents=True)
        programs = {"ssh": SSH, "sudo": SUDO, "sinfo": SINFO, "squeue": SQUEUE, "scontrol": SCONTROL}
        for name, text in programs.items():
            (folder / "bin" / name).write_text(text, encoding="utf-8")
            (folder / "bin" / name).chmod(0o755)
        for name, text in {"state": "idle", "reason": "none", "jobs": "", "told": ""}.items():
            self.say(name, text)

    def say(self, name: str, text: str = "") -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    @property
    def told(self) -> list[str]:
        return (self.folder / "told").read_text(encoding="utf-8").splitlines()

    def node(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "FAKE": str(self.folder)}
        environ["PATH"] = f"{self.folder}/bin:{environ['PATH']}"
        command = [sys.executable, "-m", "slurmwright.cli.main", "node", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environ)


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path / "fake")


def test_an_added_node_is_in_the_file_and_its_plan_is_shown(inventory: Path, cluster: Cluster) -> None:
    file = inventory / "cluster.yaml"
    file.chmod(0o640)
    done = cluster.node("add", "gpu[065-066]", "--like", "gpu064", "-i", inventory, "--no-live")
    assert done.returncode == 1
    assert "+ node gpu[065-066]: CPUs=224" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("no drain; 4 hosts contacted")
    assert "note: new racks: r17" in done.stderr
    assert "hosts: gpu[001-066]" in file.read_text(encoding="utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_dry_run_writes_nothing_and_prints_the_plan_of_plan(inventory: Path, cluster: Cluster) -> None:
    before = (inventory / "cluster.yaml").read_bytes()
    words = ("gpu064", "-i", inventory, "--no-live", "--offline", "--dry-run", "--format", "json")
    done = cluster.node("remove", *words)
    document = json.loads(done.stdout)
    assert (document["format"], document["drain_first"]) == ("slurmwright/plan/1", ["gpu064"])
    assert (inventory / "cluster.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "gpu064", "--like", "gpu001"), "stands in cluster.yaml already"),
        (("add", "gpu[065", "--like", "gpu001"), "bracket is not closed"),
        (("remove", "gpu[063-064]", "--offline"), "partition debug has no other host"),
        (("replace", "gpu[001-002]", "gpu099", "--offline"), "names 2 hosts"),
        (("set", "gpu001", "weight"), "expected KEY=VALUE"),
        (("set", "gpu001", "gpus_missing=9"), "cluster.yaml"),
        (("set", "gpu001", "options.Bogus=9"), "Bogus"),
        (("add", "gpu065", "--like", "gpu064", "--apply", "--dry-run"), "exclude each other"),
    ],
)
def test_a_refused_edit_leaves_the_file_byte_for_byte(
    inventory: Path, cluster: Cluster, words: tuple[str, ...], said: str
) -> None:
    before = (inventory / "cluster.yaml").read_bytes()
    done = cluster.node(*words, "-i", inventory, "--no-live")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert (inventory / "cluster.yaml").read_bytes() == before


def test_facts_go_with_their_host(inventory: Path, cluster: Cluster) -> None:
    facts = inventory / "facts"
    facts.mkdir()
    (facts / "gpu005.yaml").write_text("format: slurmwright/facts/1\nhost: gpu005\n", encoding="utf-8")
    done = cluster.node("remove", "gpu005", "-i", inventory, "--no-live", "--offline")
    assert done.returncode == 1
    assert list(facts.iterdir()) == []
    assert "gpu005.yaml is removed with its host" in done.stderr


def test_removal_is_refused_while_jobs_run(inventory: Path, cluster: Cluster) -> None:
    before = (inventory / "cluster.yaml").read_bytes()
    cluster.say("jobs", "7|ann|RUNNING|gpu005\n")
    done = cluster.node("remove", "gpu005", "-i", inventory, "--no-live")
    assert done.returncode == 2
    assert "jobs run there: 7 of ann (running) on gpu005" in done.stderr
    assert ((inventory / "cluster.yaml").read_bytes(), cluster.told) == (before, [])


def test_removal_drains_and_waits_where_it_is_told_to(inventory: Path, cluster: Cluster) -> None:
    cluster.say("jobs", "7|ann|RUNNING|gpu005\n")
    done = cluster.node("remove", "gpu005", "-i", inventory, "--no-live", "--drain")
    assert done.returncode == 1
    assert cluster.told == ["update NodeName=gpu005 State=DRAIN Reason=slurmwright node remove"]
    assert "gpu[001-004,006-008]" in (inventory / "cluster.yaml").read_text(encoding="utf-8")


def test_jobs_that_outlast_the_wait_leave_the_file_as_it_was(inventory: Path, cluster: Cluster) -> None:
    (cluster.folder / "bin/squeue").write_text("#!/bin/sh\necho '7|ann|RUNNING|gpu005'\n", encoding="utf-8")
    before = (inventory / "cluster.yaml").read_bytes()
    done = cluster.node("remove", "gpu005", "-i", inventory, "--no-live", "--drain", "--timeout", "0")
    assert done.returncode == 3
    assert (inventory / "cluster.yaml").read_bytes() == before


def test_removal_needs_an_answer_about_jobs(inventory: Path, cluster: Cluster) -> None:
    cluster.say("off")
    done = cluster.node("remove", "gpu005", "-i", inventory, "--no-live")
    assert done.returncode == 2
    assert "no route to host" in done.stderr


def test_drain_tells_the_reason_and_which_jobs_go_on(inventory: Path, cluster: Cluster) -> None:
    cluster.say("jobs", "7|ann|RUNNING|gpu005\n")
    done = cluster.node("drain", "gpu[001,005]", "--reason", "fan", "-i", inventory)
    assert (done.returncode, cluster.told) == (0, ["update NodeName=gpu[001,005] State=DRAIN Reason=fan"])
    assert done.stdout == "gpu[001,005] drained: fan\njob 7 of ann (running) on gpu005 goes on\n"
    assert cluster.node("drain", "gpu[001,005]", "-i", inventory).returncode == 2
    assert cluster.node("drain", "gpu999", "--reason", "x", "-i", inventory).returncode == 2


def test_resume_takes_only_nodes_with_the_reason(inventory: Path, cluster: Cluster) -> None:
    cluster.say("reason", "fan")
    cluster.say("state", "drained")
    assert cluster.node("resume", "gpu005", "--reason", "fan", "-i", inventory).returncode == 0
    assert cluster.told == ["update NodeName=gpu005 State=RESUME"]
    done = cluster.node("resume", "gpu005", "--reason", "disk", "-i", inventory)
    assert (done.returncode, len(cluster.told)) == (2, 1)
    assert "no node of gpu005 is drained for 'disk'" in done.stderr


def test_a_node_in_service_is_left_alone_by_resume(inventory: Path, cluster: Cluster) -> None:
    done = cluster.node("resume", "gpu005", "-i", inventory)
    assert (done.returncode, done.stdout, cluster.told) == (0, "gpu005 in service already\n", [])


@pytest.mark.parametrize(
    ("carried", "failed", "code", "said"),
    [
        (0, {}, 0, "gpu065 verified and in service"),
        (0, {"gpu065": "verify/x: no GPU"}, 1, "gpu065 stays drained: verify/x: no GPU"),
        (3, {}, 3, ""),
    ],
)
def test_apply_carries_the_shown_plan_out_and_verifies_what_is_new(
    inventory: Path,
    monkeypatch: pytest.MonkeyPatch,
    carried: int,
    failed: dict[str, str],
    code: int,
    said: str,
) -> None:
    seen: list[Plan] = []

    def carry_out(_asked: object, plan: Plan, rendered: Callable[[], Bundle], _hosts: object) -> int:
        assert rendered() == render_inventory(inventory)
        seen.append(plan)
        return carried

    monkeypatch.setattr(apply_plan, "carry_out_plan", carry_out)
    monkeypatch.setattr(node_verb, "_admitted", lambda *_: failed)
    words = ["add", "gpu065", "--like", "gpu064", "-i", str(inventory), "--no-live", "--apply", "--yes"]
    done = CliRunner().invoke(node_verb.node, words)
    assert done.exit_code == code, done.output
    assert seen[0].changes[0].subject == "node gpu065"
    assert said in done.output


def test_apply_asks_before_anything_is_written(inventory: Path, cluster: Cluster) -> None:
    before = (inventory / "cluster.yaml").read_bytes()
    done = cluster.node("add", "gpu065", "--like", "gpu064", "-i", inventory, "--no-live", "--apply")
    assert (done.returncode, (inventory / "cluster.yaml").read_bytes()) == (2, before)
    assert "give --yes" in done.stderr
