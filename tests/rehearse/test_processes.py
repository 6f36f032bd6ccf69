"""The processes engine against real Slurm: examples rehearse clean on each release, and sabotage is found."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slurmwright.core.bundle import read_bundle
from slurmwright.core.release import Release
from slurmwright.model.facts import load_facts
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import expected_nodes, expected_units
from slurmwright.rehearse.machine import SlurmRoot
from slurmwright.rehearse.processes import rehearse
from slurmwright.rehearse.roots import slurm_version
from slurmwright.rehearse.values import Rehearsal, Verdict
from slurmwright.render import render

INVENTORIES = Path(__file__).parents[2] / "inventories"
EXAMPLES = (
    *("dgx-h100-64n", "dgx-a100-20n", "lab-1node", "gb200-nvl72", "mixed", "cloud-p5"),
    pytest.param("scale-1000n", marks=pytest.mark.alone),
)
#: Examples that cannot exist in a release: test_an_example_that_cannot_exist_in_a_release_says_why.
IMPOSSIBLE = {("gb200-nvl72", "22.05"): ("block topology came with Slurm 23.11", "came with Slurm 24.05")}
RELEASES = ("22.05", "24.11", "26.05")
SCENARIOS = [
    *("registered", "logs-clean", "gpu-locality", "gpus-each-once", "placement", "whole-cluster"),
    "accounting",
]

pytestmark = pytest.mark.rehearsal
RootOf = Callable[[str], Path]


def _rehearse(root: Path, inventory: Path, series: str, bundle: Path | None = None) -> Rehearsal:
    cluster = load_cluster(inventory, Release(series))
    facts = load_facts(inventory)
    files, edited = read_bundle(bundle) if bundle else (render(cluster, facts), ())
    return rehearse(
        files,
        edited,
        expected_nodes(cluster, facts),
        SlurmRoot(root),
        slurm_version(root),
        lambda *_: None,
        units=expected_units(cluster),
    )


def _failed(result: Rehearsal) -> list[str]:
    return [verdict.name for verdict in result.scenarios if verdict.failed]


def _verdict(result: Rehearsal, name: str) -> Verdict:
    return next(verdict for verdict in result.scenarios if verdict.name == name)


@pytest.mark.parametrize("series", RELEASES)
@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.timeout(1800)
def test_an_example_rehearses_clean(slurm_root: RootOf, example: str, series: str) -> None:
    if (example, series) in IMPOSSIBLE:
        pytest.skip("this example cannot exist in this release")
    result = _rehearse(slurm_root(series), INVENTORIES / example, series)
    assert [v.name for v in result.scenarios] == SCENARIOS
    assert result.passed, [v for v in result.scenarios if v.failed]
    assert result.nodes.registered == result.nodes.idle == result.nodes.total
    assert result.findings == ()
    assert [v.name for v in result.scenarios if v.passed is None] == _nothing_to_check(example)


def _nothing_to_check(example: str) -> list[str]:
    cluster = load_cluster(INVENTORIES / example)
    flat = cluster.topology is None or cluster.topology.kind == "flat"
    return ["placement"] * flat + ["accounting"] * (not cluster.accounting.enabled)


@pytest.mark.parametrize(("example", "series"), IMPOSSIBLE)
def test_an_example_that_cannot_exist_in_a_release_says_why(example: str, series: str) -> None:
    argv = ("rehearse", "-i", str(INVENTORIES / example), "--release", series)
    done = _run(sys.executable, "-m", "slurmwright.cli.main", *argv)
    assert done.returncode == 2
    for reason in IMPOSSIBLE[example, series]:
        assert reason in done.stderr


_RACKS = """\
name: racks
slurm: {{release: "{series}"}}
control: {{controllers: [ctl1]}}
nodes: [{{hosts: "gpu[1-6]", type: dgx-h100, racks: {{size: 2}}}}]
topology: {kind}
partitions: [{{name: train, nodes: all, default: true}}]
"""


@pytest.mark.parametrize(("series", "kind"), [("22.05", "tree"), ("24.11", "block"), ("26.05", "block")])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"(?s)gpu\[1-2\](.*)gpu\[3-4\]", r"gpu[1,3]\1gpu[2,4]"),
        (r"(?s)gpu\[3-4\](.*)gpu\[5-6\]", r"gpu[3,5]\1gpu[4,6]"),
    ],
    ids=["first-two", "last-two"],
)
def test_nodes_below_the_wrong_switch_fail_placement_and_nothing_else(
    slurm_root: RootOf, tmp_path: Path, series: str, kind: str, old: str, new: str
) -> None:
    (tmp_path / "cluster.yaml").write_text(_RACKS.format(series=series, kind=kind), encoding="utf-8")
    render(load_cluster(tmp_path), {}).write(tmp_path / "bundle")
    path = tmp_path / "bundle/etc/slurm/topology.conf"
    text, changes = re.subn(old, new, path.read_text(encoding="utf-8"))
    assert changes == 1
    path.write_text(text, encoding="utf-8")
    result = _rehearse(slurm_root(series), tmp_path, series, tmp_path / "bundle")
    assert _failed(result) == ["placement"], result.findings
    assert "a job of 2 nodes runs on gpu[" in _verdict(result, "placement").evidence[0]


def test_a_topology_that_slurm_is_not_told_of_fails_placement(slurm_root: RootOf, tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(_RACKS.format(series="24.11", kind="tree"), encoding="utf-8")
    render(load_cluster(tmp_path), {}).write(tmp_path / "bundle")
    path = tmp_path / "bundle/etc/slurm/slurm.conf"
    text = path.read_text(encoding="utf-8").replace("TopologyPlugin=topology/tree\n", "")
    path.write_text(text, encoding="utf-8")
    result = _rehearse(slurm_root("24.11"), tmp_path, "24.11", tmp_path / "bundle")
    assert _failed(result) == ["placement"], result.findings


def test_a_cluster_without_topology_says_so(slurm_root: RootOf) -> None:
    result = _rehearse(slurm_root("24.11"), INVENTORIES / "lab-1node", "24.11")
    assert _verdict(result, "placement").passed is None
    assert "no topology in cluster.yaml" in _verdict(result, "placement").skipped


@pytest.mark.parametrize("kind", ["tree", "block", "flat"])
def test_topology_yaml_rehearses_clean(slurm_root: RootOf, tmp_path: Path, kind: str) -> None:
    text = _RACKS.format(series="26.05", kind=f"{{kind: {kind}, format: yaml}}")
    (tmp_path / "cluster.yaml").write_text(text, encoding="utf-8")
    result = _rehearse(slurm_root("26.05"), tmp_path, "26.05")
    assert result.passed, [v for v in result.scenarios if v.failed]


@pytest.mark.parametrize(
    ("series", "topology"),
    [("22.05", "{kind: tree, levels: [2]}"), ("24.11", "tree"), ("26.05", "block")],
)
def test_a_last_unit_that_is_not_full_rehearses_clean(
    slurm_root: RootOf, tmp_path: Path, series: str, topology: str
) -> None:
    text = _RACKS.format(series=series, kind=topology).replace("gpu[1-6]", "gpu[1-5]")
    (tmp_path / "cluster.yaml").write_text(text, encoding="utf-8")
    result = _rehearse(slurm_root(series), tmp_path, series)
    assert result.passed, [v for v in result.scenarios if v.failed]


@pytest.mark.parametrize("series", ["24.11", "26.05"])
def test_blocks_that_are_joined_rehearse_clean(slurm_root: RootOf, tmp_path: Path, series: str) -> None:
    text = _RACKS.format(series=series, kind="{kind: block, levels: [2]}").replace("gpu[1-6]", "gpu[1-8]")
    (tmp_path / "cluster.yaml").write_text(text, encoding="utf-8")
    result = _rehearse(slurm_root(series), tmp_path, series)
    assert result.passed, [v for v in result.scenarios if v.failed]


@pytest.fixture
def edited(tmp_path: Path) -> Callable[[str, str, str, str], Path]:
    """A function that renders a small DGX H100 cluster for a release and edits one of its files."""

    def edit(series: str, file: str, old: str, new: str) -> Path:
        (tmp_path / "cluster.yaml").write_text(_small(series), encoding="utf-8")
        render(load_cluster(tmp_path), {}).write(tmp_path / "bundle")
        path = tmp_path / "bundle" / "etc/slurm" / file
        text, changes = re.subn(old, new, path.read_text(encoding="utf-8"))
        assert changes, f"nothing of {file} matched {old}"
        path.write_text(text, encoding="utf-8")
        return tmp_path

    return edit


def _small(series: str) -> str:
    return f"""\
