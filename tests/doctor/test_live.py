"""Living hosts: many at once, joined over hosts, and those that cannot be reached are findings."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from slurmwright.cli.doctor import doctor
from slurmwright.core.finding import Finding
from slurmwright.discover.sections import split_output
from slurmwright.discover.ssh import HostError
from slurmwright.doctor.judge import judge
from slurmwright.doctor.live import Seen, job_hosts, look, script

RUNS = "slurmd.service loaded active running Slurm node daemon\n"
LOW = "gres/gpu count reported lower than configured (7 < 8)"
XID = "2026-11-02T10:00:00+0000 gpu017 kernel: NVRM: Xid (PCI:0000:c3:00): 79, GPU has fallen off the bus."


class Fleet:
    """Hosts with their sections; one whose value is a text cannot be reached, for that reason."""

    def __init__(self, hosts: Mapping[str, Mapping[str, str] | str]) -> None:
        self.hosts, self.asked = hosts, list[str]()

    def read(self, host: str, script: str) -> str:
        self.asked.append(host)
        own = self.hosts[host]
        if isinstance(own, str):
            raise HostError(own)
        own = {"clock": str(int(time.time())), **own}
        parts = [
            f"@@slurmwright begin {name}\n{text}\n@@slurmwright end {name} 0\n" for name, text in own.items()
        ]
        return "".join(parts) + "@@slurmwright done\n"

    def stop(self) -> None: ...


def _seen(**hosts: Mapping[str, str] | str) -> Seen:
    return look(list(hosts), Fleet(hosts), 8, lambda _: None)


def _judged(seen: Seen) -> tuple[Finding, ...]:
    return judge(seen.hosts, seen.more)


def test_healthy_hosts_give_nothing() -> None:
    assert (
        _judged(_seen(ctl1={"nodes": "NodeName=n1 State=IDLE"}, n1={"limits": "LimitMEMLOCK=infinity"})) == ()
    )


def test_a_controller_is_not_taken_for_the_nodes_of_the_only_line_there_is() -> None:
    node = "NodeName=n[1-2] Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=9000\n"
    own = (
        "NodeName=ctl1 CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1500\n"
    )
    found = _judged(_seen(ctl1={"slurm-conf": node, "slurmd-c": own}, n1={"slurm-conf": node}))
    assert found == ()


def test_what_slurmctld_says_of_a_node_is_joined_with_what_the_node_shows() -> None:
    nodes = f"NodeName=gpu016 State=IDLE\nNodeName=gpu017 State=IDLE+DRAIN Reason={LOW} [slurm@now]"
    (found,) = _judged(_seen(ctl1={"nodes": nodes}, gpu017={"kernel": XID}))
    assert (found.rule, found.host, len(found.evidence)) == ("DR001", "gpu017", 2)


@pytest.mark.parametrize(
    ("state", "count"), [("IDLE", 0), ("MIXED+PLANNED", 0), ("IDLE*", 1), ("IDLE+DRAIN", 1)]
)
def test_a_node_that_serves_again_keeps_its_reason_and_is_not_out_of_service(state: str, count: int) -> None:
    nodes = f"NodeName=n1 State={state} ThreadsPerCore=2 Reason=battery of the UPS [root@2026-11-02T10:00:00]"
    assert len(_judged(_seen(ctl1={"nodes": nodes}, n1={}))) == count


def test_a_node_that_nobody_reached_is_told_with_its_reason_and_why_it_was_not() -> None:
    nodes = "NodeName=n1 State=DOWN Reason=battery of the UPS [root@2026-11-02T10:00:00]"
    found = _judged(_seen(ctl1={"nodes": nodes}, n1="did not answer in time"))
    assert [(one.rule, one.host) for one in found] == [("DR090", "n1"), ("DR098", "n1")]


def test_the_same_reason_of_many_hosts_is_one_finding() -> None:
    (found,) = _judged(_seen(**{f"n{at}": "did not answer in time" for at in range(1, 300)}, ctl1={}))
    assert found.host == "n[1-299]"


def test_a_clock_that_differs_from_most_is_told_even_where_this_machines_own_is_wrong() -> None:
    late = str(int(time.time()) - 5000)
    hosts = {name: {"clock": late} for name in ("n1", "n2", "n3")}
    (found,) = _judged(_seen(**hosts, n4={"clock": str(int(late) + 742)}))
    assert (found.rule, found.host) == ("DR040", "n4")
    assert any(f"{seconds} s ahead" in found.message for seconds in (741, 742, 743))


def test_a_host_with_another_slurm_conf_than_most_is_told() -> None:
    hosts = {name: {"sum": "aa11 -"} for name in ("ctl1", "n1", "n2")}
    (found,) = _judged(_seen(**hosts, n3={"sum": "bb22 -"}))
    assert (found.rule, found.host) == ("DR030", "n3")


def test_a_push_that_came_later_has_mended_what_the_log_says() -> None:
    line = "[2026-11-02T10:00:00] error: Node n1 appears to have a different slurm.conf than the slurmctld."
    assert _judged(_seen(ctl1={"sum": "aa11 -", "slurmctld-log": line}, n1={"sum": "aa11 -"})) == ()


def test_what_a_log_tells_of_last_week_is_over() -> None:
    line = "[2026-11-02T10:00:00] fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory"
    for now, count in (("2026-11-02T12:00:00", 1), ("2026-11-09T12:00:00", 0)):
        assert len(_judged(_seen(n1={"slurmd-log": line, "now": now}))) == count


def test_a_refused_credential_is_soon_over_as_slurmctld_asks_all_the_time() -> None:
    line = "[2026-11-02T10:00:00] error: Munge decode failed: Expired credential"
    for now, count in (("2026-11-02T10:10:00", 1), ("2026-11-02T10:20:00", 0)):
        assert len(_judged(_seen(n1={"slurmd-log": line, "now": now}))) == count


def test_the_host_with_another_munge_key_than_most_is_the_one_cause_of_all_that_follows() -> None:
    line = "[2026-11-02T10:00:00] error: Munge decode failed: Invalid credential"
    nodes = "NodeName=n1 State=IDLE\nNodeName=n2 State=DOWN* Reason=Not responding [slurm@now]"
    ctl = {"nodes": nodes, "munge-key": "aa11", "slurmctld-log": line, "now": "2026-11-02T10:01:00"}
    (found,) = _judged(_seen(ctl1=ctl, n1={"munge-key": "aa11"}, n2={"munge-key": "bb22", "units": RUNS}))
    assert (found.rule, found.host) == ("DR044", "n2")


def test_a_clock_that_is_off_is_the_one_cause_of_credentials_that_others_refuse() -> None:
    line = "[2026-11-02T10:00:00] error: Munge decode failed: Rewound credential"
    now = int(time.time())
    ctl = {"slurmctld-log": line, "now": "2026-11-02T10:01:00", "clock": str(now)}
    (found,) = _judged(_seen(ctl1=ctl, n1={"clock": str(now)}, n2={"clock": str(now + 600)}))
    assert (found.rule, found.host) == ("DR040", "n2")


def test_the_slurm_conf_that_nodes_have_now_counts_and_not_what_slurmctld_said_of_an_older_one() -> None:
    said = "[2026-11-02T10:00:00] error: Node n1 appears to have a different slurm.conf than the slurmctld."
    ctl = {"sum": "aa11 -", "slurmctld-log": said, "now": "2026-11-02T10:01:00"}
    (found,) = _judged(_seen(ctl1=ctl, n1={"sum": "aa11 -"}, n2={"sum": "bb22 -"}))
    assert (found.rule, found.host) == ("DR030", "n2")


def test_a_job_names_its_nodes() -> None:
    job = "JobId=12 JobState=RUNNING\n   ReqNodeList=(null) ExcNodeList=(null)\n   NodeList=gpu[001-002]\n"
    assert job_hosts(_seen(ctl1={"job": job})) == ["gpu001", "gpu002"]
    assert job_hosts(_seen(ctl1={})) is None


def test_the_script_ends_by_itself_and_its_output_splits() -> None:
    text = script()
    done = subprocess.run(["sh", "-s"], input=text, capture_output=True, text=True, timeout=120, check=False)
    assert split_output(done.stdout, "here")["clock"].strip().isdecimal()


@pytest.mark.parametrize("job", ["1; reboot", "$(id)", "12\n", ""])
def test_no_word_of_a_user_gets_into_the_script(job: str) -> None:
    assert script(job).startswith("JOB=''\n")


def test_a_log_is_searched_where_it_lies_and_little_of_it_comes_back(tmp_path: Path) -> None:
    """The part of the script that reads logs, on one of a few megabytes."""
    (tmp_path / "slurmd.log").write_text(
        "nothing to see here\n" * 200_000 + "fatal: can't stat gres.conf file /dev/nvidia0\n"
    )
    said = script().split("CONF=/etc/slurm")[0] + f'said "{tmp_path}/slurmd.log"\n'
    done = subprocess.run(
        [shutil.which("sh") or "sh", "-s"], input=said, capture_output=True, text=True, check=True
    )
    assert done.stdout == "fatal: can't stat gres.conf file /dev/nvidia0\n"


CLUSTER = """\
name: pod1
slurm: {release: "24.11"}
control: {controllers: [ctl1]}
nodes:
  - {hosts: "n[1-2]", type: dgx-h100}
