"""slurm.conf: what the cluster, its size and its release decide among the global settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES
from slurmwright.model.cluster import Cluster

Make = Callable[..., Cluster]
Text = Callable[..., str]


def settings_of(text: str) -> dict[str, str]:
    """Global settings; of a key that stands several times all values, joined by a blank."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith(("#", "NodeName", "PartitionName")):
            found[key] = f"{found[key]} {value}" if key in found else value
    return found


def test_controllers_stand_in_order_with_their_addresses(make: Make, text_of: Text) -> None:
    control = "{controllers: [{host: c2, address: 10.0.0.2}, c1], state_dir: /shared/state}"
    found = settings_of(text_of(make(control=control), "slurm.conf"))
    assert found["SlurmctldHost"] == "c2(10.0.0.2) c1"
    assert found["StateSaveLocation"] == "/shared/state"


@pytest.mark.parametrize("release", SERIES)
def test_what_gpu_clusters_cannot_do_without_is_in_every_release(
    make: Make, text_of: Text, release: str
) -> None:
    found = settings_of(text_of(make(release=release), "slurm.conf"))
    wanted = {
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        "TaskPlugin": "task/cgroup,task/affinity",
        "ProctrackType": "proctrack/cgroup",
        "PrologFlags": "Contain",
        "GresTypes": "gpu",
        "PropagateResourceLimitsExcept": "MEMLOCK",
        "SlurmctldParameters": "enable_configless",
    }
    assert {key: found[key] for key in wanted} == wanted


def test_without_a_database_nothing_is_accounted(make: Make, text_of: Text) -> None:
    """AccountingStorageTRES with gres and no slurmdbd stops slurmctld."""
    found = settings_of(text_of(make(), "slurm.conf"))
    assert [key for key in found if key.startswith(("Accounting", "JobAcct", "PriorityWeightFair"))] == []


def test_with_a_database_gpus_are_counted_untyped_and_by_type(make: Make, text_of: Text) -> None:
    nodes = "{hosts: a1, type: dgx-a100-80gb}\n{hosts: h1, type: dgx-h100}"
    cluster = make(nodes, control="{controllers: [ctl1], database: {host: db1, address: 10.0.0.9}}")
    found = settings_of(text_of(cluster, "slurm.conf"))
    assert found["AccountingStorageTRES"].startswith("gres/gpu,gres/gpu:a100,gres/gpu:h100")
    assert found["AccountingStorageHost"] == "10.0.0.9"
    assert found["AccountingStorageType"] == "accounting_storage/slurmdbd"


@pytest.mark.parametrize(
    ("nodes", "message", "unkillable"), [(100, 10, 180), (101, 30, 180), (1001, 60, 300)]
)
def test_waiting_times_grow_with_the_cluster(
    make: Make, text_of: Text, nodes: int, message: int, unkillable: int
) -> None:
    found = settings_of(text_of(make(f"{{hosts: 'n[1-{nodes}]', type: small}}"), "slurm.conf"))
    assert (found["MessageTimeout"], found["UnkillableStepTimeout"]) == (str(message), str(unkillable))


@pytest.mark.parametrize(
    ("longest", "words"),
    [
        ("60", "bf_continue"),
        ("1-00:00:00", "bf_continue"),
        ("7-00:00:00", "bf_continue,bf_window=10080,bf_resolution=300"),
        ("31-00:00:00", "bf_continue,bf_window=43200,bf_resolution=300"),
        ("UNLIMITED", "bf_continue"),
    ],
)
def test_backfill_looks_as_far_ahead_as_the_longest_job(
    make: Make, text_of: Text, longest: str, words: str
) -> None:
    partitions = f'{{name: p, nodes: all, default: true}}\n{{name: q, nodes: all, max_time: "{longest}"}}'
    assert settings_of(text_of(make(partitions=partitions), "slurm.conf"))["SchedulerParameters"] == words


def test_a_node_has_the_time_to_boot_that_scontrol_reboot_gives_it(make: Make, text_of: Text) -> None:
    """Slurm's own ResumeTimeout of a minute would set every rebooted node DOWN."""
    found = settings_of(text_of(make(), "slurm.conf"))
    assert (found["RebootProgram"], found["ResumeTimeout"]) == ("/usr/sbin/reboot", "1800")


def test_a_cluster_without_gpus_knows_no_gres(make: Make, text_of: Text) -> None:
    cluster = make("{hosts: n1, type: plain}", types="  plain: {extends: small, gpu: {count: 0}, gpus: []}\n")
    assert "GresTypes" not in settings_of(text_of(cluster, "slurm.conf"))


def test_overrides_come_last(make: Make, text_of: Text) -> None:
    more = (
        "overrides: {slurm.conf: {ReturnToService: 2, "
        "SchedulerParameters: {bf_continue: false, bf_interval: 60}, "
        "DebugFlags: [Gres, Backfill], LaunchParameters: null}}"
    )
    found = settings_of(text_of(make(more=more), "slurm.conf"))
    assert (found["ReturnToService"], found["SchedulerParameters"]) == ("2", "bf_interval=60")
    assert found["DebugFlags"] == "Gres,Backfill"
    assert "LaunchParameters" not in found


def test_no_key_is_written_twice(make: Make, text_of: Text) -> None:
    more = "overrides: {slurm.conf: {schedulerparameters: {bf_interval: 60}, MESSAGETIMEOUT: 20}}"
    text = text_of(make(more=more), "slurm.conf")
    keys = [line.partition("=")[0].lower() for line in text.splitlines() if "=" in line and line[0] != "#"]
    repeated = {key for key in keys if keys.count(key) > 1}
    assert repeated <= {"slurmctldhost", "nodename", "partitionname"}


@pytest.mark.parametrize(
    "words", ["{reboot_from_controller: true}", "enable_configless,Reboot_From_Controller"]
)
def test_a_reboot_of_nodes_never_reboots_the_controller(make: Make, text_of: Text, words: str) -> None:
    options = f"overrides:\n  slurm.conf:\n    SlurmctldParameters: {words}\n"
    with pytest.raises(InputError, match="would reboot the controller itself"):
        text_of(make(more=options), "slurm.conf")
    found = settings_of(text_of(make(more=f"{options}    RebootProgram: /opt/site/boot\n"), "slurm.conf"))
    assert found["RebootProgram"] == "/opt/site/boot"


def test_a_word_that_is_switched_off_asks_for_nothing(make: Make, text_of: Text) -> None:
    options = "overrides: {slurm.conf: {SlurmctldParameters: {reboot_from_controller: false}}}"
    assert "RebootProgram" in settings_of(text_of(make(more=options), "slurm.conf"))
