"""The scripts of the nodes, run by real shells; nvidia-smi and scontrol are stand-ins.

Devices are links to /dev/null, which is a character device as well. A rehearsal runs the same scripts under a
real slurmd (tests/rehearse/test_node_scripts.py).
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from slurmwright.core.bundle import Bundle
from slurmwright.model.cluster import Cluster
from slurmwright.render import render

Make = Callable[..., Cluster]
SHELLS = ("dash", "bash")
UID = str(os.getuid() or 4711)

#: Stands in for scontrol: answers `show node` with $STATE and writes down every other call.
SCONTROL = """\
#!/bin/sh
if [ "$1" = show ]; then
    [ -z "$BROKEN" ] || exit 1
    echo "NodeName=$3 Arch=x86_64 CoresPerSocket=56 State=${STATE:-IDLE} ThreadsPerCore=2"
else
    echo "$*" >>"$CALLS"
fi
"""
#: Stands in for nvidia-smi: lists $GPUS GPUs, or does what $SMI says.
NVIDIA_SMI = """\
#!/bin/sh
[ -z "$SMI" ] || eval "$SMI"
number=0
while [ "$number" -lt "$GPUS" ]; do
    echo "GPU $number: NVIDIA H100 80GB HBM3 (UUID: GPU-$number)"
    echo "  MIG 1g.10gb     Device  0: (UUID: MIG-$number)"
    number=$((number + 1))
