"""No input, however broken, gives an exception: it is judged, or it is one clear error."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import SlurmwrightError
from slurmwright.report.findings_view import draw_findings, findings_json, junit_text, sarif_text
from slurmwright.rules.fixes import diff, fixed_texts
from slurmwright.rules.lint import lint
from slurmwright.rules.reading import read_path
from slurmwright.rules.registry import all_rules, rules_by_name

from .case_files import BASE

NAMES = (
    *("slurm.conf", "gres.conf", "cgroup.conf", "topology.conf", "topology.yaml", "slurmdbd.conf"),
    *("plugstack.conf", "job_container.conf", "inventory.yaml", "topo.xml", "facts/ls.txt", "stat.txt"),
    *(
        "df.txt",
        "findmnt.txt",
        "lscpu.txt",
        "ip_-br_addr.txt",
        "slurmd_-V.txt",
        "slurmd_-G.txt",
        "sysctl.txt",
    ),
    *("etc/enroot/enroot.conf", "etc/nccl.conf", ".config/enroot/.credentials", "n1/etc/slurm/gres.conf"),
    *("etc/systemd/system/slurmd.service", "facts/squashfuse.txt", "bundle.json", "cluster.yaml"),
)
PIECES = st.sampled_from(
    (
        *(
            "NodeName=",
            "n[1-3]",
            "[",
            "]",
            "-",
            ",",
            "=",
            '"',
            "\\",
            "\n",
            " ",
            "#",
            "DEFAULT",
            "Gres=gpu:",
            ":",
        ),
        *(
            "PartitionName=a Nodes=ALL ",
            "Name=gpu ",
            "File=/dev/nvidia[0-",
            "Cores=0-",
            "Include slurm.conf\n",
        ),
        *("Include a%c.conf\n", "ClusterName=x\n", "CPUs=", "99999999999999999999", "-1", "[1-999999999999]"),
        *(
            "SwitchName=s Switches=s Nodes=",
            "BlockName=b ",
            "BlockSizes=0,",
            "Links=-1,,",
            "\x00",
            "\ufeff",
            "é",
        ),
        *(
            "GresTypes=gpu\n",
            "AutoDetect=nvml\n",
            "Prolog=/etc/slurm/*\n",
            "- topology: a\n  tree: ",
            "{",
            "}",
            "&a",
        ),
        *(
            "slurmwright: allow GR003 because of it",
            "TRESBillingWeights=",
            "# ",
            "ENROOT_RUNTIME_PATH ",
            "$(id -u)",
        ),
        *(
            "NCCL_IB_HCA=",
            '<cpu numaid="0" affinity="',
            ",".join("f" * 9),
            "NUMA node0 CPU(s): 0-",
            "machine ",
        ),
        *(
            "StateSaveLocation=/",
            "SelectType=select/linear\n",
            "TaskPlugin=,",
            "DefMemPerCPU=",
            "OverSubscribe=",
        ),
    )
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=40).map(lambda pieces: "".join(pieces).encode()),
    st.binary(max_size=200),
    st.sampled_from([text.encode() for text in BASE.values()]),
)


def judge_everything(folder: Path, release: str | None) -> None:
    judged = lint(read_path(folder), release)
    findings = [one.finding for one in judged]
    json.dumps(findings_json(findings)).encode()
    junit_text(findings, all_rules()).encode()
    sarif_text(findings, all_rules()).encode()
    draw_findings(findings, rules_by_name(), "x")
    diff(fixed_texts(judged), {}).encode()


@settings(max_examples=150, deadline=None)
@given(
    files=st.dictionaries(st.sampled_from(NAMES), TEXTS, min_size=1, max_size=6),
    release=st.sampled_from([None, "21.08", "22.05", "24.11.5", "26.05"]),
)
def test_any_files_in_a_folder(files: dict[str, bytes], release: str | None) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, data in files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        with contextlib.suppress(SlurmwrightError):
            judge_everything(folder, release)


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(NAMES), data=TEXTS)
def test_any_single_file(name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(data)
        with contextlib.suppress(SlurmwrightError):
            judge_everything(path, None)


@pytest.mark.parametrize(
    "text",
    [
        "NodeName=" + "x" * 200_000,
        "NodeName=" + "[" * 50_000,
        "NodeName=" + "a," * 50_000,
        "NodeName=" + "[1-2]" * 40,
        "NodeName=a Gres=" + "gpu:1," * 30_000,
        "NodeName=a " + "b=c " * 30_000,
        "\\\n" * 50_000,
        "Include slurm.conf\n" * 3_000,
        "a" + " " * 200_000,
        'a="' * 50_000,
        "PartitionName=a Nodes=b\n" * 3_000,
        "# slurmwright: allow GR003\n" * 3_000,
        "NodeName=n[1-50000] CPUs=8\n" * 10,
    ],
    ids=lambda text: text[:24].encode("unicode_escape").decode(),
)
def test_much_of_one_thing(tmp_path: Path, text: str) -> None:
    (tmp_path / "slurm.conf").write_text(text, encoding="utf-8")
    judge_everything(tmp_path, "24.11")


def test_a_program_in_the_place_of_a_file(tmp_path: Path) -> None:
    data = Path("/bin/sh").read_bytes()
    for name in ("slurm.conf", "gres.conf", "topology.yaml", "inventory.yaml", "plugstack.conf"):
        (tmp_path / name).write_bytes(data[:200_000])
    judge_everything(tmp_path, None)
