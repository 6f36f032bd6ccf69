"""A running job from inside: what its step could open against what slurmctld gave it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.cli.doctor import doctor
from slurmwright.discover.sections import split_output
from slurmwright.doctor.host import Host
from slurmwright.doctor.job_probe import Running, judge_node, probed, running, script
from slurmwright.model.load import load_cluster
from slurmwright.verify.documents import Document
from slurmwright.verify.expect import ExpectedNode, expected_nodes

from .test_live import CLUSTER, Fleet

#: As `scontrol show job -d` of 24.11.5 prints a job of four GPUs on two guests.
JOB = """\
JobId=17 JobName=wrap
   UserId=alice(1001) GroupId=alice(1001) MCS_label=N/A
   JobState=RUNNING Reason=None Dependency=(null)
   NodeList=n[1-2]
   JOB_GRES=gpu:h100:4
     Nodes=n1 CPU_IDs=0-3 Mem=100 GRES=gpu:h100:2(IDX:0-1)
     Nodes=n2 CPU_IDs=0-3 Mem=100 GRES=gpu:h100:2(IDX:2,5)
"""
RUNNING = Running("17", "alice", {"n1": (0, 1), "n2": (2, 5)})


def host(text: str) -> tuple[Host, ...]:
    return (Host("ctl1", {"scontrol_show_job.txt": text}),)


def document(node: str, opened: Iterable[int], cuda: str = "0,1") -> Document:
    files = {f"/dev/nvidia{n}": {"open": "opened" if n in set(opened) else "EPERM"} for n in range(8)}
    env = {"SLURMD_NODENAME": node, "CUDA_VISIBLE_DEVICES": cuda}
    return Document("doctor", "0", {"env": env, "devices": files, "cpus": "0-3"})


def printed(*documents: Document) -> str:
    rows = (
        f"@probe doctor {at} + {json.dumps(one.data)}\n@probe doctor {at} ."
        for at, one in enumerate(documents)
    )
    return "\n".join(rows)


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, ExpectedNode]:
    folder = tmp_path_factory.mktemp("inventory")
    (folder / "cluster.yaml").write_text(CLUSTER, encoding="utf-8")
    return expected_nodes(load_cluster(folder), {})


def test_a_running_job_tells_its_user_and_its_gpus_of_each_node() -> None:
    assert running(host(JOB), "17") == RUNNING


@pytest.mark.parametrize(
    "text",
    [
        JOB.replace("RUNNING", "PENDING"),
        JOB.replace("gpu:h100:2(IDX:0-1)", "shard:2(IDX:0-1)"),
        JOB.replace("alice(", "$(reboot)("),
        "",
    ],
)
def test_a_job_that_cannot_be_looked_into_is_left_alone(text: str) -> None:
    assert running(host(text), "17") is None


def test_the_right_gpus_on_every_node_are_no_finding(shapes: Mapping[str, ExpectedNode]) -> None:
    told = printed(document("n1", [0, 1]), document("n2", [2, 5]))
    fleet = Fleet({"ctl1": {"probe": told}})
    assert probed(RUNNING, shapes, ["ctl1"], fleet) == ()


def test_gpus_of_others_are_told_with_both_sides(shapes: Mapping[str, ExpectedNode]) -> None:
    (one,) = judge_node(RUNNING, shapes["n1"], document("n1", range(8)))
    assert one.kind == "DR081"
    assert one.message.startswith("job 17 was given /dev/nvidia0, /dev/nvidia1 and can open /dev/nvidia2, ")


def test_gpus_that_it_lacks_and_others_instead_are_two_causes(shapes: Mapping[str, ExpectedNode]) -> None:
    found = judge_node(RUNNING, shapes["n2"], document("n2", [2, 4]))
    assert [(one.kind, one.message.rpartition(" can")[2]) for one in found] == [
        ("DR081", " open /dev/nvidia4 too: nothing confines it to its own"),
        ("DR066", "not open /dev/nvidia5"),
    ]


def test_what_cuda_is_told_of_counts_beside_what_can_be_opened(shapes: Mapping[str, ExpectedNode]) -> None:
    (one,) = judge_node(RUNNING, shapes["n1"], document("n1", [0, 1], "0"))
    assert (one.kind, "CUDA_VISIBLE_DEVICES there is 0" in one.message) == ("DR067", True)


def test_a_step_that_is_refused_is_said_with_its_reason_and_its_nodes(
    shapes: Mapping[str, ExpectedNode],
) -> None:
    fleet = Fleet(
        {"ctl1": {"probe": "srun: error: Unable to create step for job 17: Access/permission denied"}}
    )
    ((_, one),) = probed(RUNNING, shapes, ["ctl1"], fleet)
    assert (one.kind, one.nodes) == ("DR099", ("n1", "n2"))
    assert "permission denied" in one.message


def test_the_second_controller_is_asked_where_the_first_does_not_answer(
    shapes: Mapping[str, ExpectedNode],
) -> None:
    told = printed(document("n1", [0, 1]), document("n2", [2, 5]))
    fleet = Fleet({"ctl1": "no route to host", "ctl2": {"probe": told}})
    assert probed(RUNNING, shapes, ["ctl1", "ctl2"], fleet) == ()


def test_the_script_runs_the_probe_and_its_output_splits(tmp_path: Path) -> None:
    """With an srun that runs its task here, and no other user to become."""
    (tmp_path / "srun").write_text(
        '#!/bin/sh\nwhile [ "$1" != sh ]; do shift; done\nexec "$@"\n', encoding="utf-8"
    )
    (tmp_path / "runuser").write_text('#!/bin/sh\nshift 3\nexec "$@"\n', encoding="utf-8")
    (tmp_path / "sudo").write_text('#!/bin/sh\nshift 4\nexec "$@"\n', encoding="utf-8")
    for name in ("srun", "runuser", "sudo"):
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        [shutil.which("sh") or "sh", "-s"],
        input=script(RUNNING),
        env={"PATH": f"{tmp_path}:/usr/local/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"slurmwright/probe/1"' in split_output(done.stdout, "ctl1")["probe"]


def test_doctor_looks_into_a_running_job_unless_it_is_told_not_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER, encoding="utf-8")
    inside = printed(document("n1", range(8)), document("n2", [2, 5]))
    for words, rules in (((), ["DR081"]), (("--no-probe",), [])):
        fleet = Fleet({"ctl1": {"job": JOB, "probe": inside}, "n1": {}, "n2": {}})
        monkeypatch.setattr("slurmwright.discover.ssh.SshReader", lambda *_, fleet=fleet: fleet)
        done = CliRunner().invoke(doctor, ["-i", str(tmp_path), "--format", "json", *words, "job", "17"])
        assert [one["rule"] for one in json.loads(done.stdout)["findings"]] == rules


@given(st.text(max_size=300) | st.text("0123456789,-", max_size=40))
@settings(max_examples=60, deadline=None)
def test_any_text_is_read(text: str) -> None:
    for one in (text, JOB.replace("n[1-2]", text), JOB.replace("IDX:0-1", f"IDX:{text}")):
        found = running(host(one), "17")
        assert found is None or all(index >= 0 for part in found.gpus.values() for index in part)
