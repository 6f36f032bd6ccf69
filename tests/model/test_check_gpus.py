"""Exceptions, MIG layouts, sharing and core reservations: one line for each thing that does not fit."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml

_TEXT = """\
name: pod1
slurm: {{release: "24.11", nvml: true}}
control: {{controllers: [ctl1]}}
nodes:
  - hosts: gpu[01-04]
    type: {type}
    {words}
partitions:
  - {{name: train, nodes: all, default: true}}
"""

Faults = Callable[[str], list[str]]


def _faults(faults_of: Faults, words: str, type_name: str = "dgx-h100") -> list[str]:
    lines = faults_of(_TEXT.format(type=type_name, words=words))
    return [line.split(": ", 1)[1] for line in lines]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("exceptions: {gpu09: {gpus_missing: [5]}}", "gpu09 is not in this group, which has gpu[01-04]"),
        ("exceptions: {gpu01: {}}", "says nothing; expected gpus_missing, gpus_withheld or real_memory_mb"),
        (
            "exceptions: {gpu01: {gpus_missing: [8]}}",
            "GPU 8 does not exist: the 8 GPUs of dgx-h100 are 0 to 7",
        ),
        (
            "exceptions: {gpu01: {gpus_missing: 3, gpus_withheld: [3]}}",
            "GPU 3 stands twice; name each once",
        ),
        (
            "exceptions: {'gpu[01-02]': {gpus_missing: [1]}, gpu02: {gpus_missing: [2]}}",
            "gpu02 already has an exception; say all of it in one",
        ),
        (
            "exceptions: {gpu01: {gpu_missing: [1]}}",
            "unknown key 'gpu_missing'; did you mean 'gpus_missing'?",
        ),
        ("mig: [{gpus: [4], profiles: [1g10gb]}]", "'1g10gb' is no MIG profile that can be written"),
        (
            "mig: [{gpus: [4], profiles: {3g.40gb: 3}}]",
            "the profiles take 9 compute slices of one GPU; it has 7",
        ),
        (
            "mig: [{gpus: [4], profiles: {1g.10gb: 2}, caps: [[606, 607]]}]",
            "caps names 1 instances but profiles 2; expected one pair for each, in the same order",
        ),
        (
            "mig: [{gpus: [4, 5], profiles: [1g.10gb], caps: [[606, 607]]}]",
            "caps belong to one GPU; write an entry of its own for each GPU",
        ),
        (
            "mig: [{gpus: [4], profiles: {1g.10gb: 2}, caps: [[606, 607], [606, 616]]}]",
            "606 stands twice; each instance has two numbers of its own",
        ),
        (
            "mig: [{gpus: [4], profiles: [1g.10gb]}, {gpus: [4], profiles: [1g.10gb]}]",
            "GPU 4 stands twice; name each once",
        ),
        ("shards_per_gpu: 4\n    mps_per_gpu: 100", "a node takes shards or MPS, not both; keep one of them"),
        (
            "shards_per_gpu: 4\n    mig: [{gpus: [4], profiles: [1g.10gb], caps: [[606, 607]]}]",
            "MIG instances are not shared further; leave shards_per_gpu or mig out",
        ),
        (
            "options: {CoreSpecCount: 112}",
            "CoreSpecCount is 112 but dgx-h100 has 112 cores; leave some to jobs",
        ),
        ("options: {CoreSpecCount: x}", "CoreSpecCount 'x' is not a whole number"),
        (
            "options: {CoreSpecCount: 2, CpuSpecList: 0-1}",
            "Slurm drops CoreSpecCount where CpuSpecList stands; keep one of them",
        ),
        ("options: {CpuSpecList: 224}", "CPU 224 does not exist: the node has CPUs 0 to 223"),
        (
            "options: {RestrictedCoresPerGPU: 15}",
            "RestrictedCoresPerGPU=15 for 8 GPUs takes 120 of 112 cores",
        ),
        (
            "autodetect: nvml\n    mig: [{gpus: [4], profiles: [1g.10gb], caps: [[606, 607]]}]",
            "autodetect nvml finds the instances' files itself; leave caps out",
        ),
        (
            "autodetect: nvidia\n    mig: [{gpus: [4], profiles: [1g.10gb]}]",
            "autodetect nvidia finds no MIG instances; take autodetect: nvml or give caps",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(faults_of: Faults, words: str, fault: str) -> None:
    (line,) = _faults(faults_of, words)
    assert line.startswith(fault)


def test_a_withheld_gpu_and_detection_do_not_go_together(faults_of: Faults) -> None:
    words = "autodetect: nvml\n    exceptions: {gpu01: {gpus_withheld: [5]}}"
    (line,) = _faults(faults_of, words)
    assert line.startswith("autodetect nvml finds this GPU all the same")


def test_known_instance_files_do_not_outlive_a_missing_gpu(faults_of: Faults) -> None:
    words = (
        "mig: [{gpus: [4], profiles: [1g.10gb], caps: [[606, 607]]}]\n"
        "    exceptions: {gpu01: {gpus_missing: [0]}}"
    )
    (line,) = _faults(faults_of, words)
    assert line.startswith("without this GPU the others get other device numbers")


def test_a_type_without_gpus_shares_none(faults_of: Faults) -> None:
    text = _TEXT.format(type="cpu", words="shards_per_gpu: 2") + (
        "node_types:\n  cpu: {cpu: {sockets: 2, cores_per_socket: 8}, memory: {real_memory_mb: 64000}}\n"
    )
    assert [line.split(": ", 1)[1] for line in faults_of(text)] == [
        "cpu has no GPUs to share; leave shards_per_gpu out"
    ]


def test_short_forms_are_the_long_ones(load: Callable[[str], Cluster]) -> None:
    mig = "mig: [{gpus: 4, profiles: {3g.40gb: 1, 1g.10gb: 2}}]"
    words = mig + "\n    exceptions: {'gpu[01-02]': {gpus_missing: 5}}"
    (group,) = load(_TEXT.format(type="dgx-h100", words=words)).nodes
    assert group.mig[0].gpus == (4,)
    assert group.mig[0].profiles == ("3g.40gb", "1g.10gb", "1g.10gb")
    assert {host: entry.gpus_missing for host, entry in group.differing().items()} == {
        "gpu01": (5,),
        "gpu02": (5,),
    }


_VALUES = st.recursive(
    st.one_of(st.integers(-2, 9), st.sampled_from(["1g.10gb", "gpu01", "x", "[]", "null", "true"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(map(str, items))}]"),
        st.dictionaries(
            st.sampled_from(
                ["gpus", "profiles", "caps", "gpu01", "gpus_missing", "gpus_withheld", "1g.10gb"]
            ),
            inner,
            max_size=3,
        ).map(lambda items: "{" + ", ".join(f"{key}: {value}" for key, value in items.items()) + "}"),
    ),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(["exceptions", "mig", "shards_per_gpu"]), _VALUES)
def test_any_words_load_or_are_input_errors(key: str, value: object) -> None:
    text = _TEXT.format(type="dgx-h100", words=f"{key}: {value}")
    with contextlib.suppress(InputError):
        assert cluster_from(parse_yaml(text, "cluster.yaml")).nodes[0].type == "dgx-h100"