partitions:
  - {name: p, nodes: all}
"""


def _call(monkeypatch: pytest.MonkeyPatch, folder: Path, fleet: Fleet, *words: str) -> tuple[int, str]:
    (folder / "cluster.yaml").write_text(CLUSTER)
    monkeypatch.setattr("slurmwright.discover.ssh.SshReader", lambda *_: fleet)
    done = CliRunner().invoke(doctor, ["-i", str(folder), "--format", "json", *words])
    return done.exit_code, done.stdout


def test_all_hosts_of_the_inventory_are_asked_and_an_unreachable_one_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fleet = Fleet({"ctl1": {}, "n1": {}, "n2": "refused the key"})
    code, text = _call(monkeypatch, tmp_path, fleet)
    assert (code, sorted(fleet.asked)) == (1, ["ctl1", "n1", "n2"])
    assert [one["rule"] for one in json.loads(text)["findings"]] == ["DR090"]


def test_nobody_reached_is_exit_code_2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fleet = Fleet({"n1": "refused the key"})
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    monkeypatch.setattr("slurmwright.discover.ssh.SshReader", lambda *_: fleet)
    done = CliRunner().invoke(doctor, ["-i", str(tmp_path), "n1"])
    assert "refused the key" in str(done.exception)


def test_a_job_is_told_by_its_controller_and_its_own_nodes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    job = "JobId=12 JobState=RUNNING\n   NodeList=n1\n"
    nodes = "NodeName=n2 State=DOWN Reason=burned [root@2026-11-02T10:00:00]"
    low = {"limits": "LimitMEMLOCK=65536"}
    fleet = Fleet({"ctl1": {"job": job, "nodes": nodes}, "n1": low, "n2": low})
    code, text = _call(monkeypatch, tmp_path, fleet, "job", "12")
    assert (code, fleet.asked) == (1, ["ctl1", "n1"])
    assert [(one["rule"], one["host"]) for one in json.loads(text)["findings"]] == [("DR070", "n1")]


def test_a_job_that_nobody_knows_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code, _ = _call(monkeypatch, tmp_path, Fleet({"ctl1": {}}), "job", "99")
    assert code != 0
