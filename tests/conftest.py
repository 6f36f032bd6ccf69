"""Fixtures for things a machine may lack, and the rule when a test may be skipped for want of them.

On a developer's machine a test that cannot run is skipped with its reason. It fails instead where the thing
was promised: recorded captures when SLURMWRIGHT_FIELD_DATA is set, a rehearsal when CI=true.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
import yaml

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.run import Local
from slurmwright.rehearse import roots

FIELD_DATA = "SLURMWRIGHT_FIELD_DATA"


def pytest_configure() -> None:
    folder = os.environ.get(FIELD_DATA)
    if folder and not Path(folder).is_dir():
        raise pytest.UsageError(f"{FIELD_DATA} is {folder}, which is not a folder; correct or unset it")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("rehearsal") and os.geteuid() != 0:
        _cannot("a rehearsal needs root: make test, or sudo .venv/bin/python -m pytest")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    promised = os.environ.get(FIELD_DATA) and "field_data" in getattr(item, "fixturenames", ())
    if promised and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped although {FIELD_DATA} is set: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def field_data() -> Path:
    """The folder of recorded captures, which are not part of the repository."""
    folder = os.environ.get(FIELD_DATA)
    if not folder:
        pytest.skip(f"{FIELD_DATA} names no folder of recorded captures")
    return Path(folder)


@pytest.fixture(scope="session")
def slurm_root() -> Callable[[str], Path]:
    """A function that gives the Debian root with the real Slurm of a series."""

    def root(series: str) -> Path:
        try:
            return roots.ensure_root(series, roots.cache_folder(), Local(), print)
        except SlurmwrightError as error:
            _cannot(str(error))
            raise

    return root


@pytest.fixture
def other_style(tmp_path: Path) -> Callable[[str], tuple[Path, str]]:
    """A function that gives a folder like /etc/slurm and its release, by its name in data/imported."""
    data = Path(__file__).parent / "data"

    def copy(name: str) -> tuple[Path, str]:
        entry = yaml.safe_load((data / "imported/index.yaml").read_text(encoding="utf-8"))[name]
        origin = data / "configurations" / entry["of"] if "of" in entry else data / "imported" / name
        target = tmp_path / "etc-slurm"
        shutil.copytree(origin, target)
        for file, edits in entry.get("edits", {}).items():
            text = (target / file).read_text(encoding="utf-8")
            for old, new in edits:
                assert old in text, f"{name}/{file} holds no {old!r}"
                text = text.replace(old, new)
            (target / file).write_text(text, encoding="utf-8")
        return target, entry["release"]

    return copy


def _cannot(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
