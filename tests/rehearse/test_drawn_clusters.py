"""Draws clusters from the model's own rules: each renders, and real slurmctld and slurmd take the files.

A draw that the tool refuses is counted with its reason; more than a fifth of them would mean that the model
lets people write what cannot be rendered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.node_types import gpu_model, load_node_type, node_type_names
from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import expected_nodes
from slurmwright.rehearse.machine import SlurmRoot
from slurmwright.rehearse.processes import rehearse
from slurmwright.rehearse.roots import slurm_version
from slurmwright.render import render
from slurmwright.topology.cpus import layout_of

RELEASES = ("22.05", "24.11", "26.05")
DRAWS_ON_SLURM = 10
DRAWS_RENDERED = 150


def _renderable() -> list[str]:
    """Types whose facts are all known: NVIDIA GPUs with a NUMA node each, CPU layout and memory."""
    names = []
    for name in node_type_names():
        kind = load_node_type(name)
        mapped = kind.gpus and all(gpu.numa is not None for gpu in kind.gpus)
        known = layout_of(kind.cpu) and (kind.memory.nominal_gib or kind.memory.real_memory_mb)
        if kind.gpu.model and gpu_model(kind.gpu.model).vendor == "nvidia" and mapped and known:
            names.append(name)
    return names


TYPES = _renderable()
_CPU_ONLY = {
    "arch": "x86_64",
    "cpu": {
        "sockets": 2,
        "cores_per_socket": 32,
        "threads_per_core": 2,
        "numa_per_socket": 1,
        "numbering": "contiguous",
    },
    "memory": {"nominal_gib": 512},
}
_OVERRIDES: list[dict[str, object]] = [
    {},
    {"SchedulerParameters": {"bf_max_job_test": 500}},
    {"MessageTimeout": 45, "SlurmdTimeout": 600},
    {"SlurmctldDebug": "verbose", "DebugFlags": ["Gres", "CPU_Bind"]},
    {"PriorityWeightPartition": None},
]


@st.composite
def groups(draw: st.DrawFn, number: int, types: list[str]) -> dict[str, object]:
    """One node group of one to three hosts with names of its own."""
    count = draw(st.integers(1, 3))
    first = draw(st.sampled_from(["1", "01", "098", "7"]))
    last = str(int(first) + count - 1).zfill(len(first))
    prefix = draw(st.sampled_from(["gpu", "node-", "rack1-n", "g"])) + "abc"[number]
    group: dict[str, object] = {
        "hosts": f"{prefix}[{first}-{last}]" if count > 1 else f"{prefix}{first}",
        "type": draw(st.sampled_from(types)),
    }
    if draw(st.booleans()):
        group["address"] = f"10.7{number}.0.[1-{count}]" if count > 1 else f"10.7{number}.0.1"
    if draw(st.booleans()):
        group["features"] = draw(st.lists(st.sampled_from(["ib", "nvme", "big"]), min_size=1, unique=True))
    if draw(st.booleans()):
        group["weight"] = draw(st.integers(1, 100))
    return group


@st.composite
def clusters(draw: st.DrawFn, series: str) -> dict[str, object]:
    """A cluster.yaml that the model's rules allow, as data."""
    own = {"cpu-node": _CPU_ONLY, "h100-nps1": {"extends": "dgx-a100-80gb", "cpu": {"numa_per_socket": 1}}}
    types = draw(st.lists(st.sampled_from([*TYPES, *own]), min_size=1, max_size=3, unique=True))
    nodes = [draw(groups(at, types)) for at in range(draw(st.integers(1, 3)))]
    used = {str(group["type"]) for group in nodes}
    partitions: list[dict[str, object]] = [{"name": "all", "nodes": "all", "default": True}]
    if draw(st.booleans()):
        partitions.append({"name": "some", "nodes": {"type": draw(st.sampled_from(sorted(used)))}})
    if draw(st.booleans()):
        partitions.append({"name": "few", "nodes": {"hosts": nodes[0]["hosts"]}, "max_time": "90"})
    control: dict[str, object] = {"controllers": ["ctl1"]}
    if draw(st.booleans()):
        control = {"controllers": ["ctl1", "ctl2"], "state_dir": "/shared/state", "login": ["login1"]}
    if draw(st.booleans()):
        control["database"] = "db1"
    return {
        "name": "drawn",
        "slurm": {"release": series},
        "control": control,
        "nodes": nodes,
        "node_types": {name: kind for name, kind in own.items() if name in used},
        "partitions": partitions,
        "overrides": {"slurm.conf": draw(st.sampled_from(_OVERRIDES))},
    }


def _write(folder: Path, data: dict[str, object]) -> Path:
    (folder / "cluster.yaml").write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return folder


@pytest.fixture
def refused() -> Iterator[Counter[str]]:
    """Counts outcomes of a test's draws; "rendered" is one of them."""
    counts: Counter[str] = Counter()
    yield counts
    total = sum(counts.values())
    lines = "".join(f"\n  {number:4d} {why}" for why, number in counts.most_common())
    print(f"\n{total} draws:{lines}")
    assert total - counts["rendered"] <= total / 5


def _count(counts: Counter[str], folder: Path, data: dict[str, object]) -> bool:
    try:
        cluster = load_cluster(_write(folder, data))
        render(cluster, {})
    except InputError as error:
        counts[error.problems[0].message] += 1
        return False
    counts["rendered"] += 1
    return True


def test_drawn_clusters_render_in_every_release(tmp_path: Path, refused: Counter[str]) -> None:
    @settings(max_examples=DRAWS_RENDERED, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(SERIES).flatmap(clusters))
    def draw(data: dict[str, object]) -> None:
        _count(refused, tmp_path, data)

    draw()


@pytest.mark.rehearsal
@pytest.mark.parametrize("series", RELEASES)
def test_real_slurm_takes_drawn_clusters(
    slurm_root: Callable[[str], Path], tmp_path: Path, refused: Counter[str], series: str
) -> None:
    root = slurm_root(series)
    version = slurm_version(root)

    @settings(
        max_examples=DRAWS_ON_SLURM,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(clusters(series))
    def draw(data: dict[str, object]) -> None:
        if not _count(refused, tmp_path, data):
            return
        cluster = load_cluster(tmp_path)
        result = rehearse(
            render(cluster, {}),
            (),
            expected_nodes(cluster, {}),
            SlurmRoot(root),
            version,
            lambda *_: None,
            jobs=False,
        )
        assert result.passed, (data, [v for v in result.scenarios if v.failed])

    draw()
