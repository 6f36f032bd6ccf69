"""Two DGX H100 and their controller as guests: a bootstrap that loses a host, the next one, a reboot.

The driver of one of them has numbered its GPUs in an order of its own, as some do after a reset.

The tests stand in the order of an admin's day, and each goes on from where the one before it ended.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from slurmwright.apply.events import Event
from slurmwright.model.facts import load_facts
from slurmwright.rehearse.machines.qemu import command_line
from slurmwright.rehearse.machines.verified import let_in, look_at_guests

from .conftest import Boot, Shared
from .qemu_map import gpu_map, numa_map, ssh_config
from .sabotage import SABOTAGE, Sabotage, expected, named, seen_in_jobs, tried

pytestmark = [pytest.mark.rehearsal, pytest.mark.timeout(3600)]
CONTROLLER, LOST = "ctl1", "gpu002"
#: The minors of each host's GPUs in PCI order.
MINORS = {"gpu001": [0, 1, 2, 3, 4, 5, 6, 7], "gpu002": [3, 0, 6, 1, 7, 2, 5, 4]}


@pytest.fixture(scope="module")
def shared(boot: Boot) -> Iterator[Shared]:
    with boot("dgx-h100-64n", 2, {"gpu002": MINORS["gpu002"]}) as site:
        yield Shared(site)


def test_a_host_that_loses_its_power_in_the_middle_is_named_with_exit_code_3(shared: Shared) -> None:
    play: list[str] = []

    def watch(event: Event) -> None:
        if event.kind == "play":
            play.append(event.name)
        if event.kind == "task" and event.role == "slurm_files" and play[-1] == "Bring up the nodes":
            if "cut" not in play:
                shared.site.guests.cut_power(LOST)
            play.insert(0, "cut")

    outcome = shared.site.apply(watch)
    states = {host.host: host.state for host in outcome.hosts}
    assert outcome.exit_code == 3
    assert states[LOST] == "unreachable"
    assert outcome.not_done == (LOST,)
    assert states["gpu001"] == "changed"


def test_the_next_apply_completes(shared: Shared) -> None:
    shared.site.power_on(LOST)
    shared.site.guests.wait_for_ssh([LOST], lambda _: None)
    done = shared.cli("--yes", "--diff")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_daemon_runs_and_starts_at_boot(shared: Shared) -> None:
    verdict = shared.site.checks.in_service()
    assert verdict.passed, verdict.evidence


def test_every_node_is_idle_with_the_cpus_and_gpus_of_its_type(shared: Shared) -> None:
    verdict, count = shared.site.checks.registered()
    assert verdict.passed, verdict.evidence
    assert (count.total, count.idle) == (2, 2)


def test_jobs_open_their_own_gpus_and_are_refused_the_others(shared: Shared) -> None:
    verdict = shared.site.checks.gpus_in_jobs()
    assert verdict.passed, verdict.evidence


def test_linux_sees_each_gpu_below_its_switch_on_its_numa_node(shared: Shared) -> None:
    script = "for d in /sys/bus/pci/drivers/nvidia/*; do cat $d/numa_node; readlink -f $d; done"
    lines = shared.site.guests.ssh("gpu001", [script]).out.split()
    assert lines[::2] == ["0"] * 4 + ["1"] * 4
    switches = {path.rsplit("/", 2)[0] for path in lines[1::2]}
    assert len(switches) == 8


def test_discovery_reads_the_map_that_qemu_was_given(shared: Shared, tmp_path: Path) -> None:
    """PCI addresses, NUMA nodes and CPUs from QEMU's arguments; the minors are those of the driver."""
    guests = shared.site.guests
    (tmp_path / "ssh_config").write_text("".join(ssh_config(guests, name) for name in MINORS))
    argv = ["discover", "-i", str(tmp_path), "--ssh-config", str(tmp_path / "ssh_config"), *MINORS]
    done = shared.run([sys.executable, "-m", "slurmwright.cli.main", *argv])
    assert done.returncode == 0, done.stdout + done.stderr
    for name, facts in load_facts(tmp_path).items():
        given = command_line(guests.guests[name], shared.site.image.kernel, shared.site.image.initrd, False)
        seen = sorted((gpu.pci, gpu.numa, gpu.minor) for gpu in facts.gpus or ())
        assert seen == [(*place, minor) for place, minor in zip(gpu_map(given), MINORS[name], strict=True)]
        assert facts.cpu is not None
        assert [(node.id, node.socket, node.cpus) for node in facts.cpu.numa] == numa_map(given)


def test_a_second_apply_changes_nothing(shared: Shared) -> None:
    done = shared.cli("--yes", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    hosts = json.loads(done.stdout)["hosts"]
    assert {host["host"]: host["changed"] for host in hosts} == {CONTROLLER: 0, "gpu001": 0, "gpu002": 0}


@pytest.mark.parametrize("one", SABOTAGE, ids=lambda one: one.name)
def test_verify_names_what_is_broken_and_jobs_show_it(shared: Shared, one: Sabotage) -> None:
    sight = tried(shared.site, one)
    report, blind = sight.report(), sight.report(read=False)
    assert named(report) == expected(one.faults), report.as_json()
    for fault in one.faults:
        assert not fault.failed or seen_in_jobs(blind, fault), blind.as_json()


def test_after_a_reboot_all_come_back_into_service_by_themselves(shared: Shared) -> None:
    guests = shared.site.guests
    before = {name: guests.ssh(name, ["cat /proc/sys/kernel/random/boot_id"]).out for name in guests.guests}
    for name in guests.guests:
        guests.ssh(name, ["systemctl reboot"])
    for name in guests.guests:
        end = time.monotonic() + 900
        while time.monotonic() < end:
            now = guests.ssh(name, ["cat /proc/sys/kernel/random/boot_id"], limit_s=60)
            if now.ok and now.out != before[name]:
                break
            time.sleep(2)
    verdict, _ = shared.site.checks.registered()
    said = "systemctl status --no-pager slurmd; journalctl -b --no-pager -u slurmd | tail -30"
    assert verdict.passed, (verdict.evidence, *(guests.ssh(name, [said]).out for name in MINORS))
    verdict = shared.site.checks.in_service()
    assert verdict.passed, verdict.evidence


def test_verify_passes_every_check(shared: Shared) -> None:
    let_in(shared.site.checks)
    report = look_at_guests(shared.site.checks, shared.site.cluster.name).report()
    assert [check.as_json() for check in report.checks if not check.passed] == []
    assert report.findings == ()


def test_no_key_was_seen_in_outputs_logs_or_command_lines(shared: Shared) -> None:
    secrets = shared.secrets()
    assert {"munge.key", "login key"} <= secrets.keys()
    for name, secret in secrets.items():
        assert not shared.record.seen(secret), name
        for host in shared.site.plan.guests:
            logs = shared.site.guests.ssh(host, ["journalctl --no-pager; cat /var/log/slurm/*.log"]).out
            assert secret not in logs, (name, host)
