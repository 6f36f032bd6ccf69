"""`nccl lint`: a case for each wrong name, each rule about settings, each verdict; none for what is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.nccl_variables import variables, written_reasons, wrong_names
from slurmwright.catalogue.node_types import load_node_type
from slurmwright.core.finding import Finding, exit_code
from slurmwright.model.load import load_cluster
from slurmwright.nccl.settings import lint_settings


def lint(
    text: str, fabric: str | None = None, version: str | None = None, name: str = "nccl.conf", type_: str = ""
) -> tuple[Finding, ...]:
    return lint_settings([(name, text)], fabric, version, load_node_type(type_) if type_ else None)


def told(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(one.rule, one.severity.value) for one in findings]


@pytest.mark.parametrize("name", sorted(wrong_names()))
def test_a_wrong_name_is_told_with_what_is_meant(name: str) -> None:
    (finding,) = lint(f"NCCL_DEBUG=WARN\n{name}=1\n")
    assert (finding.rule, finding.line) == ("NC012", 2)
    assert name in finding.message
    assert wrong_names()[name] in finding.message


def test_a_name_of_the_source_is_never_unknown() -> None:
    found = lint("".join(f"{name}=\n" for name in variables()), version="2.30.7")
    assert [one for one in found if one.rule == "NC012"] == []


#: Each rule of the collected facts with settings that break it: id, settings, fabric, NCCL, rule, severity.
RULES = [
    ("gid-on-ib", "NCCL_IB_GID_INDEX=3", "infiniband", None, "NC018", "warning"),
    (
        "gid-overrides-auto",
        "NCCL_IB_GID_INDEX=3\nNCCL_IB_ADDR_FAMILY=AF_INET",
        "roce",
        None,
        "NC019",
        "warning",
    ),
    ("gid-fixed-roce", "NCCL_IB_GID_INDEX=3\nNCCL_IB_TC=106", "roce", "2.21.5", "NC019", "info"),
    ("tc-on-ib", "NCCL_IB_TC=106", "infiniband", None, "NC018", "info"),
    ("fifo-tc-on-ib", "NCCL_IB_FIFO_TC=106", "infiniband", None, "NC018", "info"),
    ("tc-missing-roce", "NCCL_IB_HCA==mlx5_0", "roce", None, "NC020", "warning"),
    ("tc-not-multiple", "NCCL_IB_TC=300", "roce", None, "NC016", "error"),
    ("hca-prefix", "NCCL_IB_HCA=mlx5_1", "infiniband", None, "NC021", "warning"),
    ("ifname-rdma-name", "NCCL_SOCKET_IFNAME=mlx5_0", None, None, "NC022", "error"),
    ("ifname-ib0", "NCCL_SOCKET_IFNAME=ib0", None, None, "NC022", "info"),
    ("ib-disabled", "NCCL_IB_DISABLE=1", "infiniband", None, "NC023", "error"),
    ("ib-vars-on-tcp", "NCCL_IB_TIMEOUT=22", "tcp", None, "NC018", "warning"),
    ("socket-vars-on-rdma", "NCCL_SOCKET_NTHREADS=4", "infiniband", None, "NC018", "info"),
    ("socket-product", "NCCL_SOCKET_NTHREADS=16\nNCCL_NSOCKS_PERTHREAD=5", "tcp", None, "NC016", "error"),
    ("level-case", "NCCL_NET_GDR_LEVEL=phb", None, None, "NC015", "error"),
    ("level-integer", "NCCL_P2P_LEVEL=3", None, None, "NC017", "warning"),
    ("unit-suffix", "NCCL_BUFFSIZE=4M", None, None, "NC015", "error"),
    ("bool-word", "NCCL_IB_MERGE_NICS=yes", None, None, "NC015", "error"),
    ("algo-token", "NCCL_ALGO=MSCCL,RING,TREE", None, None, "NC024", "error"),
    ("algo-fixed", "NCCL_PROTO=Simple", None, None, "NC024", "warning"),
    ("nvls-contradiction", "NCCL_ALGO=NVLSTree\nNCCL_CUMEM_ENABLE=0", None, None, "NC025", "error"),
    ("collnet-without-plugin", "NCCL_COLLNET_ENABLE=1\nNCCL_IB_TC=106", "roce", None, "NC025", "warning"),
    ("ctas-order", "NCCL_MIN_NCHANNELS=32\nNCCL_MAX_CTAS=8", None, None, "NC016", "error"),
    ("old-names", "NCCL_LL_THRESHOLD=0", None, "2.27.7", "NC013", "warning"),
    ("too-new", "NCCL_SOCKET_MAGIC=1", None, "2.27.7", "NC013", "warning"),
    ("debug-permanent", "NCCL_DEBUG=INFO", None, None, "NC026", "warning"),
    ("debug-file-shared", "NCCL_DEBUG_FILE=/tmp/nccl.%h", None, None, "NC026", "warning"),
    ("p2p-off", "NCCL_P2P_DISABLE=1", None, None, "NC023", "error"),
    ("shm-off", "NCCL_SHM_DISABLE=1", None, None, "NC023", "error"),
    ("conf-syntax", "export NCCL_DEBUG=WARN", None, None, "NC014", "error"),
    ("retry-range", "NCCL_IB_RETRY_CNT=13", None, None, "NC016", "error"),
    ("timeout-range", "NCCL_IB_TIMEOUT=40", None, None, "NC016", "error"),
    ("shared-buffers-0", "NCCL_NET_SHARED_BUFFERS=0", None, None, "NC027", "warning"),
    ("mnnvl-cumem", "NCCL_MNNVL_ENABLE=1\nNCCL_CUMEM_ENABLE=0", None, None, "NC025", "error"),
    ("gdr-off", "NCCL_NET_GDR_LEVEL=LOC", "roce", None, "NC023", "error"),
]


@pytest.mark.parametrize(
    ("text", "fabric", "version", "rule", "severity"),
    [row[1:] for row in RULES],
    ids=[row[0] for row in RULES],
)
def test_each_rule_about_settings_finds_its_fault(
    text: str, fabric: str | None, version: str | None, rule: str, severity: str
) -> None:
    assert (rule, severity) in told(lint(text + "\n", fabric, version))


def test_adapters_are_held_against_the_node_type() -> None:
    unknown = lint("NCCL_IB_HCA==mlx5_0,mlx5_77\n", "infiniband", type_="dgx-h100")
    storage = lint("NCCL_IB_HCA==mlx5_0,mlx5_1\n", "infiniband", type_="dgx-h100")
    prefix = lint("NCCL_IB_HCA=mlx5_1\n", "infiniband", type_="dgx-h100")
    assert any("mlx5_77" in one.message and one.severity.value == "error" for one in unknown)
    assert any("mlx5_1, which" in one.message and one.severity.value == "error" for one in storage)
    assert any("mlx5_10" in one.message for one in prefix)


def test_a_topology_file_that_is_not_mounted_into_the_container_is_missing_there() -> None:
    job = (
        "#!/bin/bash\n#SBATCH -N2\nexport NCCL_TOPO_FILE=/etc/nccl/t.xml\nsrun --container-image=x {} ./run\n"
    )
    assert ("NC028", "error") in told(lint(job.format(""), name="job.sh"))
    mounted = job.format("--container-mounts=/data:/data,/etc/nccl:/etc/nccl:ro")
    assert told(lint(mounted, name="job.sh")) == []


VERDICTS = [
    ("NCCL_IB_GID_INDEX=3", "infiniband", "NC018", "ignores it from 2.22"),
    ("NCCL_NET_GDR_LEVEL=2", None, "NC017", "PXB, which is about the default"),
    ("NCCL_ALGO=Ring\nNCCL_PROTO=Simple", None, "NC024", "wrong for training"),
    ("NCCL_NET_SHARED_BUFFERS=0", None, "NC027", "no faster all-reduce"),
    ("NCCL_SOCKET_IFNAME=ib0", None, "NC022", "NCCL_NET=IB"),
    ("NCCL_IB_HCA=mlx5_2:1,mlx5_3:1", None, "NC021", "mlx5_20"),
    ('NCCL_IB_HCA="mlx5_2:1,mlx5_3:1"', None, "NC014", "quotes become part"),
    ("NCCL_TIMEOUT_MS=30000", None, "NC012", "NCCL_IB_TIMEOUT=20"),
    ("NCCL_IB_RETRY_CNT=10", None, "NC016", "3 bits"),
    ("NCCL_BUFFSIZE=8M", None, "NC015", "reads 8"),
    ("NCCL_P2P_LEVEL=nvl", None, "NC015", "ignored"),
]


@pytest.mark.parametrize(("text", "fabric", "rule", "words"), VERDICTS)
def test_settings_that_are_copied_around_get_their_verdict(
    text: str, fabric: str | None, rule: str, words: str
) -> None:
    found = [one.message for one in lint(text + "\n", fabric) if one.rule == rule]
    assert any(words in message for message in found)


def test_five_is_gpudirect_across_sockets() -> None:
    assert "across sockets" in lint("NCCL_NET_GDR_LEVEL=5\n")[0].message


def test_two_of_eight_rails_are_a_quarter_of_the_bandwidth() -> None:
    found = lint("NCCL_IB_HCA==mlx5_0:1,mlx5_3:1\n", "infiniband", type_="dgx-h100")
    assert any("25 %" in one.message for one in found)


GOOD = {
    "infiniband": "# all jobs\nNCCL_IB_HCA==mlx5_0,mlx5_3\nNCCL_SOCKET_IFNAME==bond0\nNCCL_NET=IB\n",
    "roce": "NCCL_IB_HCA==mlx5_0,mlx5_1\nNCCL_SOCKET_IFNAME==bond0\nNCCL_IB_TC=106\nNCCL_IB_FIFO_TC=184\n",
    "efa": "NCCL_SOCKET_IFNAME=^docker,lo,veth\nFI_PROVIDER=efa\nNCCL_DEBUG=WARN\n",
    "tcp": "NCCL_SOCKET_IFNAME==eth0\nNCCL_NET=Socket\nNCCL_SOCKET_NTHREADS=4\nNCCL_NSOCKS_PERTHREAD=4\n",
}


@pytest.mark.parametrize("fabric", sorted(GOOD))
@pytest.mark.parametrize("version", ["2.18.6", "2.27.7", "2.30.7"])
def test_right_settings_of_each_fabric_are_clean(fabric: str, version: str) -> None:
    version = "2.24.3" if fabric == "roce" and version == "2.18.6" else version  # FIFO_TC came with 2.22.3
    assert lint(GOOD[fabric], fabric, version) == ()


def test_a_script_is_read_as_the_shell_reads_it() -> None:
    script = (
        '#!/bin/bash\n#SBATCH --export=ALL,NCCL_TIMEOUT=5\nexport NCCL_IB_HCA="=mlx5_0"\n'
        "# export NCCL_BUFFSIZE=8M\nNCCL_BUFFSIZE=8M srun ./a\nexport NCCL_ALGO=$ALGO\n"
    )
    found = [(one.rule, one.line) for one in lint(script, name="job.sbatch")]
    assert sorted(found) == [("NC012", 2), ("NC015", 5)]


def test_a_dump_of_an_environment_is_read_with_and_without_quotes() -> None:
    assert told(lint("PATH=/bin\nNCCL_BUFFSIZE=8M\n", name="env.txt")) == [("NC015", "error")]
    assert told(lint('declare -x NCCL_BUFFSIZE="8M"\n', name="x")) == [("NC015", "error")]
    assert told(lint("A=1\0NCCL_BUFFSIZE=8M\0", name="environ")) == [("NC015", "error")]


def test_the_first_line_of_a_name_counts_in_nccl_conf_and_the_last_in_a_script() -> None:
    assert lint("NCCL_BUFFSIZE=4194304\nNCCL_BUFFSIZE=8M\n") == ()
    assert exit_code(lint("export NCCL_BUFFSIZE=1\nexport NCCL_BUFFSIZE=8M\n", name="a.sh")) == 1


@given(st.text(max_size=200), st.sampled_from(["nccl.conf", "job.sh", "env"]))
@settings(max_examples=50, deadline=None)
def test_any_text_is_judged(text: str, name: str) -> None:
    for finding in lint(f"{text}\nNCCL_X={text}\nexport NCCL_ALGO={text}\n", "roce", name=name):
        assert finding.message


EXAMPLES = Path(__file__).parents[2] / "inventories"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/rendered/**/nccl.conf")), ids=str)
def test_what_is_written_for_a_cluster_passes(path: Path) -> None:
    cluster = load_cluster(EXAMPLES / path.relative_to(EXAMPLES).parts[0])
    assert cluster.fabric
    (kind,) = cluster.node_types.values()
    fabric = {"ethernet": "tcp"}.get(cluster.fabric.kind, cluster.fabric.kind)
    text = path.read_text(encoding="utf-8")
    for version in ("2.18.6", "2.30.7"):
        assert lint_settings([("nccl.conf", text)], fabric, version, kind) == ()


def test_each_line_that_is_written_has_its_reason_and_is_a_permanent_setting() -> None:
    assert set(written_reasons()) <= set(variables())
    assert [name for name in written_reasons() if variables()[name].production in ("no", "internal")] == []


def test_of_pytorchs_names_only_a_near_miss_is_told() -> None:
    assert lint("TORCH_NCCL_USE_COMM_NONBLOCKING=0\nTORCH_NCCL_BLOCKING_WAIT=0\n") == ()
    (found,) = lint("TORCH_NCCL_ASYNC_EROR_HANDLING=1\n")
    assert "TORCH_NCCL_ASYNC_ERROR_HANDLING" in found.message


def test_the_environment_of_an_image_is_no_mistake() -> None:
    image = "PATH=/usr/bin\nNCCL_VERSION=2.27.7-1\nNCCL_HOME=/opt/nccl\nNV_LIBNCCL_PACKAGE=libnccl2\n"
    assert lint(image, name="env") == ()
