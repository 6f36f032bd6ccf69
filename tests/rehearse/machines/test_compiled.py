"""A guest's Python compiles a module of a zip file once, however many zip files bring it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from slurmwright.rehearse.machines import image

_GUEST = Path(image.__file__).parent / "guest"
_OURS = _GUEST / "compiled.py"
#: Python, with our file taken in, its folder elsewhere, and each compiling told.
_PROGRAM = """
import sys, zipimport
plain = zipimport._compile_source
def telling(path, *more):
    print("compiled")
    return plain(path, *more)
zipimport._compile_source = telling
exec(open({ours!r}).read().replace("/var/cache/guest-python", {folder!r}))
sys.path.insert(0, {zip!r})
import module
print(module.VALUE, module.__name__)
"""


def _said(zip_file: Path, folder: Path, source: str) -> list[str]:
    with zipfile.ZipFile(zip_file, "w") as file:
        file.writestr("module.py", source)
    program = _PROGRAM.format(ours=str(_OURS), folder=str(folder), zip=str(zip_file))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_same_text_in_another_zip_file_is_not_compiled_again(tmp_path: Path) -> None:
    assert _said(tmp_path / "a.zip", tmp_path, "VALUE = 1\n")[0] == "compiled"
    assert _said(tmp_path / "b.zip", tmp_path, "VALUE = 1\n")[0] == "1"


def test_another_text_in_the_same_place_is_compiled(tmp_path: Path) -> None:
    _said(tmp_path / "a.zip", tmp_path, "VALUE = 1\n")
    said = _said(tmp_path / "a.zip", tmp_path, "VALUE = 2\n")
    assert (said[0], said[-2]) == ("compiled", "2")


def test_what_was_half_written_is_compiled_anew(tmp_path: Path) -> None:
    _said(tmp_path / "a.zip", tmp_path / ".", "VALUE = 1\n")
    (kept,) = (path for path in tmp_path.iterdir() if path.suffix != ".zip")
    kept.write_bytes(kept.read_bytes()[:-5])
    assert _said(tmp_path / "a.zip", tmp_path, "VALUE = 1\n")[0] == "compiled"


def test_the_folder_of_the_image_is_the_one_that_is_used() -> None:
    assert f'FOLDER = "/{image.COMPILED}"' in _OURS.read_text(encoding="utf-8")


def test_a_folder_that_is_not_there_only_costs_time(tmp_path: Path) -> None:
    assert _said(tmp_path / "a.zip", tmp_path / "none", "VALUE = 1\n")[-2] == "1"
