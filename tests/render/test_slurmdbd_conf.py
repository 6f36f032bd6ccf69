"""slurmdbd.conf: who gets it, what it holds, and that no secret does."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.core.bundle import BundleFile
from slurmwright.core.errors import InputError
from slurmwright.model.load import load_cluster
from slurmwright.render.bundle import render
from slurmwright.render.slurmdbd_conf import PASSWORD

_YAML = """
name: pod1
slurm: {{release: "{release}"}}
control: {{controllers: [ctl1], database: {database}}}
nodes: [{{hosts: "a[1-2]", type: dgx-a100-80gb}}]
partitions: [{{name: all, nodes: all}}]
{more}
"""


def _file(folder: Path, more: str = "", release: str = "24.11", database: str = "db1") -> BundleFile | None:
    text = _YAML.format(more=more, release=release, database=database)
    (folder / "cluster.yaml").write_text(text, encoding="utf-8")
    return render(load_cluster(folder), {}).find("/etc/slurm/slurmdbd.conf")


def _lines(file: BundleFile | None) -> list[str]:
    assert file is not None
    return file.text.splitlines()


@pytest.mark.parametrize("release", ["22.05", "24.11", "26.05"])
def test_it_goes_to_the_database_host_alone_and_only_slurms_user_reads_it(
    tmp_path: Path, release: str
) -> None:
    file = _file(tmp_path, release=release)
    assert file is not None
    assert (file.hosts, file.owner, file.mode) == ("db1", "slurm", "0600")


def test_the_password_is_a_placeholder(tmp_path: Path) -> None:
    assert f"StoragePass={PASSWORD}" in _lines(_file(tmp_path))


def test_a_script_that_prints_the_password_takes_its_place(tmp_path: Path) -> None:
    more = "overrides: {slurmdbd.conf: {StoragePassScript: /etc/slurm/dbd-pass.sh}}"
    lines = _lines(_file(tmp_path, more, "25.11"))
    assert "StoragePassScript=/etc/slurm/dbd-pass.sh" in lines
    assert not any(line.startswith("StoragePass=") for line in lines)


def test_an_address_of_the_database_is_said(tmp_path: Path) -> None:
    lines = _lines(_file(tmp_path, database="{host: db1, address: 10.0.0.5}"))
    assert {"DbdHost=db1", "DbdAddr=10.0.0.5"} <= set(lines)


def test_without_accounting_there_is_none(tmp_path: Path) -> None:
    assert _file(tmp_path, "accounting: false") is None


def test_overrides_change_what_is_purged(tmp_path: Path) -> None:
    lines = _lines(_file(tmp_path, "overrides: {slurmdbd.conf: {PurgeJobAfter: null, DebugLevel: debug}}"))
    assert not any(line.startswith("PurgeJobAfter") for line in lines)
    assert "DebugLevel=debug" in lines


@pytest.mark.parametrize(
    "more",
    [
        "overrides: {slurmdbd.conf: {StoragePass: hunter2}}",
        "overrides: {slurmdbd.conf: {DbdHost: other}}",
        "overrides: {slurmdbd.conf: {StoragePassScript: /x}}",
        "accounting: {storage_password: hunter2}",
        "accounting: {storage_password: {file: relative}}",
        'accounting: {storage_password: {vault: "a b"}}',
    ],
)
def test_secrets_and_what_cluster_yaml_already_says_are_refused(tmp_path: Path, more: str) -> None:
    with pytest.raises(InputError):
        _file(tmp_path, more)
