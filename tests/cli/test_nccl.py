"""`slurmwright nccl` as a person or a program calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slurmwright.cli.nccl import nccl
from slurmwright.core.errors import InputError

MALFORMED = Path(__file__).parents[1] / "data" / "nccl" / "malformed"


def call(*args: str, text: str | None = None) -> Result:
    return CliRunner().invoke(nccl, list(args), input=text, catch_exceptions=False)


def test_a_refused_file_ends_with_1_and_a_document_that_says_so() -> None:
    done = call("topo", "--check", str(MALFORMED / "52-mismatched-close.xml"), "--format", "json")
    document = json.loads(done.stdout)
    assert done.exit_code == 1
    assert set(document) == {"format", "nccl", "refused", "findings"}
    assert (document["format"], document["nccl"]) == ("slurmwright/nccl-topo-check/1", "2.30.7")
    assert document["refused"] is True
    assert [(one["rule"], one["line"]) for one in document["findings"]] == [("NC005", 12)]
    assert document["findings"][0]["file"] == str(MALFORMED / "52-mismatched-close.xml")


def test_the_version_decides() -> None:
    quotes = str(MALFORMED / "09-single-quotes.xml")
    old = json.loads(call("topo", "--check", quotes, "--nccl", "2.25.1", "--format", "json").stdout)
    new = json.loads(call("topo", "--check", quotes, "--nccl", "2.27.7", "--format", "json").stdout)
    assert (old["refused"], new["refused"]) == (True, False)


def test_a_byte_order_mark_and_an_empty_file_are_judged_not_cut_off() -> None:
    for name in ("10-bom.xml", "53-empty.xml"):
        done = call("topo", "--check", str(MALFORMED / name), "--format", "json")
        assert json.loads(done.stdout)["refused"] is True


def test_a_good_file_ends_with_0(tmp_path: Path) -> None:
    file = tmp_path / "topo"
    file.write_text('<system version="1">\n  <cpu numaid="0"/>\n</system>\n', encoding="utf-8")
    done = call("topo", "--check", str(file))
    assert (done.exit_code, done.stdout) == (0, f"{file} is taken by NCCL 2.30.7: nothing found.\n")


def test_a_file_that_is_not_there_and_a_version_that_is_none_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        call("topo", "--check", str(tmp_path / "gone.xml"))
    with pytest.raises(InputError, match=r"expected such as 2\.27\.7"):
        call("topo", "--check", str(MALFORMED / "00-base.xml"), "--nccl", "3.1")
    with pytest.raises(InputError, match=r"older than 2\.18"):
        call("topo", "--check", str(MALFORMED / "00-base.xml"), "--nccl", "2.12.12")


def test_settings_from_standard_input_are_judged() -> None:
    done = call("lint", "--fabric", "infiniband", "--format", "json", text="NCCL_IB_GID_INDEX=3\n")
    document = json.loads(done.stdout)
    assert done.exit_code == 1
    assert [(one["rule"], one["file"], one["line"]) for one in document["findings"]] == [
        ("NC018", "standard input", 1)
    ]


def test_right_settings_end_with_0_and_a_lost_file_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "nccl.conf"
    file.write_text("NCCL_IB_HCA==mlx5_0\n", encoding="utf-8")
    assert call("lint", str(file)).exit_code == 0
    with pytest.raises(InputError, match="is not there"):
        call("lint", str(tmp_path / "gone.conf"))


def test_a_node_is_drawn_with_its_ways() -> None:
    done = call("topo", "--type", "dgx-h100")
    assert done.exit_code == 0
    assert "GPU0 0000:1b:00.0, 18 NVLinks" in done.stdout
    assert "NVL 370.8" in done.stdout


def test_the_file_of_a_type_is_taken_when_it_is_checked(tmp_path: Path) -> None:
    written = call("topo", "--type", "dgx-h100", "--format", "xml")
    file = tmp_path / "topo.xml"
    file.write_text(written.stdout, encoding="utf-8")
    done = call("topo", "--check", str(file), "--type", "dgx-h100", "--nccl", "2.21.5")
    assert (done.exit_code, "nothing found" in done.stdout) == (0, True)


def test_the_types_of_a_cluster_are_drawn_as_a_document_and_one_of_them_as_a_file() -> None:
    mixed = str(Path(__file__).parents[2] / "inventories" / "dgx-h100-64n")
    document = json.loads(call("topo", "-i", mixed, "--format", "json").stdout)
    assert document["format"] == "slurmwright/nccl-topo/1"
    assert "dgx-h100" in [one["type"] for one in document["types"]]
    assert call("topo", "-i", mixed, "--type", "dgx-h100", "--format", "svg").stdout.startswith("<svg ")
    with pytest.raises(InputError, match="is not in this cluster"):
        call("topo", "-i", mixed, "--type", "dgx-b200", "--format", "xml")


def test_topo_without_anything_to_draw_says_what_to_give() -> None:
    with pytest.raises(InputError, match="give -i DIR, --type TYPE or --check FILE"):
        call("topo")
    with pytest.raises(InputError, match="pci of GPU"):
        call("topo", "--type", "dgx-b300", "--format", "xml")


def test_settings_are_judged_for_a_cluster() -> None:
    example = str(Path(__file__).parents[2] / "inventories" / "dgx-h100-64n")
    done = call("lint", "-i", example, "--format", "json", text="NCCL_IB_TC=106\nNCCL_IB_HCA==mlx5_1\n")
    found = {(one["rule"], one["severity"]) for one in json.loads(done.stdout)["findings"]}
    assert {("NC018", "info"), ("NC021", "error")} <= found
