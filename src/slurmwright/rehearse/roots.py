"""Turns a Slurm series into the folder of a small Debian system that ships it, built once and kept.

Debian carries Slurm as `slurm-wlm`, one series for each suite; the versions in SUITES are what `slurmd -V`
printed in each of them in November 2026. sid moves on: a root that turns out to hold another series than the
wanted one is refused, never rehearsed. Nothing in a root is configured; the engine brings all files.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.core.release import SERIES, Release
from slurmwright.core.run import Local, Runner
from slurmwright.rehearse.mmdebstrap import explain_failure, find_keyring

Progress = Callable[[str], None]

#: Raise this when the way a root is built changes, so that roots of the old way are not used any more.
RECIPE = 1
BUILD_LIMIT_S = 1800

#: mariadb-server-core is the server without service, user and data folder: nothing starts by itself.
_PACKAGES = (
    *("slurmctld", "slurmd", "slurm-client", "munge", "iproute2"),
    *("slurmdbd", "mariadb-server-core"),
)
_LEFT_OUT = ("doc", "info", "locale", "man")
_LOCAL = Local()


@dataclass(frozen=True)
class Suite:
    """A Debian suite and what goes into a root of it."""

    name: str
    packages: tuple[str, ...]
    apt_options: tuple[str, ...] = ()


#: Slurm series → the Debian suite that ships it, oldest first.
SUITES: Mapping[str, Suite] = {
    "22.05": Suite("bookworm", (*_PACKAGES, "hwloc-nox")),
    "24.11": Suite("trixie", (*_PACKAGES, "hwloc-nox")),
    # A mirror of sid that lags behind serves a release file that has expired.
    "26.05": Suite("sid", (*_PACKAGES, "hwloc"), ('Acquire::Check-Valid-Until "false"',)),
}


def nearest_series(wanted: Release) -> str:
    """The series with a root next below and next above `wanted`, as words of a message."""
    place = SERIES.index(wanted.series)
    below = [s for s in SUITES if SERIES.index(s) < place][-1:]
    above = [s for s in SUITES if SERIES.index(s) > place][:1]
    return " and ".join(below + above)


def cache_folder(env: Mapping[str, str] = os.environ) -> Path:
    """Where roots are kept: SLURMWRIGHT_CACHE, for root /var/cache, else the user's own cache folder."""
    if env.get("SLURMWRIGHT_CACHE"):
        return Path(env["SLURMWRIGHT_CACHE"]).absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/slurmwright")
    base = Path(env["XDG_CACHE_HOME"]) if env.get("XDG_CACHE_HOME") else Path.home() / ".cache"
    return base / "slurmwright"


def root_name(series: str, suite: Suite) -> str:
    """The name of a root's folder: it changes with anything that changes what is in the root."""
    recipe = json.dumps([RECIPE, _LEFT_OUT, asdict(suite)], sort_keys=True)
    return f"{series}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"


def ensure_root(series: str, cache: Path, runner: Runner, progress: Progress) -> Path:
    """The root that ships `series`, built if it is not in `cache` yet; a folder that exists is whole.

    Raises InputError when Debian has no such series and SlurmwrightError when the root cannot be built.
    """
    if series not in SUITES:
        near = nearest_series(Release.parse(series))
        raise InputError.of(
            f"no Debian root for Slurm {series}; nearest are {near}: rehearse with --release of one of them "
            "or give the folder of an installed Slurm with --slurm-prefix"
        )
    suite = SUITES[series]
    target = cache / "roots" / root_name(series, suite)
    if target.is_dir():
        return target
    if os.geteuid() != 0:
        raise SlurmwrightError(
            f"the Slurm {series} root is not in {cache} yet and only root can build it; "
            "run the same command with sudo"
        )
    try:
        with locked(target, progress):
            if not target.is_dir():
                progress(f"building the Debian {suite.name} root for Slurm {series} (once; about 200 MB)")
                _build(series, suite, target, runner)
    except OSError as error:
        raise SlurmwrightError(
            f"the Slurm {series} root cannot be kept in {cache} ({error}); "
            "name another folder in SLURMWRIGHT_CACHE"
        ) from error
    return target


def slurm_version(root: Path, runner: Runner = _LOCAL) -> str:
    """The version that the root's own slurmd prints, such as `24.11.5`; needs root."""
    result = runner.run(["chroot", str(root), "slurmd", "-V"])
    found = re.search(r"\d\d\.\d\d\.\d+", result.out)
    if not result.ok or not found:
        raise SlurmwrightError(
            f"{root}: no Slurm answers there ({result.last_line}); remove the folder, it is built again"
        )
    return found[0]


@contextmanager
def locked(target: Path, progress: Progress) -> Iterator[None]:
    """Hold the lock of one folder, so that two runs build it once; the kernel frees it with the process."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / f".{target.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("another run is building the same; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(series: str, suite: Suite, target: Path, runner: Runner) -> None:
    """Build beside `target` and rename at the end: a build that is cut short leaves no root."""
    prefix = f".{target.name}.building-"
    sweep(target.parent, prefix, runner)
    stage = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
    try:
        stage.chmod(0o755)
        keyring = find_keyring()
        result = runner.run(mmdebstrap_command(suite, suite.packages, stage, keyring), limit_s=BUILD_LIMIT_S)
        if not result.ok:
            raise SlurmwrightError(explain_failure(suite.name, keyring, result))
        version = slurm_version(stage, runner)
        if not version.startswith(series + "."):
            raise SlurmwrightError(
                f"Debian {suite.name} ships Slurm {version} now, expected {series}; "
                f"give the folder of an installed Slurm {series} with --slurm-prefix"
            )
        stage.rename(target)
    finally:
        sweep(target.parent, prefix, runner)


def mmdebstrap_command(suite: Suite, packages: Sequence[str], folder: Path, keyring: Path) -> list[str]:
    """The command that builds a system of `suite` with these packages in `folder`."""
    return [
        "mmdebstrap",
        "--mode=root",
        "--variant=minbase",
        # This keyring and no other: what else this machine's apt trusts has no say about Debian.
        "--skip=check/signed-by",
        f"--keyring={keyring}",
        '--aptopt=Dir::Etc::TrustedParts "/dev/null"',
        f"--include={','.join(packages)}",
        *(f"--aptopt={option}" for option in suite.apt_options),
        *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in _LEFT_OUT),
        suite.name,
        str(folder),
    ]


def sweep(folder: Path, prefix: str, runner: Runner) -> None:
    """Remove unfinished builds: ours, and those of killed runs, since who holds the lock is alone.

    Never steps into a /dev or /proc that a killed build may have left mounted.
    """
    for stage in sorted(folder.glob(f"{prefix}*")):
        runner.run(["rm", "-rf", "--one-file-system", "--", str(stage)], limit_s=BUILD_LIMIT_S)


def main(arguments: Sequence[str]) -> int:
    """`python -m slurmwright.rehearse.roots 24.11 22.05`: build these roots, print their folders."""
    try:
        for series in arguments:
            root = ensure_root(series, cache_folder(), _LOCAL, lambda line: print(line, file=sys.stderr))
            print(f"{series} {slurm_version(root)} {root}")
    except SlurmwrightError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("stopped; nothing half-built is kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