name: small
slurm: {{release: "{series}"}}
control: {{controllers: [ctl1]}}
nodes: [{{hosts: "gpu[1-3]", type: dgx-h100}}]
partitions: [{{name: train, nodes: all, default: true}}]
"""


@pytest.mark.parametrize("series", RELEASES)
def test_wrong_cores_per_socket_fails_registered(
    slurm_root: RootOf, edited: Callable[..., Path], series: str
) -> None:
    folder = edited(series, "slurm.conf", "CoresPerSocket=56", "CoresPerSocket=28")
    verdict = _verdict(_rehearse(slurm_root(series), folder, series, folder / "bundle"), "registered")
    assert verdict.failed
    assert any("CoresPerSocket=28" in line and "CoresPerSocket=56" in line for line in verdict.evidence)


def test_a_controller_that_the_bundle_forgot_is_named_at_once(
    slurm_root: RootOf, edited: Callable[..., Path]
) -> None:
    folder = edited("24.11", "slurm.conf", "SlurmctldHost=.*", "SlurmctldHost=other")
    verdict = _verdict(_rehearse(slurm_root("24.11"), folder, "24.11", folder / "bundle"), "registered")
    assert verdict.evidence == (
        "slurmctld did not start: bundle.json gives its host other no /etc/slurm/slurm.conf",
    )


@pytest.mark.parametrize("series", RELEASES)
def test_swapped_sockets_fail_gpu_locality_and_nothing_else(
    slurm_root: RootOf, edited: Callable[..., Path], series: str
) -> None:
    swap = r"(?s)Cores=0-55(.*)Cores=56-111"
    folder = edited(series, "gres.conf", swap, r"Cores=56-111\1Cores=0-55")
    result = _rehearse(slurm_root(series), folder, series, folder / "bundle")
    assert _failed(result) == ["gpu-locality"], result.findings
    evidence = _verdict(result, "gpu-locality").evidence
    assert any("/dev/nvidia[0-3] with Cores=56-111" in line for line in evidence)
    assert any("a job with GPU index 0" in line and "got core 56" in line for line in evidence)


@pytest.mark.parametrize("series", RELEASES)
def test_an_unknown_key_is_named_with_its_line(
    slurm_root: RootOf, edited: Callable[..., Path], series: str
) -> None:
    folder = edited(
        series, "slurm.conf", r"\AReturnToService|\nReturnToService", "\nFooBar=1\nReturnToService"
    )
    result = _rehearse(slurm_root(series), folder, series, folder / "bundle")
    text = (folder / "bundle/etc/slurm/slurm.conf").read_text(encoding="utf-8")
    line = text.splitlines().index("FooBar=1") + 1
    assert not _verdict(result, "registered").passed
    finding = next(f for f in result.findings if f.name == "logs-clean")
    assert (finding.file, finding.line) == ("/etc/slurm/slurm.conf", line)
    assert any("FooBar" in one for one in finding.evidence)


def test_a_bundle_edited_since_it_was_rendered_is_listed(
    slurm_root: RootOf, edited: Callable[..., Path]
) -> None:
    folder = edited("24.11", "slurm.conf", "MessageTimeout=10", "MessageTimeout=20")
    result = _rehearse(slurm_root("24.11"), folder, "24.11", folder / "bundle")
    assert result.passed, [v for v in result.scenarios if v.failed]
    assert [a.file for a in result.adapted if a.reason.startswith("edited")] == ["etc/slurm/slurm.conf"]


def test_one_gpu_jobs_that_take_all_memory_fail_gpus_each_once(
    slurm_root: RootOf, edited: Callable[..., Path]
) -> None:
    folder = edited("24.11", "slurm.conf", r" DefMemPerGPU=\d+", "")
    result = _rehearse(slurm_root("24.11"), folder, "24.11", folder / "bundle")
    assert _failed(result) == ["gpus-each-once"], result.findings


def test_gpus_that_slurm_detects_are_stood_in_for(slurm_root: RootOf, tmp_path: Path) -> None:
    text = _small("24.11").replace("type: dgx-h100", "type: dgx-h100, autodetect: nvidia")
    (tmp_path / "cluster.yaml").write_text(text, encoding="utf-8")
    result = _rehearse(slurm_root("24.11"), tmp_path, "24.11")
    assert result.passed, [v for v in result.scenarios if v.failed]
    assert [a.old for a in result.adapted if a.key == "AutoDetect"] == ["nvidia"]


def test_facts_with_minors_in_another_order_than_pci_rehearse_clean(
    slurm_root: RootOf, tmp_path: Path
) -> None:
    (tmp_path / "cluster.yaml").write_text(_small("24.11"), encoding="utf-8")
    (tmp_path / "facts").mkdir()
    buses = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")
    gpus = "".join(
        f'  - {{pci: "0000:{bus}:00.0", minor: {7 - index}, numa: {index // 4}}}\n'
        for index, bus in enumerate(buses)
    )
    facts = f"format: slurmwright/facts/1\nhost: gpu2\ngpus:\n{gpus}"
    (tmp_path / "facts/gpu2.yaml").write_text(facts, encoding="utf-8")
    result = _rehearse(slurm_root("24.11"), tmp_path, "24.11")
    assert result.passed, [v for v in result.scenarios if v.failed]
    evidence = " ".join(_verdict(result, "gpu-locality").evidence)
    assert "NUMA nodes 1,1,1,1,0,0,0,0 by device number, from facts" in evidence


_REHEARSE_LAB = (
    sys.executable,
    "-m",
    "slurmwright.cli.main",
    "rehearse",
    "-i",
    str(INVENTORIES / "lab-1node"),
)


@pytest.mark.parametrize("signal", ["INT", "TERM", "KILL"])
def test_nothing_is_left_after_a_signal(slurm_root: RootOf, signal: str) -> None:
    slurm_root("24.11")
    # A run in the background is started with SIGINT ignored; a person's Ctrl-C is not.
    command = ["env", "--default-signal=INT", *_REHEARSE_LAB]
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert _eventually(lambda: bool(_controllers_of(program.pid)))
        started = _controllers_of(program.pid)
        subprocess.run(["kill", f"-{signal}", str(program.pid)], check=True)
        program.wait(30)
        assert program.returncode != 0
        assert _eventually(lambda: not started & _controllers())
    finally:
        program.kill()


def test_the_command_prints_its_json_document(slurm_root: RootOf) -> None:
    slurm_root("24.11")
    done = _run(*_REHEARSE_LAB, "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["format"] == "slurmwright/rehearsal/1"
    assert document["nodes"] == {"total": 1, "registered": 1, "idle": 1}
    assert [scenario["name"] for scenario in document["scenarios"]] == SCENARIOS
    assert {"file", "line", "key", "old", "new", "reason"} == set(document["adapted"][0])


def test_keep_leaves_it_running_and_says_how_to_enter(slurm_root: RootOf) -> None:
    slurm_root("24.11")
    done = _run(*_REHEARSE_LAB, "--keep", "--format", "json")
    enter = json.loads(done.stdout)["enter"].partition("#")[0].split()
    try:
        assert _run(*enter[:-1], "sinfo", "-h", "-o", "%T").stdout.split() == ["idle"]
    finally:
        subprocess.run(["kill", enter[2]], check=True)


_TWO_OF_EACH = """\
name: pair
slurm: {release: "24.11"}
control: {controllers: [ctl1, ctl2], state_dir: /shared/slurm/state}
nodes: [{hosts: "gpu[1-2]", type: dgx-h100}]
partitions: [{name: train, nodes: all, default: true}]
overrides: {slurm.conf: {SlurmctldTimeout: 10}}
"""


@contextmanager
def _kept(folder: Path, *more: str) -> Iterator[Callable[..., str]]:
    """A rehearsal that goes on; gives a function that runs a command on a host of it, else on ctl1."""
    argv = ("rehearse", "-i", str(folder), *more, "--keep", "--format", "json")
    done = _run(sys.executable, "-m", "slurmwright.cli.main", *argv)
    assert done.returncode == 0, done.stdout + done.stderr
    enter = json.loads(done.stdout)["enter"].partition("#")[0].split()
    try:

        def run(*command: str, host: str = "ctl1") -> str:
            return _run(*enter[:-2], enter[-2].replace("/ctl1/", f"/{host}/"), *command).stdout

        yield run
    finally:
        subprocess.run(["kill", enter[2]], check=True)


def test_a_backup_controller_takes_over_and_jobs_still_run(slurm_root: RootOf, tmp_path: Path) -> None:
    slurm_root("24.11")
    (tmp_path / "cluster.yaml").write_text(_TWO_OF_EACH, encoding="utf-8")
    with _kept(tmp_path) as run:
        assert _pinged(run) == [("ctl1", "UP"), ("ctl2", "UP")]
        assert _eventually(_saved(run, "/shared/slurm/state/job_state"))
        run("pkill", "-KILL", "-o", "-x", "slurmctld")
        assert _eventually(lambda: _pinged(run) == [("ctl1", "DOWN"), ("ctl2", "UP")])
        number = ""

        def submitted() -> bool:
            nonlocal number
            number = run(
                "sbatch", "--parsable", "-N2", "--gpus=16", "-o", "/dev/null", "--wrap", "true"
            ).strip()
            return number.isdigit()

        assert _eventually(submitted, 60)
        state = ("scontrol", "show", "job", "-o", number)
        # slurmd and its steps try the lost controller first and wait between two tries.
        assert _eventually(lambda: "JobState=COMPLETED" in run(*state), 240), run(*state) + run("sinfo", "-R")
        assert "NodeList=gpu[1-2]" in run(*state)


def _saved(run: Callable[..., str], state: str) -> Callable[[], bool]:
    """Has slurmctld saved its jobs since? What a job's end frees is else unknown to the backup."""
    run("sbatch", "--parsable", "-H", "-o", "/dev/null", "--wrap", "true")
    now = float(run("date", "+%s.%N"))
    return lambda: float(run("stat", "-c", "%.9Y", state) or 0) > now


