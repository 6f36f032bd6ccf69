"""`slurmwright apply` as a command: what it shows, when it asks, its exit codes; with the real Ansible."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slurmwright.model.load import load_cluster
from slurmwright.render import render

pytest.importorskip("ansible", reason="ansible-core is not installed")

CLUSTER = """\
name: tiny
slurm: {release: "24.11"}
control: {controllers: [{host: ctl1, address: 127.0.0.2}]}
nodes:
  - {hosts: "gpu[1-2]", type: dgx-h100, address: "127.0.0.[3-4]"}
partitions:
  - {name: train, nodes: all, default: true}
"""
#: Port 9 (discard) of a loopback address: nothing listens there, so a connection is refused at once.
REFUSED = "ansible_port: 9\n"
#: A host that takes the connection and never answers.
SILENT = "ansible_ssh_common_args: \"-o ProxyCommand='sleep 60'\"\n"


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "cluster.yaml").write_text(CLUSTER)
    render(load_cluster(folder), {}).write(folder / "rendered")
    reach(folder, REFUSED)
    return folder


def reach(folder: Path, words: str) -> None:
    (folder / "group_vars").mkdir(exist_ok=True)
    (folder / "group_vars/all.yml").write_text(words)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "slurmwright.cli.main", "apply", *arguments]


def environment(**more: str) -> dict[str, str]:
    ours = {"NO_COLOR": "1", "COLUMNS": "200", "ANSIBLE_SSH_ARGS": "-o ControlMaster=no"}
    return {**os.environ, **ours, **more}


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, env=environment(**more),
        stdin=subprocess.DEVNULL, timeout=300,
    )  # fmt: skip


def test_hosts_roles_and_files_are_shown_and_nothing_is_done_unasked(
    inventory: Path,
) -> None:
    done = run("-i", str(inventory))
    assert done.returncode == 2
    assert done.stderr == (
        "slurmwright: stdin is no terminal, nobody can be asked; nothing was changed: give --yes\n"
    )
    assert "3 hosts, ctl1,gpu[1-2]" in done.stdout
    assert "slurm_files, slurm_node" in done.stdout
    assert "/etc/slurm/slurm.conf" in done.stdout


def test_no_to_the_question_changes_nothing(inventory: Path) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command("-i", str(inventory)), stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=environment(),
    )  # fmt: skip
    os.write(master, b"n\n")
    _, errors = process.communicate(timeout=120)
    os.close(master)
    os.close(slave)
    assert process.returncode == 2
    assert "Go on with 3 hosts?" in errors
    assert "not confirmed; nothing was changed" in errors


@pytest.mark.rehearsal
def test_hosts_that_refuse_the_connection_are_named_and_nothing_is_done(inventory: Path) -> None:
    done = run("-i", str(inventory), "--yes")
    assert done.returncode == 2
    assert "unreachable" in done.stdout
    assert "Connection refused" in done.stdout
    assert "changed=0, nothing was done" in done.stdout
    assert "not done: ctl1,gpu[1-2]" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.rehearsal
def test_json_says_the_same_for_a_program(inventory: Path) -> None:
    done = run("-i", str(inventory), "--yes", "--format", "json", "--limit", "gpu*")
    document = json.loads(done.stdout)
    assert (document["format"], document["cluster"]) == ("slurmwright/apply/1", "tiny")
    assert (document["exit_code"], done.returncode, document["changed"]) == (2, 2, 0)
    assert document["not_done"] == ["gpu1", "gpu2"]
    assert {host["state"] for host in document["hosts"]} == {"unreachable"}


def test_a_limit_that_names_nobody_is_an_error(inventory: Path) -> None:
    done = run("-i", str(inventory), "--yes", "--limit", "gpu7")
    assert done.returncode == 2
    assert done.stderr == "slurmwright: --limit gpu7 names no host or group of this cluster\n"


def test_stale_files_are_refused_before_any_host_is_asked(inventory: Path) -> None:
    file = inventory / "cluster.yaml"
    file.write_text(file.read_text().replace("name: train", "name: prod"))
    done = run("-i", str(inventory), "--yes")
    assert (done.returncode, done.stdout) == (2, "")
    assert "(etc/slurm/slurm.conf); run `slurmwright render -i" in done.stderr


def test_a_faulty_cluster_yaml_is_named_with_its_line(inventory: Path) -> None:
    file = inventory / "cluster.yaml"
    file.write_text(file.read_text().replace("slurm:", "slrum:"))
    done = run("-i", str(inventory), "--yes")
    assert done.returncode == 2
    assert f"{file}:2:1: unknown key 'slrum'; did you mean 'slurm'?" in done.stderr


def test_ansible_that_is_not_there_is_named_with_what_brings_it(inventory: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "bin"
    hidden.mkdir()
    (hidden / "python").symlink_to(sys.executable)
    script = "import sys; sys.executable = sys.argv.pop(1); from slurmwright.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", script, str(hidden / "python"), "apply", "-i", str(inventory)],
        capture_output=True, text=True, check=False, env=environment(PATH="/nonexistent"), timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "slurmwright: ansible-playbook is not installed; "
        "pip install 'slurmwright[ansible]' brings it (ansible-core)\n"
    )


@pytest.mark.rehearsal
def test_an_interrupt_is_unfinished_and_says_who_is_not_done(inventory: Path) -> None:
    reach(inventory, SILENT)
    process = subprocess.Popen(
        command("-i", str(inventory), "--yes"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(), stdin=subprocess.DEVNULL, preexec_fn=default_interrupt,
    )  # fmt: skip
    assert process.stderr is not None
    assert "Ask every host" in process.stderr.readline()
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "interrupted" in out
    assert "not done: ctl1,gpu[1-2]" in out
    assert "Traceback" not in errors


def default_interrupt() -> None:
    """A test run in the background inherits an ignored SIGINT."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
