"""Lines of hosts that differ, of MIG instances, shares and reserved cores; numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.core.finding import Severity
from slurmwright.model.cluster import Cluster
from slurmwright.render import render, render_notes
from slurmwright.render.described import describe
from slurmwright.render.spec_cores import reserved_cores

Make = Callable[..., Cluster]
TextOf = Callable[..., str]
CPU_ONLY = """
  cpu:
    cpu: {sockets: 2, cores_per_socket: 4, threads_per_core: 2, numa_per_socket: 1, numbering: contiguous}
    memory: {real_memory_mb: 64000}
"""


def _lines(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


def test_a_host_without_one_gpu_has_its_own_lines(make: Make, text_of: TextOf) -> None:
    cluster = make("{hosts: 'n[1-4]', type: small, exceptions: {n2: {gpus_missing: [1]}}}")
    assert _lines(text_of(cluster, "gres.conf"), "NodeName=n2") == [
        "NodeName=n2 Name=gpu Type=h100 File=/dev/nvidia0 Cores=0-3",
        "NodeName=n2 Name=gpu Type=h100 File=/dev/nvidia[1-2] Cores=4-7",
    ]
    nodes = _lines(text_of(cluster, "slurm.conf"), "NodeName=")
    assert [line.split()[0] for line in nodes] == ["NodeName=n[1,3-4]", "NodeName=n2"]
    assert "Gres=gpu:h100:4" in nodes[0]
    assert "Gres=gpu:h100:3" in nodes[1]


def test_a_withheld_gpu_is_no_line_but_a_warning(make: Make, text_of: TextOf) -> None:
    cluster = make("{hosts: 'n[1-4]', type: small, exceptions: {n2: {gpus_withheld: [1]}}}")
    text = text_of(cluster, "gres.conf")
    assert _lines(text, "NodeName=n2") == [
        "NodeName=n2 Name=gpu Type=h100 File=/dev/nvidia0 Cores=0-3",
        "NodeName=n2 Name=gpu Type=h100 File=/dev/nvidia[2-3] Cores=4-7",
    ]
    assert "# /dev/nvidia1 (GPU 1) is withheld, not protected" in text
    (note,) = [n for n in render_notes(cluster, {}) if n.severity == Severity.WARNING]
    assert "n2: /dev/nvidia1 is withheld" in note.message
    assert "unbind" in note.fix


def test_a_host_with_less_memory_does_not_lower_its_group(make: Make, text_of: TextOf) -> None:
    cluster = make("{hosts: 'n[1-4]', type: small, exceptions: {n2: {real_memory_mb: 32000}}}")
    nodes = _lines(text_of(cluster, "slurm.conf"), "NodeName=")
    assert ["RealMemory=62000" in nodes[0], "RealMemory=31000" in nodes[1]] == [True, True]


_MIG = "{hosts: m1, type: small, mig: [{gpus: [0], profiles: {3g.40gb: 2}, caps: [[12, 13], [21, 22]]}]}"


def test_a_mig_instance_is_one_line_with_three_files_behind_the_whole_gpus(
    make: Make, text_of: TextOf
) -> None:
    cluster = make(_MIG)
    assert _lines(text_of(cluster, "gres.conf"), "NodeName=m1") == [
        "NodeName=m1 Name=gpu Type=h100 File=/dev/nvidia1 Cores=0-3",
        "NodeName=m1 Name=gpu Type=h100 File=/dev/nvidia[2-3] Cores=4-7",
        *(
            "NodeName=m1 Name=gpu Type=3g.40gb MultipleFiles=/dev/nvidia0,"
            f"/dev/nvidia-caps/nvidia-cap{n},/dev/nvidia-caps/nvidia-cap{n + 1} Cores=0-3"
            for n in (12, 21)
        ),
    ]
    (node,) = _lines(text_of(cluster, "slurm.conf"), "NodeName=")
    assert "Gres=gpu:h100:3,gpu:3g.40gb:2 " in node


def test_files_of_instances_are_never_invented(make: Make) -> None:
    cluster = make("{hosts: m1, type: small, mig: [{gpus: [0], profiles: {3g.40gb: 2}}]}")
    with pytest.raises(InputError, match=r"device files of the MIG instances on GPU 0 of m1 are not known"):
        render(cluster, {})


def test_detected_instances_need_no_files(make: Make, text_of: TextOf) -> None:
    cluster = make("{hosts: m1, type: small, autodetect: nvml, mig: [{gpus: [0], profiles: {3g.40gb: 2}}]}")
    assert _lines(text_of(cluster, "gres.conf"), "NodeName=") == ["NodeName=m1 AutoDetect=nvml"]
    assert "Gres=gpu:h100:3,gpu:3g.40gb:2 " in text_of(cluster, "slurm.conf")


@pytest.mark.parametrize(("word", "name"), [("shards_per_gpu", "shard"), ("mps_per_gpu", "mps")])
def test_shares_are_counted_on_the_gpus_that_are_there(
    make: Make, text_of: TextOf, word: str, name: str
) -> None:
    cluster = make(f"{{hosts: 'n[1-2]', type: small, {word}: 5, exceptions: {{n2: {{gpus_missing: [0]}}}}}}")
    gres, conf = text_of(cluster, "gres.conf"), text_of(cluster, "slurm.conf")
    assert f"NodeName=n1 Name={name} Count=20" in gres
    assert f"NodeName=n2 Name={name} Count=15" in gres
    assert f"GresTypes=gpu,{name}\n" in conf
    assert f"Gres=gpu:h100:4,{name}:20 " in conf


def test_nodes_without_gpus_share_memory_by_cpu(make: Make, text_of: TextOf) -> None:
    cluster = make(
        "{hosts: n1, type: small}\n{hosts: c1, type: cpu}",
        types=CPU_ONLY,
        partitions="{name: gpu, nodes: {type: small}, default: true}\n{name: cpu, nodes: {type: cpu}}",
    )
    conf = text_of(cluster, "slurm.conf")
    (cpu,) = _lines(conf, "PartitionName=cpu")
    assert "DefMemPerCPU=3875" in cpu
    assert "PerGPU" not in cpu
    (node,) = _lines(conf, "NodeName=c1")
    assert "Gres=" not in node
    assert _lines(text_of(cluster, "gres.conf"), "NodeName=c1") == []


def test_reserved_cores_are_the_highest_of_each_socket_from_the_last(make: Make) -> None:
    (row,) = describe(make("{hosts: n1, type: small, options: {CoreSpecCount: 3}}"), {})
    assert reserved_cores(row.shape) == {7, 3, 6}


def test_default_cpus_leave_reserved_cores_out(make: Make, text_of: TextOf) -> None:
    cluster = make("{hosts: n1, type: small, options: {CoreSpecCount: 1}}")
    (line,) = _lines(text_of(cluster, "slurm.conf"), "PartitionName=")
    # Cores 4-6 are left on the second socket for two GPUs: one core of two threads each.
    assert "DefCpuPerGPU=2 " in line


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ("MemSpecLimit: 62000", "n1: MemSpecLimit=62000 leaves nothing of RealMemory=62000 to jobs"),
        ("CpuSpecList: 0-15", "n1: all 8 cores are kept from jobs; leave some"),
        (
            "RestrictedCoresPerGPU: 2, CoreSpecCount: 1",
            "n1: RestrictedCoresPerGPU=2 for 2 GPUs of NUMA node 1 takes 4 cores, but its socket has 3 that "
            "are not reserved",
        ),
    ],
)
def test_reservations_that_clash_are_refused(make: Make, options: str, fault: str) -> None:
    with pytest.raises(InputError) as caught:
        render(make(f"{{hosts: n1, type: small, options: {{{options}}}}}"), {})
    assert str(caught.value) == fault


@settings(max_examples=40, deadline=None)
@given(st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)))
def test_every_gpu_is_given_withheld_or_missing(
    make: Make, text_of: TextOf, missing: set[int], withheld: set[int]
) -> None:
    withheld = withheld - missing
    words = f"{{gpus_missing: {sorted(missing)}, gpus_withheld: {sorted(withheld)}}}"
    cluster = make(f"{{hosts: 'n[1-2]', type: small, exceptions: {{n2: {words}}}}}")
    (row,) = [row for row in describe(cluster, {}) if "n2" in row.hosts]
    assert len(row.shape.devices) == 4 - len(missing) - len(withheld)
    given_and_kept = [d.minor for d in row.shape.devices] + [gpu.minor for gpu in row.shape.withheld]
    assert sorted(given_and_kept) == list(range(4 - len(missing)))
    count = len(row.shape.devices)
    wanted = f"Gres=gpu:h100:{count} " if count else "RealMemory=62000 State"
    assert wanted in text_of(cluster, "slurm.conf")
