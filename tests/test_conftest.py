"""When may a test be skipped? Each case runs pytest on one small test with our conftest beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

USES_FIELD_DATA = "def test_it(field_data):\n    assert field_data.is_dir()\n"
SKIPS_WITH_FIELD_DATA = "import pytest\ndef test_it(field_data):\n    pytest.skip('no file for me')\n"
XFAILS_WITH_FIELD_DATA = "import pytest\n@pytest.mark.xfail\ndef test_it(field_data):\n    assert False\n"
REHEARSES = """
import os
os.geteuid = lambda: 1000
import pytest
@pytest.mark.rehearsal
def test_it():
    pass
"""
NEEDS_A_ROOT = """
import pytest
from slurmwright.core.errors import SlurmwrightError
from slurmwright.rehearse import roots
def fail(*_):
    raise SlurmwrightError('the mirror is away')
roots.ensure_root = fail
def test_it(slurm_root):
    slurm_root('24.11')
"""


@pytest.mark.parametrize(
    ("test", "environment", "outcome"),
    [
        (USES_FIELD_DATA, {}, "1 skipped"),
        (USES_FIELD_DATA, {"SLURMWRIGHT_FIELD_DATA": "."}, "1 passed"),
        (USES_FIELD_DATA, {"SLURMWRIGHT_FIELD_DATA": "./nowhere"}, "is not a folder"),
        (SKIPS_WITH_FIELD_DATA, {}, "1 skipped"),
        (SKIPS_WITH_FIELD_DATA, {"SLURMWRIGHT_FIELD_DATA": "."}, "1 failed"),
        (XFAILS_WITH_FIELD_DATA, {"SLURMWRIGHT_FIELD_DATA": "."}, "1 xfailed"),
        (REHEARSES, {}, "1 skipped"),
        (REHEARSES, {"CI": "true"}, "a rehearsal needs root"),
        (NEEDS_A_ROOT, {}, "1 skipped"),
        (NEEDS_A_ROOT, {"CI": "true"}, "the mirror is away"),
    ],
)
def test_a_test_is_skipped_only_where_nothing_was_promised(
    test: str, environment: dict[str, str], outcome: str, tmp_path: Path
) -> None:
    (tmp_path / "conftest.py").write_text(Path(__file__).with_name("conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = rehearsal\n")
    (tmp_path / "test_it.py").write_text(test)
    clean = {k: v for k, v in os.environ.items() if k not in ("CI", "SLURMWRIGHT_FIELD_DATA")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--no-header"],
        cwd=tmp_path,
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert outcome in said
    assert (done.returncode == 0) == (outcome in ("1 passed", "1 skipped", "1 xfailed")), said
