"""Few causes of many symptoms: joined over lines and hosts, each with what it explains."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from slurmwright.cli.doctor import doctor
from slurmwright.core.errors import InputError
from slurmwright.core.finding import Finding
from slurmwright.doctor.judge import judge
from slurmwright.doctor.reading import read_hosts

XID = "[ 99.1] NVRM: Xid (PCI:0000:c3:00): 79, pid=1234, GPU has fallen off the bus.\n"
LOW = "gres/gpu count reported lower than configured (7 < 8)"


def _folder(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def _judged(folder: Path, **files: str) -> tuple[Finding, ...]:
    return judge(read_hosts(_folder(folder, **files)))


def test_a_drained_node_is_told_with_the_gpu_that_fell_off_the_bus(tmp_path: Path) -> None:
    (found,) = _judged(
        tmp_path,
        dmesg__txt=XID,
        scontrol_show_node__txt=f"NodeName=gpu017 State=IDLE+DRAIN Reason={LOW} [slurm@2026-11-02T10:00:00]",
    )
    assert (found.rule, found.host) == ("DR001", "gpu017")
    assert "0000:c3:00" in found.message
    assert any("7 < 8" in line for line in found.evidence)


def test_three_faults_at_once_are_three_causes(tmp_path: Path) -> None:
    found = _judged(
        tmp_path,
        dmesg__txt=XID,
        scontrol_show_node__txt=f"NodeName=gpu017 State=IDLE+DRAIN Reason={LOW}",
        slurmctld__log="error: Munge decode failed: Expired credential\n" * 400,
        clock__txt="ctl1 1796000000\ngpu017 1796000400\n",
        systemctl_show_slurmd__txt="LimitMEMLOCK=65536\n",
        **{"slurmd__log": "[2026-11-02T10:00:00] error: gres count is wrong\n" * 50},
    )
    assert [one.rule for one in found] == ["DR001", "DR040", "DR070"]


def test_one_cause_on_many_hosts_is_one_finding(tmp_path: Path) -> None:
    for number in range(1, 41):
        line = "fatal: cgroup: unable to mount freezer cgroup namespace\n"
        _folder(tmp_path / f"gpu{number:03}", slurmd__log=line)
    (found,) = judge(read_hosts(tmp_path))
    assert found.host == "gpu[001-040]"


def test_a_fatal_line_that_nobody_knows_is_told_as_it_stands(tmp_path: Path) -> None:
    (found,) = _judged(tmp_path, slurmd__log="[x] error: before\n[x] fatal: the moon is in the wrong phase\n")
    assert (found.rule, "the moon is in the wrong phase" in found.message) == ("DR097", True)


def test_a_reason_that_a_person_wrote_is_told_with_its_nodes(tmp_path: Path) -> None:
    rows = "REASON USER TIMESTAMP NODELIST\nbattery of the UPS   root  2026-11-02T10:00:00 gpu[01-04]\n"
    (found,) = _judged(tmp_path, **{"sinfo_-R__txt": rows})
    assert (found.rule, found.host, "battery of the UPS" in found.message) == ("DR098", "gpu[01-04]", True)


@pytest.mark.parametrize("number", ["31", "43"])
def test_an_xid_that_is_the_jobs_own_fault_is_no_warning(tmp_path: Path, number: str) -> None:
    (found,) = _judged(tmp_path, dmesg__txt=XID.replace("79", number))
    assert found.severity.value == "info"


def test_a_forged_line_in_a_jobs_output_drains_nobody(tmp_path: Path) -> None:
    text = f"fatal: can't stat gres.conf file /dev/nvidia0: No such file\n{XID}Reason={LOW}\n"
    assert _judged(tmp_path, job_output__txt=text) == ()


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "slurmd.log").symlink_to("/etc/passwd")
    (found,) = judge(read_hosts(tmp_path))
    assert (found.rule, found.severity.value) == ("DR099", "info")


def test_json_is_the_document_of_lint_and_the_exit_code_too(tmp_path: Path) -> None:
    _folder(tmp_path, dmesg__txt=XID)
    done = CliRunner().invoke(doctor, ["--from", str(tmp_path), "--format", "json"])
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert document["format"] == "slurmwright/findings/1"
    keys = ["rule", "name", "severity", "message", "file", "line", "host", "evidence", "fix"]
    assert list(document["findings"][0]) == keys


def test_text_says_why_and_what_to_do(tmp_path: Path) -> None:
    _folder(tmp_path, dmesg__txt=XID)
    done = CliRunner().invoke(doctor, ["--from", str(tmp_path)])
    assert "why:" in done.stdout
    assert "reseat or replace" in done.stdout


def test_nothing_wrong_is_exit_code_0_and_no_folder_is_2(tmp_path: Path) -> None:
    assert CliRunner().invoke(doctor, ["--from", str(tmp_path)]).exit_code == 0
    with pytest.raises(InputError, match="is no folder"):
        read_hosts(tmp_path / "none")


def test_what_slurmctlds_log_tells_of_a_node_is_that_nodes(tmp_path: Path) -> None:
    line = f"error: Setting node n1 state to INVAL with reason:{LOW}\n"
    _folder(tmp_path / "ctl1", slurmctld__log=line)
    _folder(tmp_path / "n1", dmesg__txt=XID)
    (found,) = judge(read_hosts(tmp_path))
    assert (found.rule, found.host, len(found.evidence)) == ("DR001", "n1", 2)
