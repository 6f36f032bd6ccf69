"""A DGX A100 in NPS4 and its server as guests, set up by plain ansible-playbook: NUMA nodes, accounting.

The driver has numbered the GPUs in an order of its own. The tests stand in order, and each goes on from where
the one before it ended.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slurmwright.model.facts import load_facts
from slurmwright.rehearse.machines.qemu import command_line

from .conftest import Boot, Shared
from .qemu_map import gpu_map, numa_map, ssh_config

pytestmark = [pytest.mark.rehearsal, pytest.mark.timeout(3600)]


#: The minors of the GPUs in PCI order.
MINORS = [3, 0, 6, 1, 7, 2, 5, 4]


@pytest.fixture(scope="module")
def shared(boot: Boot) -> Iterator[Shared]:
    with boot("dgx-a100-20n", 1, {"dgx01": MINORS}) as site:
        yield Shared(site)


def test_plain_ansible_playbook_brings_the_cluster_into_service(shared: Shared) -> None:
    playbook = str(Path(sys.executable).with_name("ansible-playbook"))
    inventory = shared.site.inventory / "cluster.yaml"
    done = shared.run(
        [playbook, "-i", str(inventory), "--limit", shared.site.limit, "ansible/site.yml"],
        SLURMWRIGHT_BUNDLE=str(shared.site.bundle),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_daemon_runs_and_starts_at_boot(shared: Shared) -> None:
    verdict = shared.site.checks.in_service()
    assert verdict.passed, verdict.evidence
    assert "slurmdbd" in verdict.evidence[0]


def test_the_node_is_idle_with_eight_sockets_and_eight_gpus(shared: Shared) -> None:
    verdict, _ = shared.site.checks.registered()
    assert verdict.passed, verdict.evidence


def test_linux_sees_eight_numa_nodes_with_the_gpus_on_four_of_them(shared: Shared) -> None:
    script = "ls -d /sys/devices/system/node/node[0-9]* | wc -l; cat /sys/bus/pci/drivers/nvidia/*/numa_node"
    lines = shared.site.guests.ssh("dgx01", [script]).out.split()
    assert lines == ["8", "3", "3", "1", "1", "7", "7", "5", "5"]


def test_discovery_reads_the_map_that_qemu_was_given(shared: Shared, tmp_path: Path) -> None:
    """PCI addresses, NUMA nodes and CPUs from QEMU's arguments; the minors are those of the driver."""
    guests, image = shared.site.guests, shared.site.image
    (tmp_path / "ssh_config").write_text(ssh_config(guests, "dgx01"))
    where = ["-i", str(tmp_path), "--ssh-config", str(tmp_path / "ssh_config"), "--limit", "900"]
    done = shared.run([sys.executable, "-m", "slurmwright.cli.main", "discover", *where, "dgx01"])
    assert done.returncode == 0, done.stdout + done.stderr
    facts = load_facts(tmp_path)["dgx01"]
    given = command_line(guests.guests["dgx01"], image.kernel, image.initrd, False)
    seen = sorted((gpu.pci, gpu.numa, gpu.minor) for gpu in facts.gpus or ())
    assert seen == [(*place, minor) for place, minor in zip(gpu_map(given), MINORS, strict=True)]
    assert facts.cpu is not None
    assert [(node.id, node.socket, node.cpus) for node in facts.cpu.numa] == numa_map(given)


def test_jobs_open_their_own_gpus_on_their_own_numa_node(shared: Shared) -> None:
    shared.site.checks.admit()
    verdict = shared.site.checks.gpus_in_jobs()
    assert verdict.passed, verdict.evidence


def test_a_job_is_accounted_with_its_gpu(shared: Shared) -> None:
    verdict = shared.site.checks.accounting()
    assert verdict.passed, verdict.evidence


def test_a_second_apply_changes_nothing(shared: Shared) -> None:
    done = shared.cli("--yes", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    hosts = json.loads(done.stdout)["hosts"]
    assert {host["host"]: host["changed"] for host in hosts} == {"head1": 0, "dgx01": 0}


def test_no_password_and_no_key_was_seen_in_outputs_logs_or_command_lines(shared: Shared) -> None:
    secrets = shared.secrets()
    assert {"munge.key", "storage_password", "login key"} <= secrets.keys()
    for name, secret in secrets.items():
        assert not shared.record.seen(secret), name
        for host in shared.site.plan.guests:
            logs = shared.site.guests.ssh(host, ["journalctl --no-pager; cat /var/log/slurm/*.log"]).out
            assert secret not in logs, (name, host)
