"""Roots are built once, wholly or not at all; the tests marked `rehearsal` build and ask the real ones."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.core.release import SERIES, Release
from slurmwright.core.run import Local, Result
from slurmwright.rehearse import mmdebstrap, roots


class Builder:
    """A runner that pretends to be mmdebstrap: makes a root whose slurmd prints `version`."""

    def __init__(self, version: str = "24.11.5", fails: str = "") -> None:
        self.version = version
        self.fails = fails
        self.builds: list[tuple[str, ...]] = []
        self.during: Callable[[Path], None] = lambda _: None

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> Result:
        if argv[0] == "rm":
            shutil.rmtree(argv[-1])
            return Result(tuple(argv), 0, "", "")
        if argv[0] == "chroot":
            return Result(tuple(argv), 0, f"slurm-wlm {self.version}\n", "")
        folder = Path(argv[-1])
        self.builds.append(tuple(argv))
        (folder / "usr").mkdir()
        self.during(folder)
        return Result(tuple(argv), int(bool(self.fails)), "", self.fails)


@pytest.fixture(autouse=True)
def _as_root_with_keys(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.node.get_closest_marker("rehearsal"):
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(mmdebstrap, "KEYRINGS", (Path(__file__),))


def quiet(_: str) -> None:
    pass


def kept(cache: Path) -> list[str]:
    return sorted(p.name for p in (cache / "roots").iterdir() if p.is_dir())


def test_a_root_is_built_from_the_suite_that_ships_the_series(tmp_path: Path) -> None:
    builder = Builder()
    root = roots.ensure_root("24.11", tmp_path, builder, quiet)
    assert root.is_dir()
    assert builder.builds[0][-2] == "trixie"
    assert kept(tmp_path) == [root.name]


def test_only_debians_own_keys_verify_a_root(tmp_path: Path) -> None:
    builder = Builder()
    roots.ensure_root("24.11", tmp_path, builder, quiet)
    assert f"--keyring={__file__}" in builder.builds[0]
    assert '--aptopt=Dir::Etc::TrustedParts "/dev/null"' in builder.builds[0]


def test_a_root_can_be_entered_by_users_other_than_root(tmp_path: Path) -> None:
    root = roots.ensure_root("24.11", tmp_path, Builder(), quiet)
    assert root.stat().st_mode & 0o777 == 0o755


def test_sid_is_taken_from_a_mirror_that_lags_behind(tmp_path: Path) -> None:
    builder = Builder("26.05.5")
    roots.ensure_root("26.05", tmp_path, builder, quiet)
    assert '--aptopt=Acquire::Check-Valid-Until "false"' in builder.builds[0]


def test_a_root_that_exists_is_not_built_again(tmp_path: Path) -> None:
    builder = Builder()
    said: list[str] = []
    first = roots.ensure_root("24.11", tmp_path, builder, said.append)
    second = roots.ensure_root("24.11", tmp_path, builder, said.append)
    assert first == second
    assert len(builder.builds) == 1
    assert said == ["building the Debian trixie root for Slurm 24.11 (once; about 200 MB)"]


def test_a_failed_build_leaves_nothing_and_names_the_reason(tmp_path: Path) -> None:
    with pytest.raises(SlurmwrightError, match="No space left on device"):
        roots.ensure_root("24.11", tmp_path, Builder(fails="E: No space left on device"), quiet)
    assert kept(tmp_path) == []


def test_an_interrupted_build_leaves_nothing(tmp_path: Path) -> None:
    builder = Builder()

    def interrupt(_: Path) -> None:
        raise KeyboardInterrupt

    builder.during = interrupt
    with pytest.raises(KeyboardInterrupt):
        roots.ensure_root("24.11", tmp_path, builder, quiet)
    assert kept(tmp_path) == []


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    name = roots.root_name("24.11", roots.SUITES["24.11"])
    (tmp_path / "roots" / f".{name}.building-x" / "usr").mkdir(parents=True)
    root = roots.ensure_root("24.11", tmp_path, Builder(), quiet)
    assert kept(tmp_path) == [root.name]


def test_a_build_of_another_root_is_left_alone(tmp_path: Path) -> None:
    other = f".{roots.root_name('22.05', roots.SUITES['22.05'])}.building-x"
    (tmp_path / "roots" / other).mkdir(parents=True)
    roots.ensure_root("24.11", tmp_path, Builder(), quiet)
    assert other in kept(tmp_path)


def test_two_runs_build_the_same_root_once(tmp_path: Path) -> None:
    builder = Builder()
    started, second_waits = threading.Event(), threading.Event()
    found: list[Path] = []

    def wait_for_the_second(_: Path) -> None:
        started.set()
        assert second_waits.wait(30)

    builder.during = wait_for_the_second
    first = threading.Thread(
        target=lambda: found.append(roots.ensure_root("24.11", tmp_path, builder, quiet))
    )
    first.start()
    assert started.wait(30)
    found.append(roots.ensure_root("24.11", tmp_path, builder, lambda _: second_waits.set()))
    first.join(30)
    assert len(builder.builds) == 1
    assert found[0] == found[1]


def test_a_suite_that_moved_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SlurmwrightError, match=r"sid ships Slurm 26\.11\.0 now, expected 26\.05"):
        roots.ensure_root("26.05", tmp_path, Builder("26.11.0"), quiet)
    assert kept(tmp_path) == []


def test_an_ordinary_user_is_told_to_use_sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SlurmwrightError, match="with sudo"):
        roots.ensure_root("24.11", tmp_path, Builder(), quiet)


def test_an_ordinary_user_gets_a_root_that_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = roots.ensure_root("24.11", tmp_path, Builder(), quiet)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert roots.ensure_root("24.11", tmp_path, Builder(), quiet) == built


def test_a_cache_that_cannot_be_written_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SlurmwrightError, match="SLURMWRIGHT_CACHE"):
        roots.ensure_root("24.11", tmp_path / "file", Builder(), quiet)


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("23.02", "22.05 and 24.11"),
        ("24.05", "22.05 and 24.11"),
        ("25.05", "24.11 and 26.05"),
        ("25.11.2", "24.11 and 26.05"),
    ],
)
def test_the_nearest_series_are_the_next_older_and_newer(wanted: str, near: str) -> None:
    assert roots.nearest_series(Release.parse(wanted)) == near


def test_a_series_without_root_names_the_nearest_and_the_other_way(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"25\.05; nearest are 24\.11 and 26\.05.*--slurm-prefix"):
        roots.ensure_root("25.05", tmp_path, Builder(), quiet)


def test_a_series_that_slurm_never_had_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"24\.12"):
        roots.ensure_root("24.12", tmp_path, Builder(), quiet)


def test_every_suite_carries_a_series_that_the_package_knows() -> None:
    assert set(roots.SUITES) <= set(SERIES)


@pytest.mark.parametrize("change", [{"name": "forky"}, {"packages": ("slurmd",)}, {"apt_options": ("x",)}])
def test_a_changed_recipe_is_another_root(change: dict[str, str]) -> None:
    suite = roots.SUITES["24.11"]
    assert roots.root_name("24.11", replace(suite, **change)) != roots.root_name("24.11", suite)


@pytest.mark.parametrize(
    ("user", "env", "folder"),
    [
        (0, {}, "/var/cache/slurmwright"),
        (0, {"XDG_CACHE_HOME": "/home/a/.cache"}, "/var/cache/slurmwright"),
        (0, {"SLURMWRIGHT_CACHE": "/scratch/sw"}, "/scratch/sw"),
        (1000, {"SLURMWRIGHT_CACHE": "", "XDG_CACHE_HOME": "/home/a/c"}, "/home/a/c/slurmwright"),
        (1000, {}, f"{Path.home()}/.cache/slurmwright"),
    ],
)
def test_the_cache_lies_where_the_user_may_write(
    user: int, env: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert roots.cache_folder(env) == Path(folder)


def test_a_folder_without_slurm_is_named(tmp_path: Path) -> None:
    with pytest.raises(SlurmwrightError, match=r"no Slurm answers there.*remove the folder"):
        roots.slurm_version(tmp_path, Builder("none"))


def test_the_command_line_reports_an_unknown_series_without_a_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert roots.main(["21.08"]) == 2
    assert "error: Slurm release '21.08' is not known" in capsys.readouterr().err


@pytest.mark.rehearsal
@pytest.mark.parametrize("series", roots.SUITES)
def test_the_real_root_holds_what_a_rehearsal_starts(series: str, slurm_root: Callable[[str], Path]) -> None:
    root = slurm_root(series)
    assert roots.slurm_version(root).startswith(series)
    for program in ("slurmctld", "slurmd", "srun", "munged", "ip", "lstopo-no-graphics"):
        # Asked from inside: Debian's alternatives are absolute links.
        assert Local().run(["chroot", str(root), "sh", "-c", f"command -v {program}"]).ok, program
    assert not list((root / "var/cache/apt/archives").glob("*.deb"))
