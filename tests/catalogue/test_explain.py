"""Every key that render can write answers, with texts that a person can use."""

from __future__ import annotations

import pytest

from slurmwright.catalogue.explain import Explanation, explain, explain_all, explanations
from slurmwright.catalogue.options import lookup
from slurmwright.core.errors import InputError

WRITTEN = {
    ("slurm.conf", "global"): """
        ClusterName SlurmctldHost SlurmUser SlurmdUser AuthType CredType SlurmctldPort SlurmdPort
        StateSaveLocation SlurmdSpoolDir SlurmctldPidFile SlurmdPidFile SlurmctldLogFile SlurmdLogFile
        SlurmctldDebug SlurmdDebug SlurmctldParameters SlurmdParameters SelectType SelectTypeParameters
        SchedulerType SchedulerParameters ProctrackType TaskPlugin TaskPluginParam JobAcctGatherType
        JobAcctGatherFrequency PrologFlags GresTypes PropagateResourceLimitsExcept LaunchParameters MpiDefault
        ReturnToService SlurmdTimeout SlurmctldTimeout InactiveLimit KillWait MinJobAge MessageTimeout
        UnkillableStepTimeout TreeWidth AccountingStorageType AccountingStorageHost AccountingStorageTRES
        AccountingStorageEnforce JobCompType PriorityType PriorityWeightAge PriorityWeightFairshare
        PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS EnforcePartLimits
        CommunicationParameters DebugFlags MaxNodeCount HealthCheckProgram HealthCheckInterval
        HealthCheckNodeState Prolog Epilog TmpFS RebootProgram
        ResumeTimeout VSizeFactor TopologyPlugin SwitchType SwitchParameters
        JobContainerType NamespaceType""",
    ("slurm.conf", "NodeName"): """
        NodeName NodeAddr NodeHostname CPUs Boards SocketsPerBoard Sockets CoresPerSocket ThreadsPerCore
        RealMemory Gres Features Weight State Parameters CoreSpecCount MemSpecLimit RestrictedCoresPerGPU
        TmpDisk""",
    ("slurm.conf", "PartitionName"): """
        PartitionName Nodes Default MaxTime DefaultTime State OverSubscribe DefMemPerGPU DefMemPerCPU
        DefCpuPerGPU MaxNodes PriorityTier AllowAccounts AllowGroups AllowQos QOS LLN SelectTypeParameters
        TRESBillingWeights PreemptMode ExclusiveUser GraceTime""",
    ("gres.conf", "line"): "AutoDetect NodeName Name Type File Cores Count Links Flags MultipleFiles",
    ("job_container.conf", "global"): "AutoBasePath BasePath",
    ("topology.conf", "global"): "BlockSizes BlockLevels",
    ("topology.conf", "SwitchName"): "SwitchName Nodes Switches",
    ("topology.conf", "BlockName"): "BlockName Nodes",
    ("topology.yaml", "root"): "topology cluster_default tree block flat",
    ("cgroup.conf", "global"): """
        CgroupPlugin ConstrainCores ConstrainDevices ConstrainRAMSpace ConstrainSwapSpace AllowedRAMSpace
        AllowedSwapSpace MaxRAMPercent MinRAMSpace IgnoreSystemd EnableControllers SignalChildrenProcesses""",
}


@pytest.mark.parametrize("place", sorted(WRITTEN))
def test_every_key_that_we_write_is_explained(place: tuple[str, str]) -> None:
    explained = {entry.key for entry in explanations() if (entry.file, entry.section) == place}
    assert set(WRITTEN[place].split()) - explained == set()


@pytest.mark.parametrize("entry", explanations(), ids=lambda entry: entry.name)
class TestEveryExplanation:
    def test_is_about_a_key_of_slurm_that_may_be_written(self, entry: Explanation) -> None:
        option = lookup(entry.file, entry.section, entry.key)
        assert option is not None
        assert option.write is None
        assert entry.since == (option.since or "before 22.05")

    def test_says_what_why_and_from_where(self, entry: Explanation) -> None:
        for text in (entry.does, entry.why):
            assert text.endswith(".")
            assert text == text.strip()
        assert entry.value
        assert entry.source

    def test_says_what_a_change_costs(self, entry: Explanation) -> None:
        assert entry.effects

    def test_answers_to_its_own_name(self, entry: Explanation) -> None:
        assert explain(entry.name) == entry
        assert entry in explain_all(entry.key.lower())


def test_a_key_of_two_places_is_told_for_both() -> None:
    assert [e.name for e in explain_all("state")] == [
        "slurm.conf:NodeName.State",
        "slurm.conf:PartitionName.State",
    ]
    assert explain("slurm.conf:PartitionName.State").section == "PartitionName"
    assert explain("gres.conf:nodename").file == "gres.conf"


def test_an_unknown_key_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(
        InputError, match=r"'TaskPlug' is no key that is known here; did you mean 'TaskPlugin'\?"
    ):
        explain("TaskPlug")


def test_a_key_of_slurm_that_we_never_write_is_told_apart_from_a_typing_error() -> None:
    with pytest.raises(
        InputError, match=r"slurm\.conf:BcastExclude: Slurm has this key, but we never write it"
    ):
        explain("BcastExclude")


@pytest.mark.parametrize(
    ("name", "trap"),
    [
        ("TaskPlugin", "--cpus-per-task"),
        ("gres.conf:Cores", "Not the OS CPU ids"),
        ("SlurmdParameters", "numa_node_as_socket"),
        ("AccountingStorageTRES", "with slurmdbd only"),
        ("File", "not the index that nvidia-smi prints"),
        ("Flags", "CUDA_VISIBLE_DEVICES unset"),
        ("PropagateResourceLimitsExcept", "MEMLOCK"),
        ("UnkillableStepTimeout", "five times MessageTimeout"),
    ],
)
def test_the_trap_is_told_where_it_belongs(name: str, trap: str) -> None:
    entry = explain(name)
    assert trap in f"{entry.does} {entry.why}"
