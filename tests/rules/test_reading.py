"""What PATH may be, and where its files lie on a host."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from slurmwright.core.errors import InputError
from slurmwright.rules import reading
from slurmwright.rules.reading import read_path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "inventories" / "mixed"


def lay_out(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_files_at_the_top_are_those_of_etc_slurm(tmp_path: Path) -> None:
    lay_out(tmp_path, slurm_DOT_conf="ClusterName=x\n", etc__enroot__enroot_DOT_conf="A b\n")
    (seen,) = read_path(tmp_path).hosts
    assert set(seen.files) == {"/etc/slurm/slurm.conf", "/etc/enroot/enroot.conf"}
    assert seen.files["/etc/slurm/slurm.conf"].shown == str(tmp_path / "slurm.conf")
    assert seen.whole


def test_outputs_are_captures(tmp_path: Path) -> None:
    lay_out(tmp_path, slurm_DOT_conf="", facts__ls_DOT_txt="x", slurmd_DOT_log="y", inventory_DOT_yaml="a: 1")
    (seen,) = read_path(tmp_path).hosts
    assert set(seen.captures) == {"facts/ls.txt", "slurmd.log", "inventory.yaml"}
    assert seen.inventory == {"a": 1}


def test_folders_of_hosts_share_the_files_beside_them(tmp_path: Path) -> None:
    lay_out(tmp_path, slurm_DOT_conf="A=1\n", n1__etc__slurm__gres_DOT_conf="", n2__slurm_DOT_conf="B=1\n")
    first, second = read_path(tmp_path).hosts
    assert (first.host, set(first.files)) == ("n1", {"/etc/slurm/slurm.conf", "/etc/slurm/gres.conf"})
    assert second.files["/etc/slurm/slurm.conf"].text == "B=1\n"


def test_slurm_may_live_elsewhere(tmp_path: Path) -> None:
    lay_out(tmp_path, opt__slurm__etc__slurm_DOT_conf="ClusterName=x\n")
    (seen,) = read_path(tmp_path).hosts
    assert seen.config.value("ClusterName") == "x"


def test_one_file_comes_with_what_it_includes(tmp_path: Path) -> None:
    lay_out(tmp_path, slurm_DOT_conf="Include nodes.conf\n", nodes_DOT_conf="NodeName=n1\n", gres_DOT_conf="")
    (seen,) = read_path(tmp_path / "slurm.conf").hosts
    assert set(seen.files) == {"/etc/slurm/slurm.conf", "/etc/slurm/nodes.conf"}
    assert not seen.whole


@pytest.mark.parametrize(
    ("name", "text", "path"),
    [
        ("my-gres.conf", "Name=gpu\n", "/etc/slurm/gres.conf"),
        ("production.conf", "PartitionName=a\n", "/etc/slurm/slurm.conf"),
        ("site.conf", "ENROOT_DATA_PATH /x\n", "/etc/enroot/enroot.conf"),
        ("nccl.conf", "", "/etc/nccl.conf"),
    ],
)
def test_one_file_is_known_by_its_name_or_content(tmp_path: Path, name: str, text: str, path: str) -> None:
    (tmp_path / name).write_text(text)
    (seen,) = read_path(tmp_path / name).hosts
    assert set(seen.files) == {path}


def test_an_inventory_is_rendered() -> None:
    found = read_path(EXAMPLE)
    assert found.release == "24.11"
    assert len(found.hosts[0].config.partitions) == 4
    assert read_path(EXAMPLE / "cluster.yaml").hosts[0].files == found.hosts[0].files


def test_a_bundle_knows_owners_and_modes() -> None:
    (seen, *_) = read_path(EXAMPLE / "rendered").hosts
    file = seen.files["/etc/slurm/prolog.sh"]
    assert (file.owner, file.mode) == ("root", 0o755)


def test_a_copy_tells_nothing_of_modes(tmp_path: Path) -> None:
    (seen,) = read_path(lay_out(tmp_path, slurm_DOT_conf="")).hosts
    assert seen.files["/etc/slurm/slurm.conf"].mode is None


def test_the_release_is_read_from_a_captured_version(tmp_path: Path) -> None:
    lay_out(tmp_path, slurm_DOT_conf="", slurmd__V="", **{"slurmd_-V_DOT_txt": "slurm-wlm 23.11.4\n"})
    assert read_path(tmp_path).release == "23.11.4"


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir(), os.mkfifo])
def test_what_cannot_be_judged_is_an_error(tmp_path: Path, make: object) -> None:
    path = tmp_path / "x"
    make(path)  # type: ignore[operator]
    with pytest.raises(InputError) as error:
        read_path(path)
    assert str(path) in str(error.value)


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    lay_out(tmp_path, gres_DOT_conf="")
    os.mkfifo(tmp_path / "slurm.conf")
    (tmp_path / "around").symlink_to(tmp_path)
    (tmp_path / "nowhere.conf").symlink_to(tmp_path / "gone")
    (seen,) = read_path(tmp_path).hosts
    assert set(seen.files) == {"/etc/slurm/gres.conf"}
    assert [why for _, why in seen.unread] == ["is a link to nothing"]


def test_a_file_that_is_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, gres_DOT_conf="", slurm_DOT_conf="")
    os.truncate(tmp_path / "slurm.conf", 1 << 30)
    (seen,) = read_path(tmp_path).hosts
    assert seen.unread == (
        (
            str(tmp_path / "slurm.conf"),
            f"is {1 << 30} bytes long; files of more than 8000000 bytes are not read",
        ),
    )
    with pytest.raises(InputError):
        read_path(tmp_path / "slurm.conf")
    monkeypatch.setattr(reading, "MAX_FILES", 0)
    with pytest.raises(InputError):
        read_path(tmp_path)


def test_other_encodings_keep_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_bytes(b"ClusterName=caf\xe9\n")
    (seen,) = read_path(tmp_path).hosts
    assert (
        seen.files["/etc/slurm/slurm.conf"].text.encode(errors="surrogateescape") == b"ClusterName=caf\xe9\n"
    )


def test_yaml_with_aliases_is_not_expanded(tmp_path: Path) -> None:
    lay_out(tmp_path, slurm_DOT_conf="", inventory_DOT_yaml="a: &a [x]\nb: [*a, *a]\n")
    (seen,) = read_path(tmp_path).hosts
    assert seen.inventory == {}
