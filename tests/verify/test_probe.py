"""The two probes run for real: what they say of devices, limits and places, and that they say the same."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from slurmwright.verify.documents import read_documents
from slurmwright.verify.scripts import PROBE_PY, PROBE_SH, host_script, probe_script

Document = dict[str, Any]
SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]
WAYS = ["python", *SHELLS]
ENV = {
    "PATH": os.environ["PATH"],
    "CUDA_VISIBLE_DEVICES": "0,1",
    "SLURM_JOB_GPUS": 'a"b\\c',
    "SLURM_PROCID": "3",
}


def argv(way: str) -> list[str]:
    if way == "python":
        return [sys.executable, "-I", str(PROBE_PY)]
    return [way, *(["sh"] if way == "busybox" else []), str(PROBE_SH)]


def probe(way: str, *options: str, before: str = "") -> Document:
    """The document of one probe, in a private mount namespace where `before` has to prepare something."""
    command = [*argv(way), *options]
    if before:
        script = f'set -e\n{before}\nexec "$@"'
        command = ["unshare", "--mount", "sh", "-c", script, "sh", *command]
    done = subprocess.run(command, env=ENV, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    found: Document = json.loads(done.stdout)
    return found


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="device files are made by root")


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    """A /dev that has the files of GPUs, none of them a device."""
    (tmp_path / "nvidia-caps").mkdir()
    (tmp_path / "infiniband").mkdir()
    for name in ("nvidia0", "nvidia10", "nvidiactl", "nvidia-uvm", "nvidia-caps/nvidia-cap21", "null"):
        (tmp_path / name).write_text("")
    (tmp_path / "infiniband" / "uverbs0").write_text("")
    return tmp_path


#: Three GPUs on a file system of our own, where no driver answers to major 195.
DEVICES = "mount -t tmpfs none /mnt; mknod -m 666 /mnt/nvidia0 c 195 0; mknod -m 666 /mnt/nvidia1 c 195 1"


@needs_root
@pytest.mark.parametrize("way", WAYS)
def test_a_device_without_a_driver_is_enxio(way: str) -> None:
    seen = probe(way, "--dev", "/mnt", before=DEVICES)["devices"]
    assert seen == {
        "/mnt/nvidia0": {"open": "ENXIO", "mode": "crw-rw-rw-", "number": "195:0"},
        "/mnt/nvidia1": {"open": "ENXIO", "mode": "crw-rw-rw-", "number": "195:1"},
    }


@needs_root
@pytest.mark.parametrize("way", WAYS)
def test_a_refusal_by_file_mode_is_eacces(way: str) -> None:
    before = f'{DEVICES}; chmod 600 /mnt/nvidia1; set -- setpriv --reuid=65534 --clear-groups "$@"'
    seen = probe(way, "--dev", "/mnt", before=before)["devices"]
    assert (seen["/mnt/nvidia0"]["open"], seen["/mnt/nvidia1"]["open"]) == ("ENXIO", "EACCES")


@needs_root
@pytest.mark.parametrize("way", WAYS)
def test_a_file_system_that_forbids_devices_is_told_from_the_cgroup(way: str) -> None:
    before = DEVICES.replace("-t tmpfs none", "-t tmpfs -o nodev none")
    assert probe(way, "--dev", "/mnt", before=before)["devices"]["/mnt/nvidia0"]["open"] == "EACCES"


@pytest.mark.parametrize("way", WAYS)
def test_only_gpus_are_devices_and_the_rest_has_its_own_place(way: str, dev: Path) -> None:
    seen = probe(way, "--dev", str(dev))
    assert set(seen["devices"]) == {f"{dev}/nvidia0", f"{dev}/nvidia10"}
    assert set(seen["control"]) == {f"{dev}/nvidiactl", f"{dev}/nvidia-uvm"}
    assert set(seen["caps"]) == {f"{dev}/nvidia-caps/nvidia-cap21"}
    assert set(seen["infiniband"]) == {f"{dev}/infiniband/uverbs0"}
    assert seen["devices"][f"{dev}/nvidia0"]["open"] == "opened"


@pytest.mark.parametrize("way", WAYS)
def test_a_machine_without_gpus_has_no_devices(way: str, tmp_path: Path) -> None:
    assert probe(way, "--dev", str(tmp_path))["devices"] == {}


@pytest.mark.parametrize("shell", SHELLS)
def test_both_probes_print_the_same_document(shell: str, dev: Path) -> None:
    python, other = probe("python", "--dev", str(dev)), probe(shell, "--dev", str(dev))
    assert (python.pop("by"), other.pop("by")) == ("python", "sh")
    pages = python.pop("pages"), other.pop("pages")
    assert abs(python.pop("time") - other.pop("time")) < 60
    assert python == other
    assert (pages[0] is None) == (pages[1] is None)


@pytest.mark.parametrize("way", WAYS)
def test_touched_pages_are_counted_by_numa_node(way: str) -> None:
    seen = probe(way)
    if not Path("/proc/self/numa_maps").exists():
        assert seen["pages"] is None
        return
    assert sum(seen["pages"].values()) >= 2048
    assert set(seen["pages"]) <= {
        path.name[4:] for path in Path("/sys/devices/system/node").glob("node[0-9]*")
    }


@pytest.mark.parametrize("way", WAYS)
def test_cpus_are_those_of_the_process(way: str) -> None:
    one = min(os.sched_getaffinity(0))
    done = subprocess.run(
        ["taskset", "-c", str(one), *argv(way)], env=ENV, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["cpus"] == str(one)


@pytest.mark.parametrize("way", WAYS)
def test_variables_are_given_as_they_are_and_absent_ones_are_absent(way: str) -> None:
    seen = probe(way)["env"]
    assert seen == {"CUDA_VISIBLE_DEVICES": "0,1", "SLURM_JOB_GPUS": 'a"b\\c', "SLURM_PROCID": "3"}


@pytest.mark.parametrize("way", WAYS)
def test_a_limit_on_locked_memory_is_seen(way: str) -> None:
    done = subprocess.run(
        ["prlimit", "--memlock=65536:65536", *argv(way)], env=ENV, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["limits"]["memlock"] == ["65536", "65536"]


@pytest.mark.parametrize("way", WAYS)
def test_a_container_is_known_by_its_marks(way: str) -> None:
    done = subprocess.run(
        argv(way), env={**ENV, "ENROOT_ROOTFS": "/x"}, capture_output=True, text=True, check=True
    )
    assert "ENROOT_ROOTFS" in json.loads(done.stdout)["container"]


@pytest.mark.parametrize("way", WAYS)
def test_an_nvidia_smi_that_never_answers_is_given_up(way: str, tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\nexec sleep 100\n")
    program.chmod(0o755)
    env = {**ENV, "PATH": f"{tmp_path}:{ENV['PATH']}"}
    done = subprocess.run(
        [*argv(way), "--smi-limit", "1"], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout)["nvidia_smi"] is None


@pytest.mark.parametrize("way", WAYS)
def test_what_nvidia_smi_says_is_kept_line_by_line(way: str, tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '0, 00000000:1B:00.0, GPU-a'\necho '1, 00000000:43:00.0, GPU-b'\n")
    program.chmod(0o755)
    env = {**ENV, "PATH": f"{tmp_path}:{ENV['PATH']}"}
    done = subprocess.run(argv(way), env=env, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["nvidia_smi"] == [
        "0, 00000000:1B:00.0, GPU-a",
        "1, 00000000:43:00.0, GPU-b",
    ]


@pytest.mark.parametrize("way", WAYS)
def test_pieces_are_short_enough_to_stay_whole_and_make_the_document(way: str, dev: Path) -> None:
    done = subprocess.run(
        [*argv(way), "--lines", "one", "--dev", str(dev)], env=ENV, capture_output=True, text=True, check=True
    )
    assert max(map(len, done.stdout.splitlines())) < 1000
    (found,) = read_documents(done.stdout)
    assert found.tag == "one"
    assert set(found.data["devices"]) == {f"{dev}/nvidia0", f"{dev}/nvidia10"}


def run_script(text: str, path: str) -> Document:
    done = subprocess.run(
        ["/bin/sh", "-s", "--", "--lines", "x"],
        input=text,
        env={**ENV, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    (found,) = read_documents(done.stdout)
    return found.data


def test_the_script_that_is_sent_prefers_python() -> None:
    assert run_script(probe_script(), ENV["PATH"])["by"] == "python"


def test_the_script_that_is_sent_does_without_python(tmp_path: Path) -> None:
    for name in ("cat", "ls", "tr", "fold", "uname", "id", "date"):
        (tmp_path / name).symlink_to(shutil.which(name) or "/bin/false")
    assert run_script(probe_script(), str(tmp_path))["by"] == "sh"


@pytest.mark.parametrize("path", sorted(PROBE_PY.parent.glob("*.py")), ids=lambda path: path.name)
def test_what_runs_on_hosts_is_python_36(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 6))
    assert "capture_output" not in text
    assert "from __future__ import annotations" not in text


def test_the_shell_variant_has_no_fault_that_shellcheck_knows() -> None:
    program = shutil.which("shellcheck") or str(Path(sys.executable).with_name("shellcheck"))
    done = subprocess.run([program, str(PROBE_SH)], capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_the_host_probe_says_what_decides_about_devices(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text("ClusterName=x\nTaskPlugin=task/affinity\n")
    (tmp_path / "cgroup.conf").write_text("# TaskPlugin=no\nConstrainDevices=no\n")
    done = subprocess.run(
        ["/bin/sh", "-s", "--", "--lines", "h", "--config", str(tmp_path)],
        input=host_script(),
        env=ENV,
        capture_output=True,
        text=True,
        check=True,
    )
    (found,) = read_documents(done.stdout)
    files = found.data["configuration"]
    assert found.data["format"] == "slurmwright/host/1"
    assert files["slurm.conf"]["lines"] == [[2, "TaskPlugin=task/affinity"]]
    assert files["cgroup.conf"]["lines"] == [[2, "ConstrainDevices=no"]]
    assert files["cgroup.conf"]["path"] == f"{tmp_path}/cgroup.conf"


@pytest.mark.parametrize("way", WAYS)
def test_nvidia_smi_is_left_alone_where_it_gets_no_time(way: str, tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n")
    program.chmod(0o755)
    env = {**ENV, "PATH": f"{tmp_path}:{ENV['PATH']}"}
    subprocess.run([*argv(way), "--smi-limit", "0"], env=env, capture_output=True, check=True)
    assert not (tmp_path / "asked").exists()
