"""Every malformed topology file gets the verdict that NCCL's own code gave, at its line; real ones what they
are known to be."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.nccl_versions import NcclVersion, topology_facts
from slurmwright.topology.nccl_grammar import c_int
from slurmwright.topology.nccl_judge import Verdict, judge_topology

FOLDER = Path(__file__).parents[1] / "data" / "nccl" / "malformed"
NEWEST = NcclVersion.parse("2.30.7")
#: Where the fault was put into each file that some version refuses.
LINES = {
    1: 1, 2: 1, 3: 1, 4: 4, 5: 3, 9: 3, 10: 1, 12: 1, 14: 1, 15: 1, 16: 1, 17: 2, 18: 2, 20: 3, 21: 3,
    23: 9, 24: 3, 25: 3, 29: 4, 30: 4, 31: 4, 33: 6, 34: 6, 35: 19, 36: 6, 39: 5, 48: 3, 49: 2, 51: 30,
    52: 12, 53: 0, 54: 2, 55: 2, 57: 2, 59: 2, 62: 2, 70: 30, 71: 31, 74: 18, 78: 2,
}  # fmt: skip
#: What NCCL takes and reads otherwise, by file: the line of the first warning.
SILENT = {
    26: 3, 28: 3, 32: 17, 40: 3, 41: 4, 42: 10, 43: 11, 46: 11, 47: 11, 50: 2, 58: 2, 60: 2, 65: 19, 67: 11,
    68: 2, 69: 16, 72: 31, 73: 11, 75: 2, 76: 2, 80: 2,
}  # fmt: skip
#: The base lists NICs below elements that are not complete, which is told from 2.22 on (NC010).
TRAP = "doubled"


def expected() -> list[tuple[str, str, str]]:
    with (FOLDER / "EXPECTED.tsv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(row["file"], key, value) for row in rows for key, value in row.items() if key and key[0] == "2"]


def judge(name: str, version: str = "2.30.7") -> Verdict:
    return judge_topology((FOLDER / name).read_bytes(), NcclVersion.parse(version))


def worst(verdict: Verdict) -> list[int]:
    found = [m for m in verdict.mistakes if m.severity != "info" and m.kind != TRAP]
    return [mistake.line for mistake in found]


@pytest.mark.parametrize(("name", "version", "code"), expected())
def test_it_is_refused_where_nccl_refuses_it_or_crashes(name: str, version: str, code: str) -> None:
    assert code in ("0", "1", "139")
    assert judge(name, version).refused is (code != "0")


@pytest.mark.parametrize(("name", "version", "code"), [row for row in expected() if row[2] != "0"])
def test_a_refusal_names_its_line(name: str, version: str, code: str) -> None:
    number = int(name[:2])
    lines = [mistake.line for mistake in judge(name, version).mistakes if mistake.refuses]
    if number == 56:  # the 33rd child of one element, or the 256th element of the file
        assert lines == [{"2.18.6": 35, "2.29.7": 256, "2.30.7": 256}.get(version, 131)]
        return
    early = version in ("2.18.6", "2.21.5")  # then a GPU below a switch let its width be filled in
    assert lines[0] == (9 if number == 25 and early else LINES[number])


@pytest.mark.parametrize("name", sorted({row[0] for row in expected()}))
def test_what_is_taken_and_misread_is_told_with_its_line(name: str) -> None:
    verdict = judge(name)
    if verdict.refused or int(name[:2]) in (29, 30, 31, 62):
        return
    wanted = SILENT.get(int(name[:2]))
    assert worst(verdict)[:1] == ([wanted] if wanted else [])


def test_all_81_files_are_there() -> None:
    assert len(list(FOLDER.glob("*.xml"))) == 81
    assert len({row[0] for row in expected()}) == 81


def test_the_versions_of_the_catalogue_are_those_that_were_tried() -> None:
    assert sorted({row[1] for row in expected()}) == sorted(topology_facts()["tried"])


REAL = {
    "aws-g5.48xl-topo.xml": (False, set()),
    "aws-p4d-24xl-topo.xml": (False, set()),
    "aws-p4de-24xl-topo.xml": (False, set()),
    "azure-nc48v4-topo.xml": (False, set()),
    "azure-ncv4-topo.xml": (False, {("nvlink", 5), ("nvlink", 15), ("nvlink", 22), ("nvlink", 29)}),
    "azure-ndv2-topo.xml": (False, set()),
    "azure-ndv4-topo.xml": (False, set()),
    "azure-ndv4-fairseq-topo.xml": (False, {("cpu", 10), ("cpu", 18), ("cpu", 26)}),
    "graph-azure-ncv4.xml": (True, {("refused", 1)}),
    "oci-H100-topology-kubernetes.xml": (False, set()),
    "oci-H100-topology.xml": (False, {("speed", line) for line in (4, 24, 44, 64, 86, 106, 126, 146)}),
    "oci-topo-flattened.xml": (False, set()),
    "oci-topo-flattened-b4.xml": (False, {("cpu", 18)}),
    "superbench-ndv5-topo.xml": (False, set()),
}


@pytest.mark.parametrize("name", sorted(REAL))
@pytest.mark.parametrize("version", topology_facts()["tried"])
def test_published_files_are_judged_as_they_are_known_to_be(
    name: str, version: str, field_data: Path
) -> None:
    refused, wanted = REAL[name]
    data = (field_data / "captures" / "topo-xml" / name).read_bytes()
    verdict = judge_topology(data, NcclVersion.parse(version))
    assert verdict.refused is refused
    assert {(one.kind, one.line) for one in verdict.mistakes if one.severity != "info"} == wanted


TAGS = ["<system ", "<cpu ", "<pci", "<gpu>", "</pci>", "</cpu>", "</system>", "<!--", "-->", "/>", ">", "<"]
WORDS = ['version="1"', 'numaid="0"', "=", "'", '"', "x", "/", "&lt;", " ", "\n", "\t", "\0", "ÿ"]
PIECES = st.sampled_from((*TAGS, *WORDS))


@given(st.lists(PIECES, max_size=60).map("".join))
@settings(max_examples=100, deadline=None)
def test_any_text_gets_a_verdict(text: str) -> None:
    for version in ("2.18.6", "2.30.7"):
        verdict = judge_topology(text.encode("utf-8"), NcclVersion.parse(version))
        assert all(0 <= one.line <= text.count("\n") + 1 for one in verdict.mistakes)
        assert verdict.refused or verdict.system is not None


@given(st.binary(max_size=200))
@settings(max_examples=50, deadline=None)
def test_any_bytes_get_a_verdict(data: bytes) -> None:
    assert judge_topology(data, NEWEST).mistakes


@pytest.mark.parametrize(
    ("text", "number"), [("16", 16), ("0x10", 16), ("010", 8), ("-1", -1), ("4M", 4), ("true", 0), ("", 0)]
)
def test_numbers_are_read_as_strtol_reads_them(text: str, number: int) -> None:
    assert c_int(text) == number


def test_three_hundred_elements_inside_each_other_are_refused_and_do_not_end_us() -> None:
    text = '<system version="1"><cpu numaid="0">' + '<pci busid="0000:01:00.0">' * 300
    assert judge_topology(text.encode(), NEWEST).refused
    assert judge_topology(b"<a>" * 100_000, NEWEST).refused


@pytest.mark.parametrize(
    ("text", "version", "refused"),
    [
        ('<system\0 version\0x="1\0"><\0/system>', "2.30.7", False),  # C stops at a null byte
        ("<system version='1\"></system>", "2.25.1", False),
        ('<system version="1" a=\'x"></system>', "2.25.1", False),
        ("<system version=\"1\" a='x'></system>", "2.25.1", True),
        ("<system version=\"1\" a='x'></system>", "2.27.3", False),
    ],
)
def test_bytes_that_no_xml_has_are_read_as_nccls_own_reader_does(
    text: str, version: str, refused: bool
) -> None:
    assert judge_topology(text.encode(), NcclVersion.parse(version)).refused is refused


def test_as_deep_as_nccl_reads_is_read() -> None:
    inside = '<pci busid="0000:01:00.0">' * 250 + "</pci>" * 250
    text = f'<system version="1"><cpu numaid="0">{inside}</cpu></system>'
    assert not judge_topology(text.encode(), NEWEST).refused
