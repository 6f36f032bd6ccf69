"""Every node type of the catalogue renders, or is refused with what must be given for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType

import pytest

from slurmwright.catalogue.node_types import load_node_type, node_type_names
from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster
from slurmwright.render import render

Make = Callable[..., Cluster]

#: The first, the last, and the two between which numa_node_as_socket moved to the node lines.
RELEASES = ("22.05", "25.05", "25.11", "26.05")
CPU, MEMORY, PLACES, AMD = "cpu", "memory", "gpus", "AMD"
#: What nobody has published; the rest of the catalogue renders.
REFUSED = MappingProxyType(
    {
        "a100-pcie-4gpu": (MEMORY,),
        "aws-p6-b300.48xlarge": (PLACES, CPU, MEMORY),
        "aws-p6e-gb200": (PLACES, CPU, MEMORY),
        "azure-standard_nd96asr_v4": (MEMORY,),
        "azure-standard_nd96isr_mi300x_v5": (AMD,),
        "coreweave-gb200": (PLACES, CPU, MEMORY),
        "coreweave-hgx-h100": (PLACES, CPU),
        "digitalocean-h100-8": (CPU, MEMORY),
        "gcp-a2-highgpu-8g": (PLACES,),
        "gcp-a2-megagpu-16g": (PLACES,),
        "gcp-a2-ultragpu-8g": (PLACES,),
        "gcp-a3-highgpu-8g": (PLACES,),
        "gcp-a3-megagpu-8g": (PLACES,),
        "gcp-a3-ultragpu-8g": (PLACES,),
        "gcp-a4-highgpu-8g": (PLACES,),
        "gcp-a4x-highgpu-4g": (PLACES,),
        "hgx-a100-4gpu-xe8545": (CPU,),
        "hgx-a100-8gpu-supermicro-as4124go": (MEMORY,),
        "hgx-b300-8gpu-oem": (MEMORY,),
        "hgx-h200-8gpu-cisco-ucs-c885a": (MEMORY,),
        "hgx-h200-8gpu-dell-xe9680": (MEMORY,),
        "lambda-1cc-b200": (PLACES, CPU, MEMORY),
        "lambda-1cc-h100": (PLACES, CPU),
        "lambda-gh200-vm": (MEMORY,),
        "mi300x-8gpu": (AMD,),
        "nebius-b200": (PLACES, CPU),
        "nebius-b300": (PLACES, CPU),
        "nebius-h200": (PLACES, CPU),
        "oci-bm.gpu.b200.8": (PLACES,),
        "oci-bm.gpu.b300.8": (PLACES, CPU, MEMORY),
        "oci-bm.gpu.b4.8": (CPU,),
        "oci-bm.gpu.gb200.4": (PLACES, CPU, MEMORY),
        "oci-bm.gpu.gb300.4": (PLACES, CPU, MEMORY),
        "oci-bm.gpu.h200.8": (PLACES,),
        "oci-bm.gpu.mi300x.8": (AMD,),
        "oci-bm.gpu4.8": (CPU,),
        "rtx-pro-6000-8gpu-lenovo-sr675v3": (MEMORY,),
    }
)
WORDS = MappingProxyType(
    {
        CPU: r"cpu\.\w+.* not known; give it .*cpu: \{",
        MEMORY: r"memory not known; give it .*memory: \{real_memory_mb: N\}",
        PLACES: r"NUMA nodes of its GPUs not known; give it .*gpus: \[",
        AMD: r"AMD GPUs are listed but not rendered",
    }
)


def test_the_table_names_types_of_the_catalogue() -> None:
    assert set(REFUSED) < set(node_type_names())


def _verdict(name: str) -> str:
    wanted = REFUSED.get(name)
    return f"{name}: {'wants ' + ' '.join(wanted) if wanted else 'renders'}"


@pytest.mark.parametrize("name", node_type_names(), ids=_verdict)
def test_a_type_renders_or_says_what_must_be_given(make: Make, name: str) -> None:
    nodes = f"{{hosts: 'n[1-2]', type: {name}}}"
    if name not in REFUSED:
        for release in RELEASES:
            assert render(make(nodes, release=release), {}).find("/etc/slurm/gres.conf") is not None
        return
    with pytest.raises(InputError) as caught:
        render(make(nodes), {})
    lines = str(caught.value).splitlines()
    assert len(lines) == len(REFUSED[name])
    for line, wanted in zip(lines, REFUSED[name], strict=True):
        assert re.match(rf"node type '{re.escape(name)}': {WORDS[wanted]}", line)


@pytest.mark.parametrize("name", sorted(name for name, wanted in REFUSED.items() if AMD not in wanted))
def test_what_the_messages_ask_for_is_enough(make: Make, name: str) -> None:
    """The pieces of YAML in the messages, with numbers in the place of N, make a type that renders."""
    with pytest.raises(InputError) as caught:
        render(make(f"{{hosts: n1, type: {name}}}"), {})
    count = load_node_type(name).gpu.count
    given = re.findall(rf"\{{extends: {re.escape(name)}, (.*)\}} under node_types", str(caught.value))
    assert len(given) == len(REFUSED[name])
    pieces = [
        piece.replace("real_memory_mb: N", "real_memory_mb: 900000")
        .replace(
            "[{index: 0, numa: N}, ...]", f"[{', '.join(f'{{index: {at}, numa: 0}}' for at in range(count))}]"
        )
        .replace("cores_per_socket: N", "cores_per_socket: 48")
        .replace("sockets: N", "sockets: 2")
        .replace(": N", ": 1")
        for piece in given
    ]
    types = f"  mine: {{extends: {name}, {', '.join(pieces)}}}\n"
    assert render(make("{hosts: n1, type: mine}", types=types), {}).files