done
"""


class Node:
    """A folder that plays a node with the GPUs 0 to 3, and the scripts of the bundle in it."""

    def __init__(self, folder: Path, bundle: Bundle, shell: str) -> None:
        self.folder, self.shell = folder, shutil.which(shell) or shell
        self.base = folder / "scratch"
        for name in ("dev", "run", "proc", "shm", "bin", "etc", "scratch"):
            (folder / name).mkdir()
        for file in bundle.files:
            if file.path.startswith("/etc/slurm/"):
                self.write(f"etc/{file.path.rpartition('/')[2]}", self.moved(file.text))
        self.write("bin/scontrol", SCONTROL, 0o755)
        self.write("bin/nvidia-smi", NVIDIA_SMI, 0o755)
        self.plug(0, 1, 2, 3)

    def moved(self, text: str) -> str:
        """The script with the folders of a real node replaced by those of this one, and less patience."""
        for old, new in (
            ("dev=/dev\n", f"dev={self.folder}/dev\n"),
            ("run=/run/slurmwright\n", f"run={self.folder}/run/slurmwright\n"),
            ("proc=/proc\n", f"proc={self.folder}/proc\n"),
            ("shm=/dev/shm\n", f"shm={self.folder}/shm\n"),
            ("/run/enroot", f"{self.folder}/run/enroot"),
            ("/local/scratch", str(self.base)),
            ("limit=25\n", "limit=3\n"),
            ("limit=60\n", "limit=1\n"),
        ):
            text = text.replace(old, new)
        return text

    def write(self, name: str, text: str, mode: int = 0o644) -> None:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)

    def patch(self, script: str, old: str, new: str) -> None:
        text = (self.folder / "etc" / script).read_text(encoding="utf-8")
        assert old in text
        self.write(f"etc/{script}", text.replace(old, new))

    def plug(self, *minors: int) -> None:
        """The GPUs whose device files are there."""
        for path in (self.folder / "dev").iterdir():
            path.unlink()
        for minor in minors:
            (self.folder / f"dev/nvidia{minor}").symlink_to("/dev/null")

    def run(self, script: str, **env: str) -> subprocess.CompletedProcess[str]:
        calls = {"CALLS": f"{self.folder}/calls", "GPUS": "4", "SLURMD_NODENAME": "n1"}
        # The scripts put the system's folders first, so a real nvidia-smi would be asked on a GPU machine.
        return subprocess.run(
            [self.shell, f"{self.folder}/etc/{script}"],
            env={"PATH": f"{self.folder}/bin", **calls, **env},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def check(self, **env: str) -> str:
        """What the health check told slurmctld; it always ends well."""
        assert self.run("health_check.sh", **env).returncode == 0
        calls = self.folder / "calls"
        return calls.read_text(encoding="utf-8") if calls.exists() else ""

    def job(self, script: str, job: str, uid: str = UID) -> None:
        """Prolog or epilog of a job; neither ever fails or prints what the job would see."""
        result = self.run(script, SLURM_JOB_ID=job, SLURM_JOB_UID=uid)
        assert (result.returncode, result.stdout) == (0, "")

    def tree(self) -> set[str]:
        """Everything below the folders that jobs use."""
        roots = ("scratch", "run/enroot", "run/slurmwright/jobs")
        found = (path for root in roots for path in (self.folder / root).rglob("*"))
        return {str(path.relative_to(self.folder)) for path in found}


@pytest.fixture(scope="module")
def bundle(make: Make) -> Bundle:
    more = "scratch: {base: /local/scratch}\ncontainers: {runtime: enroot-pyxis}"
    return render(make(more=more), {})


@pytest.fixture(params=SHELLS)
def node(request: pytest.FixtureRequest, bundle: Bundle, tmp_path: Path) -> Node:
    if shutil.which(request.param) is None:
        pytest.skip(f"no {request.param} here")
    if any(Path(folder, "nvidia-smi").exists() for folder in ("/usr/bin", "/bin", "/usr/sbin", "/sbin")):
        pytest.skip("the real nvidia-smi of this machine would be asked")
    return Node(tmp_path, bundle, request.param)


@pytest.mark.parametrize(
    "more",
    [
        "",
        "scratch: {base: /local/scratch}",
        "scratch: {base: /local/scratch, private_tmp: true}",
        "containers: {runtime: enroot-pyxis}",
        "scratch: {base: /local/scratch}\ncontainers: {runtime: enroot-pyxis}",
    ],
)
def test_every_script_is_clean_for_shellcheck(make: Make, tmp_path: Path, more: str) -> None:
    program = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if program is None:
        pytest.skip("no shellcheck here; the developers' tools bring it")
    scripts = [file for file in render(make(more=more), {}).files if file.text.startswith("#!/bin/sh\n")]
    assert len(scripts) == 4
    for file in scripts:
        (tmp_path / Path(file.path).name).write_text(file.text, encoding="utf-8")
    found = subprocess.run([program, *tmp_path.iterdir()], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


DRAIN = "update NodeName=n1 State=DRAIN Reason=health check: "


class TestHealthCheck:
    def test_a_healthy_node_is_left_alone(self, node: Node) -> None:
        assert node.check() == ""

    def test_a_missing_device_drains_with_its_name(self, node: Node) -> None:
        node.plug(0, 2, 3)
        assert node.check() == f"{DRAIN}no GPU device {node.folder}/dev/nvidia1\n"

    def test_a_file_in_the_place_of_a_device_is_no_device(self, node: Node) -> None:
        node.plug(0, 1, 2)
        node.write("dev/nvidia3", "")
        assert "no GPU device" in node.check()

    def test_a_gpu_that_the_driver_lost_drains(self, node: Node) -> None:
        assert node.check(GPUS="3") == f"{DRAIN}nvidia-smi lists 3 of 4 GPUs\n"

    def test_a_gpu_more_than_promised_is_no_fault(self, node: Node) -> None:
        assert node.check(GPUS="5") == ""

    def test_a_failing_nvidia_smi_drains_with_its_own_words(self, node: Node) -> None:
        said = "echo 'Unable to determine the device handle for GPU0000:3B:00.0: \"Unknown\" `x`'; exit 15"
        reason = (
            "nvidia-smi failed with 15: Unable to determine the device handle for GPU0000:3B:00.0: Unknown x"
        )
        assert node.check(SMI=said) == f"{DRAIN}{reason}\n"

    def test_a_hanging_nvidia_smi_does_not_hang_the_check(self, node: Node) -> None:
        begin = time.monotonic()
        assert node.check(SMI="exec sleep 30") == f"{DRAIN}nvidia-smi did not answer within 3 s\n"
        assert time.monotonic() - begin < 29

    def test_one_that_no_signal_ends_is_left_behind_and_not_started_again(self, node: Node) -> None:
        # The process of a lost GPU sleeps in the kernel and outlives SIGKILL: here the signal does nothing.
        node.patch("health_check.sh", "timeout -s KILL", "timeout -s CONT")
        node.patch("health_check.sh", "sleep 0.2", "sleep 0.02")
        smi = f"echo $$ >>{node.folder}/started; exec sleep 300"
        assert node.check(SMI=smi) == f"{DRAIN}nvidia-smi hangs\n"
        assert node.check(SMI=smi).splitlines()[1:] == [f"{DRAIN}nvidia-smi of an earlier check still hangs"]
        (number,) = (node.folder / "started").read_text().split()
        os.kill(int(number), signal.SIGKILL)

    def test_a_second_check_finds_the_same(self, node: Node) -> None:
        assert node.check() == ""
        assert node.check(GPUS="2") == f"{DRAIN}nvidia-smi lists 2 of 4 GPUs\n"

    @pytest.mark.parametrize("state", ["IDLE+DRAIN", "DOWN+DRAIN", "MIXED+DRAIN"])
    def test_a_node_that_is_drained_keeps_its_reason(self, node: Node, state: str) -> None:
        node.plug()
        assert node.check(STATE=state) == ""

    def test_a_node_without_gpus_is_not_checked(self, node: Node) -> None:
        node.plug()
        node.write("etc/node_gpus.conf", 'gpu_minors=""\n')
        assert node.check(GPUS="0") == ""


class TestHealthCheckOnItsOwnTrouble:
    """What is wrong with the script or its surroundings says nothing about a GPU."""

    def test_a_run_folder_that_cannot_be_written_drains_nothing(self, node: Node) -> None:
        node.write("run/slurmwright", "in the way\n")
        assert node.check(GPUS="0") == ""

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    def test_a_full_disk_drains_nothing(self, node: Node) -> None:
        (node.folder / "run/slurmwright").mkdir()
        (node.folder / "run/slurmwright/smi.test").symlink_to("/dev/full")
        assert node.check(GPUS="0") == ""

    @pytest.mark.parametrize("smi", ["kill -KILL $$", "kill -TERM $$", "exit 127", "exit 126"])
    def test_an_nvidia_smi_that_somebody_ended_drains_nothing(self, node: Node, smi: str) -> None:
        assert node.check(SMI=smi) == ""

    @pytest.mark.parametrize("text", ['gpu_minors="0 1\n', "gpu_minors=(0 1\n", "", "\0\1\2"])
    def test_a_broken_list_of_gpus_drains_nothing(self, node: Node, text: str) -> None:
        node.plug()
        node.write("etc/node_gpus.conf", text)
        node.run("health_check.sh")
        assert not (node.folder / "calls").exists()

    def test_a_list_that_is_missing_drains_nothing(self, node: Node) -> None:
        node.plug()
        (node.folder / "etc/node_gpus.conf").unlink()
        assert node.check() == ""

    def test_a_slurmctld_that_does_not_answer_is_asked_no_more(self, node: Node) -> None:
        node.plug()
        assert node.check(BROKEN="1") == ""

    def test_the_number_of_an_ended_check_may_be_another_process_by_now(self, node: Node) -> None:
        (node.folder / "run/slurmwright").mkdir()
        node.write("run/slurmwright/smi.pid", f"{os.getppid()}\n")
        assert node.check() == ""


class TestProlog:
    def test_the_folders_of_a_job_are_its_users_alone(self, node: Node) -> None:
        node.job("prolog.sh", "7")
        for name in ("scratch/job-7", f"scratch/enroot/cache/user-{UID}", f"run/enroot/user-{UID}"):
            found = (node.folder / name).stat()
            assert (str(found.st_uid), stat.S_IMODE(found.st_mode)) == (UID, 0o700)

    def test_a_second_run_changes_nothing(self, node: Node) -> None:
        node.job("prolog.sh", "7")
        before = node.tree()
        (node.folder / "scratch/job-7/data").write_text("x")
        node.job("prolog.sh", "7")
        assert node.tree() == before | {"scratch/job-7/data"}

    @pytest.mark.parametrize(("job", "uid"), [("", UID), ("7", ""), ("../../x", UID), ("7", "1; rm")])
    def test_without_a_job_it_makes_nothing(self, node: Node, job: str, uid: str) -> None:
        node.job("prolog.sh", job, uid)
        assert node.tree() == set()

    def test_a_disk_that_is_not_there_does_not_drain(self, node: Node) -> None:
        node.base.rmdir()
        node.write("scratch", "in the way\n")
        node.job("prolog.sh", "7")


class TestEpilog:
    def test_the_last_job_of_a_user_takes_all_but_the_cache(self, node: Node) -> None:
        node.job("prolog.sh", "7")
        for name in (
            "scratch/job-7/deep/data",
            f"scratch/enroot/data/user-{UID}/c/etc/passwd",
            f"scratch/enroot/cache/user-{UID}/image.sqsh",
            "shm/nccl-left",
        ):
            path = node.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
            os.chown(path, int(UID), -1)
        node.job("epilog.sh", "7")
        left = {name for name in node.tree() if not name.endswith("lock")}
        kept = f"scratch/enroot/cache/user-{UID}"
        assert left == {
            *("scratch/enroot", "scratch/enroot/cache", "scratch/enroot/data", "scratch/enroot/temp"),
            *(kept, f"{kept}/image.sqsh"),
        }
        assert not list((node.folder / "shm").iterdir()) or int(UID) < 1000

    def test_a_user_with_another_job_keeps_what_is_shared(self, node: Node) -> None:
        node.job("prolog.sh", "7")
        node.job("prolog.sh", "8")
        node.job("epilog.sh", "7")
        assert f"scratch/enroot/data/user-{UID}" in node.tree()
        assert {"scratch/job-7", "scratch/job-8"} & node.tree() == {"scratch/job-8"}
        node.job("epilog.sh", "8")
        assert f"scratch/enroot/data/user-{UID}" not in node.tree()

    def test_shared_memory_stays_while_the_user_is_on_the_node(self, node: Node) -> None:
        node.job("prolog.sh", "7")
        for name in ("shm/left", "proc/4242"):
            node.write(name, "x")
            os.chown(node.folder / name, int(UID), -1)
        node.job("epilog.sh", "7")
        assert (node.folder / "shm/left").exists()

    def test_shared_memory_of_others_is_not_touched(self, node: Node) -> None:
        node.job("prolog.sh", "7", uid=str(int(UID) + 1))
        node.write("shm/other", "x")
        os.chown(node.folder / "shm/other", int(UID), -1)
        node.job("epilog.sh", "7", uid=str(int(UID) + 1))
        assert (node.folder / "shm/other").exists()

    def test_a_second_run_and_one_without_a_prolog_end_well(self, node: Node) -> None:
        node.job("epilog.sh", "9")
        node.job("prolog.sh", "7")
        node.job("epilog.sh", "7")
        before = node.tree()
        node.job("epilog.sh", "7")
        assert node.tree() == before

    @pytest.mark.parametrize(("job", "uid"), [("", UID), ("7", ""), ("*", UID), ("7", "*")])
    def test_without_a_job_it_removes_nothing(self, node: Node, job: str, uid: str) -> None:
        node.job("prolog.sh", "7")
        before = node.tree()
        node.job("epilog.sh", job, uid)
        assert node.tree() == before

    def test_a_link_out_of_the_jobs_folder_is_not_followed(self, node: Node) -> None:
        node.write("precious", "x")
        node.job("prolog.sh", "7")
        (node.folder / "scratch/job-7/link").symlink_to(node.folder)
        node.job("epilog.sh", "7")
        assert (node.folder / "precious").exists()


class TestWaitForGpus:
    def test_it_ends_at_once_when_all_are_there(self, node: Node) -> None:
        begin = time.monotonic()
        assert node.run("wait_for_gpus.sh").returncode == 0
        assert time.monotonic() - begin < 29

    def test_it_never_fails_and_ends_when_a_device_stays_away(self, node: Node) -> None:
        node.plug(0)
        assert node.run("wait_for_gpus.sh").returncode == 0

    def test_it_waits_for_a_device_that_comes_late(self, node: Node) -> None:
        node.plug(0, 1, 2)
        node.patch("wait_for_gpus.sh", "limit=1\n", "limit=50\n")
        late = f"sleep 1; ln -s /dev/null {node.folder}/dev/nvidia3"
        with subprocess.Popen(["sh", "-c", late]):
            assert node.run("wait_for_gpus.sh").returncode == 0
            assert (node.folder / "dev/nvidia3").exists()

    def test_device_files_are_made_where_no_daemon_makes_them(self, node: Node) -> None:
        node.write("bin/nvidia-modprobe", f'#!/bin/sh\necho "$*" >{node.folder}/made\n', 0o755)
        assert node.run("wait_for_gpus.sh").returncode == 0
        assert (node.folder / "made").read_text() == "-u -c 0 -c 1 -c 2 -c 3\n"
