"""Overrides and options: what the release takes, and what has its place elsewhere in the file."""

from collections.abc import Callable

import pytest

FaultsOf = Callable[[str], list[str]]


@pytest.mark.parametrize(
    "settings",
    [
        "{slurm.conf: {SchedulerParameters: {bf_window: 1, defer: false}}}",
        "{slurm.conf: {MailProg: null}}",
        "{slurm.conf: {JobCompLoc: 'https://host:9200/slurm?a=1&b=2'}}",
        "{slurm.conf: {AccountingStorageTRES: {gres/gpu: true}}}",
        "{cgroup.conf: {ConstrainSwapSpace: true}}",
        "{cgroup.conf: }",
    ],
)
def test_options_that_the_release_knows_are_taken(faults_of: FaultsOf, good: str, settings: str) -> None:
    assert faults_of(f"{good}overrides: {settings}\n") == []


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (
            "{slurm.conf: {SchedulerParameters: {bf_windo: 1}}}",
            "26: SchedulerParameters: 'bf_windo=1' is not known: Slurm ignores it in silence; "
            "did you mean 'bf_window'?",
        ),
        (
            "{slurm.conf: {MaxJobCont: 1}}",
            "26: MaxJobCont is not a key of slurm.conf (fatal in slurmctld, slurmd and every client "
            "command); did you mean 'MaxJobCount'?",
        ),
        (
            "{slurm.conf: {MialProg: null}}",
            "26: MialProg is not a key of slurm.conf (fatal in slurmctld, slurmd and every client command); "
            "did you mean 'MailProg'?",
        ),
        ("{slurm.conf: {ClusterName: x}}", "26: ClusterName follows from the rest of this file; change name"),
        (
            "{slurm.conf: {slurmctldhost: x}}",
            "26: slurmctldhost follows from the rest of this file; change control.controllers",
        ),
        ("{slurm.conf: {NodeName: x}}", "26: NodeName follows from the rest of this file; change nodes"),
        (
            "{slurm.conf: {JobCompPass: x}}",
            "26: JobCompPass is a secret, and secrets never stand in cluster.yaml; keep it on the host in a "
            "file or script of its own, and name that (from 25.11 JobCompPassScript, where Slurm has it)",
        ),
        (
            '{slurm.conf: {MailProg: "/bin/mail\\nNodeName=x"}}',
            "36: '/bin/mail\\nNodeName=x' holds a character that is not printable ASCII; "
            "Slurm's files take no other",
        ),
        (
            '{slurm.conf: {"MailProg=x\\nA": b}}',
            "26: 'MailProg=x\\nA' is no option of Slurm's; expected for example MaxJobCount",
        ),
        ("{slurm.conf: {MailProg: ''}}", "36: the value is empty; write null to leave the option out"),
        ("{slurm.conf: {DebugFlags: []}}", "38: the list is empty; write null to leave the option out"),
        (
            "{slurm.conf: {DebugFlags: [Backfill, 'a,b']}}",
            "49: 'a,b' holds a comma or blank; write each entry of the list on its own",
        ),
        (
            "{slurm.conf: {SchedulerParameters: {'bf_window=1,defer': true}}}",
            "48: 'bf_window=1,defer' is no entry of a list; expected letters, digits and '_.:/*+-'",
        ),
        (
            "{slurm.conf: {SchedulerParameters: {bf_window: ''}}}",
            "48: the value is empty; write null to leave the option out",
        ),
        ("{slurm.conf: {MailProg: {a: [b]}}}", "40: a is a list; expected text, a number, true or false"),
        (
            "{slurm.conf: {SlurmdParameters: config_overrides}}",
            "26: SlurmdParameters=config_overrides is refused: it lets a node with a wrong CPU layout "
            "register as idle, so the fault stays hidden; correct the node type instead",
        ),
        (
            "{slurm.conf: {SlurmdParameters: {numa_node_as_socket: true}}}",
            "26: SlurmdParameters=numa_node_as_socket is refused: it is written where cpu.numa_per_socket of "
            "a node type asks for it",
        ),
        (
            "{slurm.conf: {MaxJobCount: 5, maxjobcount: 6}}",
            "42: 'maxjobcount' is 'MaxJobCount' to Slurm; keep one",
        ),
        (
            "{gres.conf: {AutoDetect: nvml}}",
            "13: file 'gres.conf' cannot be overridden: it follows from node_types and from "
            "autodetect of a group",
        ),
        ("{slurm.cnf: {A: b}}", "13: file 'slurm.cnf' is not known; did you mean 'slurm.conf'?"),
        ("{../x: {A: b}}", "13: file '../x' is not known; known: cgroup.conf, slurm.conf, slurmdbd.conf"),
        ("{slurm.conf: [A]}", "25: slurm.conf is a list; expected {KEY: value}"),
        ("[a]", "12: overrides is a list; expected {FILE: {KEY: value}}"),
        (
            "{cgroup.conf: {ConstrainCores: maybe}}",
            "27: ConstrainCores 'maybe' is not a truth value; expected yes or no (also up, true, 1 and down, "
            "false, 0)",
        ),
    ],
)
def test_what_cannot_be_set_is_one_line_with_the_way_out(
    faults_of: FaultsOf, good: str, settings: str, line: str
) -> None:
    assert faults_of(f"{good}overrides: {settings}\n") == [f"cluster.yaml:12:{line}"]


@pytest.mark.parametrize(
    ("release", "option", "known"),
    [
        ("22.05", "TopologyParam: RouteTree", False),
        ("23.11", "TopologyParam: RouteTree", True),
        ("24.11", "HealthCheckTimeout: 30", False),
        ("26.05", "HealthCheckTimeout: 30", True),
    ],
)
def test_an_option_of_another_release_is_named_with_the_release_it_came_in(
    faults_of: FaultsOf, good: str, release: str, option: str, known: bool
) -> None:
    lines = faults_of(good.replace("24.11", release) + f"overrides: {{slurm.conf: {{{option}}}}}\n")
    if known:
        assert lines == []
    else:
        assert len(lines) == 1
        assert "came with Slurm" in lines[0]


def test_partition_options_have_their_own_section(faults_of: FaultsOf, good: str) -> None:
    assert faults_of(good + "    options: {OverSubscribe: 'NO', DefMemPerGPU: 1000}\n") == []
    assert faults_of(good + "    options: {MaxTime: 5}\n") == [
        "cluster.yaml:12:15: MaxTime follows from the rest of this file; change max_time"
    ]