def _pinged(run: Callable[..., str]) -> list[tuple[str, str]]:
    """(controller, UP or DOWN) as the primary's host sees them."""
    return re.findall(r"at (\w+) is (\w+)", run("scontrol", "ping"))


def test_files_of_one_host_lie_in_folders_of_its_own(slurm_root: RootOf, tmp_path: Path) -> None:
    slurm_root("24.11")
    (tmp_path / "cluster.yaml").write_text(_small("24.11"), encoding="utf-8")
    bundle = tmp_path / "bundle"
    render(load_cluster(tmp_path), {}).write(bundle)
    index = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    like = index["files"][0]
    for host, path in (("gpu1", "/run/site/a"), ("gpu2", "/run/site/a"), ("ctl1", "/var/log/site/a")):
        source = f"@{host}{path}"
        (bundle / source).parent.mkdir(parents=True)
        (bundle / source).write_text(f"for {host}\n", encoding="utf-8")
        index["files"].append({**like, "path": path, "source": source, "hosts": host})
    (bundle / "bundle.json").write_text(json.dumps(index), encoding="utf-8")
    with _kept(tmp_path, "--bundle", str(bundle)) as run:
        assert run("cat", "/var/log/site/a") == "for ctl1\n"
        for node in ("gpu1", "gpu2"):
            assert run("cat", "/run/site/a", host=node) == f"for {node}\n"
        assert run("cat", "/run/site/a") == ""


def _run(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)


def _controllers() -> set[str]:
    """All slurmctld processes of this machine, sandboxes included."""
    return set(_run("pgrep", "-x", "slurmctld").stdout.split())


def _controllers_of(program: int) -> set[str]:
    """Those that stand below this program in the tree of processes."""
    return {pid for pid in _controllers() if str(program) in _ancestors(pid)}


def _ancestors(pid: str) -> set[str]:
    found: set[str] = set()
    while pid not in ("", "0"):
        pid = _run("ps", "-o", "ppid=", "-p", pid).stdout.strip()
        found.add(pid)
    return found


def _eventually(look: Callable[[], bool], limit_s: float = 30) -> bool:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if look():
            return True
        time.sleep(0.1)
    return False
