"""The module that reads for which Slurm a SPANK plugin was built."""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spank_bytes import elf

from slurmwright.core import spank_plugin

pytest.importorskip("ansible", reason="ansible-core is not installed")


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("spank_plugin", "roles/pyxis/library/spank_plugin.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


spank = load()


@pytest.mark.rehearsal
@pytest.mark.parametrize(("series", "wanted"), [("22.05", (22, 5)), ("24.11", (24, 11)), ("26.05", (26, 5))])
def test_the_plugins_of_a_real_slurm_name_its_release(
    slurm_root: Callable[[str], Path], series: str, wanted: tuple[int, int]
) -> None:
    found = sorted(slurm_root(series).rglob("slurm-wlm/select_cons_tres.so"))
    assert spank.plugin_release(found[0].read_bytes())[:2] == wanted


def test_major_minor_and_patch_lie_in_one_number_each_a_byte() -> None:
    assert spank.plugin_release(elf(0x180B05)) == (24, 11, 5)


def test_the_number_is_found_through_the_segment_not_at_its_address() -> None:
    assert spank.plugin_release(elf(0x160508, base=0x40_0000)) == (22, 5, 8)


def test_a_library_that_is_no_slurm_plugin_is_named_so() -> None:
    with pytest.raises(ValueError, match="no Slurm plugin: it has no symbol plugin_version"):
        spank.plugin_release(elf(1, symbol="plugin_versions"))


@given(st.binary(max_size=400) | st.integers(0, 300).map(lambda end: elf(0x180B05)[:end]))
def test_any_other_bytes_are_refused_with_a_reason(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        spank.plugin_release(data)


@given(
    st.builds(elf, st.integers(0, 0xFFFFFFFF), base=st.integers(1, 1 << 40))
    | st.integers(0, 420).map(lambda end: elf(0x180B05)[:end])
    | st.binary(max_size=400)
)
def test_the_role_takes_and_reads_what_the_package_does(data: bytes) -> None:
    def told(read: Callable[[bytes], tuple[int, int, int]]) -> tuple[int, int, int] | None:
        try:
            return read(data)
        except ValueError:
            return None

    assert told(spank.plugin_release) == told(spank_plugin.plugin_release)


def test_a_package_of_debian_is_looked_into(tmp_path: Path) -> None:
    if shutil.which("dpkg-deb") is None:
        pytest.skip("no dpkg-deb")
    root = tmp_path / "root"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "DEBIAN/control").write_text(
        "Package: pyxis\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n"
    )
    (root / "usr/lib/slurm").mkdir(parents=True)
    (root / "usr/lib/slurm/spank_pyxis.so").write_bytes(elf(0x190503))
    subprocess.run(["dpkg-deb", "--build", root, tmp_path / "pyxis.deb"], check=True, capture_output=True)
    member, data = spank.plugin_bytes(str(tmp_path / "pyxis.deb"), "spank_pyxis.so")
    assert (member, spank.plugin_release(data)) == ("/usr/lib/slurm/spank_pyxis.so", (25, 5, 3))


def test_the_archive_of_an_rpm_is_looked_into() -> None:
    def entry(name: str, data: bytes) -> bytes:
        words = [0, 0o100644, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % word for word in words) + name.encode() + b"\0"
        return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)

    archive = entry("./usr/share/doc/pyxis", b"text") + entry("./usr/lib64/slurm/spank_pyxis.so", b"plugin")
    archive += entry("TRAILER!!!", b"")
    assert spank._from_cpio(archive, "spank_pyxis.so") == ("/usr/lib64/slurm/spank_pyxis.so", b"plugin")
    with pytest.raises(ValueError, match=r"holds no spank_other\.so"):
        spank._from_cpio(archive, "spank_other.so")


def test_a_package_without_the_plugin_is_named_so() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("./usr/bin/x"))
    with pytest.raises(ValueError, match=r"holds no spank_pyxis\.so"):
        spank._from_tar(out.getvalue(), "spank_pyxis.so")
