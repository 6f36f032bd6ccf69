"""`--slurm-prefix`: a Slurm that was installed on the machine itself, below a folder of its own, rehearses.

The machine is a stand-in: a Debian root that becomes the root file system of the command (pivot_root), with
Slurm's daemons and commands moved to /opt/slurm, as `configure --prefix` puts them; none is left in the PATH.
Only slurmstepd stays, since Debian's slurmd looks for it where Debian installs it.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.run import Local
from slurmwright.rehearse.prefix import installed_slurm

REPO = Path(__file__).parents[2]
RootOf = Callable[[str], Path]
_SCRIPT = """
T={work}; mount -t tmpfs tmpfs $T; mkdir $T/up $T/work $T/root
mount -t overlay overlay -o lowerdir={lower},upperdir=$T/up,workdir=$T/work $T/root
cd $T/root
mkdir -p opt/slurm/sbin opt/slurm/bin old
for d in slurmctld slurmd slurmdbd; do
  [ ! -e usr/sbin/$d-wlm ] || {{ rm usr/sbin/$d; mv usr/sbin/$d-wlm usr/sbin/$d; }}
  mv usr/sbin/$d opt/slurm/sbin/
done
for c in sinfo squeue scontrol sbatch srun scancel sacct sacctmgr; do mv usr/bin/$c opt/slurm/bin/; done
for p in {python}; do
  [ -e ".$p" ] && continue
  if [ -d "$p" ]; then mkdir -p ".$p"; else mkdir -p "./$(dirname $p)"; : > ".$p"; fi
  mount --bind "$p" ".$p"
done
mount -t proc proc proc; mount --rbind /dev dev; mount -t sysfs sysfs sys
pivot_root . old
exec chroot . sh -euc 'umount -l /old; cd /
  for c in slurmd slurmctld scontrol; do if command -v $c; then exit 9; fi; done; exec "$@"' sh {command}
"""


def _python() -> list[str]:
    """What this Python needs in another root: itself, its modules, the checkout and its libraries."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    program = Path(sys.executable).resolve()
    loaded = [str(program), *map(str, (stdlib / "lib-dynload").glob("*.so"))]
    shown = subprocess.run(["ldd", *loaded], capture_output=True, text=True, check=False).stdout
    libraries = {word for word in shown.split() if word.startswith("/") and not word.endswith(":")}
    base = [] if sys.base_prefix == "/usr" else [sys.base_prefix]
    # The checkout first: its virtual environment may lie inside it, and what is there already is not mounted.
    return [str(REPO), sys.prefix, *base, str(stdlib), str(program), *sorted(libraries)]


@pytest.mark.rehearsal
def test_a_slurm_below_a_prefix_is_rehearsed(slurm_root: RootOf, tmp_path: Path) -> None:
    inventory = REPO / "inventories/lab-1node"
    argv = ["rehearse", "-i", str(inventory), "--slurm-prefix", "/opt/slurm", "--release", "26.05"]
    command = [sys.executable, "-m", "slurmwright.cli.main", *argv, "--format", "json"]
    script = _SCRIPT.format(
        work=shlex.quote(str(tmp_path)),
        lower=shlex.quote(str(slurm_root("26.05"))),
        python=shlex.join(_python()),
        command=shlex.join(command),
    )
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-euc", script],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": str(REPO / "src"), "HOME": "/root"},
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    result = json.loads(done.stdout[done.stdout.index("{") :])
    assert result["slurm_version"].startswith("26.05.")
    assert result["nodes"] == {"total": 1, "registered": 1, "idle": 1}
    assert result["findings"] == []


def test_a_folder_without_slurm_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(SlurmwrightError, match=r"sbin/slurmd does not exist; expected the folder that Slurm"):
        installed_slurm(tmp_path, Local())


def test_a_slurmd_that_prints_no_version_is_named(tmp_path: Path) -> None:
    (tmp_path / "sbin").mkdir()
    program = tmp_path / "sbin/slurmd"
    program.write_text("#!/bin/sh\necho cannot run >&2; exit 1\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(SlurmwrightError, match=r"slurmd -V prints no version: cannot run"):
        installed_slurm(tmp_path, Local())
