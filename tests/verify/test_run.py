"""A whole verification against a Slurm that only answers: what it starts, what it says of what it saw."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.hosts import expand
from slurmwright.core.run import Result
from slurmwright.verify.expect import ExpectedNode
from slurmwright.verify.run import verify
from slurmwright.verify.values import Report
from slurmwright.verify.wanted import Wanted

from .conftest import document, node_of
from .test_causes import host

H100 = node_of("dgx-h100-64n")


def printed(tag: str, node: str, rank: int, data: Mapping[str, object]) -> str:
    env = dict(data.get("env", {}))  # type: ignore[call-overload]
    data = {**data, "host": node, "env": {**env, "SLURMD_NODENAME": node, "SLURM_PROCID": str(rank)}}
    text, head = json.dumps(data), f"@probe {tag} {node}/1.0.{rank}/9"
    lines = [f"{head} + {text[at : at + 700]}" for at in range(0, len(text), 700)]
    return "\n".join([*lines, f"{head} .\n"])


@dataclass
class Slurm:
    """Answers as a Slurm does; `state` is what sinfo says of a node, `busy` are launches that stay out."""

    nodes: tuple[str, ...]
    state: Mapping[str, str] = field(default_factory=dict)
    busy: tuple[str, ...] = ()
    started: list[tuple[str, ...]] = field(default_factory=list)
    silent: tuple[str, ...] = ()
    running: int = 8
    array: tuple[str, ...] = ()

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> Result:
        self.started.append(tuple(argv))
        words = [word for word in argv if word not in ("env", "-u") and not word.isupper()]
        answer: Callable[[Sequence[str]], str | None] = getattr(self, f"_{words[0]}", lambda _: "")
        out = answer(argv)
        if out is None:
            return Result(tuple(argv), 1, "", "srun: error: Requested nodes are busy")
        return Result(tuple(argv), 0, out, "")

    def _sinfo(self, _: Sequence[str]) -> str:
        return "".join(f"{n}|{self.state.get(n, 'idle|up|train*|none')}\n" for n in self.nodes)

    def _munge(self, _: Sequence[str]) -> str:
        return "MUNGE:x:"

    def _date(self, _: Sequence[str]) -> str:
        return "1000\n"

    def _id(self, _: Sequence[str]) -> str:
        return "1000\n"

    def _sbatch(self, argv: Sequence[str]) -> str | None:
        self.array = tuple(n for word in argv if word.startswith("--nodelist=") for n in expand(word[11:]))
        return None if "array" in self.busy else "77\n"

    def _squeue(self, argv: Sequence[str]) -> str:
        return "".join(f"{80 + at}\n" for at in range(self.running)) if "R" in argv else ""

    def _salloc(self, argv: Sequence[str]) -> str:
        (node,) = (word.partition("=")[2] for word in argv if word.startswith("--nodelist="))
        one = document(H100, [0]).data
        return printed("interactive", node, 0, one) + printed("ssh-adopted", node, 0, one)

    def _sh(self, argv: Sequence[str]) -> str | None:
        return None if argv[1] == "-c" else printed("hosts", "login1", 0, {**host(), "time": 1000})

    def _srun(self, argv: Sequence[str]) -> str | None:
        tag = argv[argv.index("--lines") + 1]
        if tag in self.busy:
            return None
        named = [expand(word.partition("=")[2]) for word in argv if word.startswith("--nodelist=")]
        nodes = [node for node in (named[0] if named else self.array) if node not in self.silent]
        if tag == "hosts":
            return "".join(printed(tag, node, 0, {**host(), "time": 1000}) for node in nodes)
        if tag.startswith("job-"):
            gpu = int(tag[4:]) - 80
            one = document(H100, [gpu], numa=H100.gpus[gpu].numa).data
            batch = printed("batch", nodes[0], 0, one) if nodes else ""
            return batch + "".join(printed(tag, node, 0, one) for node in nodes)
        tasks = int(re.search(r"--ntasks-per-node=(\d+)", " ".join(argv))[1])  # type: ignore[index]
        count = {"gpus-none": 0, "gpus-one": 1, "gpus-half": 4}.get(tag, 8)
        out = ""
        for node in nodes:
            for rank in range(tasks):
                gpus = range(count) if tasks == 1 else [rank]
                numa = 0 if tasks == 1 else H100.gpus[rank].numa
                out += printed(tag, node, rank, document(H100, gpus, numa=numa).data)
        return out


def report(
    slurm: Slurm, wanted: Wanted | None = None, shapes: Mapping[str, ExpectedNode] | None = None
) -> Report:
    every = shapes or dict.fromkeys(slurm.nodes, H100)
    return verify("pod1", every, wanted or Wanted(timeout=5), slurm)


def outcomes(one: Report, name: str) -> list[tuple[str, bool | None, str]]:
    return [(check.nodes, check.passed, check.skipped) for check in one.checks if check.name == name]


def test_a_cluster_without_a_fault_passes_every_check() -> None:
    one = report(Slurm(("gpu1", "gpu2")))
    assert [check for check in one.checks if check.passed is not True] == []
    assert one.findings == ()
    assert one.exit_code == 0
    names = {check.name for check in one.checks}
    assert {
        "side-by-side",
        "batch",
        "interactive",
        "ssh-adopted",
        "ssh-refused",
        "munge",
        "task-spread",
    } <= names


@pytest.mark.parametrize("count", [1, 2, 300])
def test_the_number_of_launches_is_that_of_the_type(count: int) -> None:
    assert report(Slurm(tuple(f"gpu{n}" for n in range(count)))).launches == 7 + 1 + 8 + 1 + 1


def test_a_busy_node_is_left_alone_and_not_checked() -> None:
    slurm = Slurm(("gpu1", "gpu2"), {"gpu2": "mixed|up|train*|none"})
    one = report(slurm)
    assert outcomes(one, "gpus-one") == [("gpu1", True, ""), ("gpu2", None, "its state is mixed")]
    assert not any("gpu2" in word for argv in slurm.started for word in argv)


def test_a_launch_that_is_not_let_in_is_not_checked_with_slurms_words() -> None:
    one = report(Slurm(("gpu1",), busy=("gpus-all",)))
    ((nodes, passed, why),) = outcomes(one, "gpus-all")
    assert (nodes, passed) == ("gpu1", None)
    assert "Requested nodes are busy" in why
    assert one.exit_code == 0


def test_a_node_without_an_answer_is_not_passed() -> None:
    one = report(Slurm(("gpu1", "gpu2"), silent=("gpu2",)))
    assert outcomes(one, "gpus-none") == [("gpu1", True, ""), ("gpu2", None, "no answer")]


def test_jobs_that_never_run_together_are_not_checked() -> None:
    one = report(Slurm(("gpu1",), running=3), Wanted(timeout=0))
    assert outcomes(one, "side-by-side")[0][1:] == (None, "3 of 8 jobs of one GPU ran within 0 s")


def test_a_node_that_is_down_is_a_finding_with_slurms_reason() -> None:
    one = report(Slurm(("gpu1", "gpu2"), {"gpu2": "down*|up|train*|Not responding"}))
    (finding,) = one.findings
    assert (finding.name, finding.host) == ("in-service", "gpu2")
    assert "Not responding" in finding.message
    assert one.exit_code == 1


def test_a_node_that_an_admin_drained_is_no_fault() -> None:
    one = report(Slurm(("gpu1", "gpu2"), {"gpu2": "drained|up|train*|new fan"}))
    assert one.exit_code == 0
    assert outcomes(one, "gpus-one")[1] == ("gpu2", None, "its state is drained: new fan")


def test_when_no_node_can_be_tried_nothing_was_verified() -> None:
    one = report(Slurm(("gpu1",), {"gpu1": "allocated|up|train*|none"}))
    assert not any(check.passed for check in one.checks if check.name != "in-service")
    assert one.exit_code == 2


def test_everything_started_is_limited_named_and_cancelled() -> None:
    slurm = Slurm(("gpu1",))
    report(slurm, Wanted(timeout=30, account="a", qos="q", reservation="r", partition="train"))
    jobs = [argv for argv in slurm.started if {"srun", "sbatch", "salloc"} & set(argv)]
    own = [argv for argv in jobs if not any(word.startswith("--jobid") for word in argv)]
    for argv in own:
        assert {"--account=a", "--qos=q", "--reservation=r", "--partition=train", "--time=2"} <= set(argv)
        assert "--immediate=30" in argv or "sbatch" in argv
    (name,) = {word for argv in own for word in argv if word.startswith("--job-name=")}
    assert slurm.started[-1] == ("scancel", f"--name={name.partition('=')[2]}")


def test_jobs_are_cancelled_when_something_breaks() -> None:
    class Broken(Slurm):
        def _salloc(self, argv: Sequence[str]) -> str:
            raise KeyboardInterrupt

    slurm = Broken(("gpu1",))
    with pytest.raises(KeyboardInterrupt):
        report(slurm)
    assert slurm.started[-1][0] == "scancel"


def test_only_the_nodes_that_were_asked_for_are_tried() -> None:
    one = report(Slurm(("gpu1", "gpu2")), Wanted(nodes=("gpu2",), timeout=5))
    assert {check.nodes for check in one.checks} == {"gpu2"}


def test_of_many_launches_only_the_chosen_are_tried() -> None:
    one = report(Slurm(("gpu1",)), Wanted(only=frozenset({"gpus-none", "gpus-one"})))
    assert one.launches == 2
    assert not {"gpus-all", "side-by-side", "batch", "interactive", "ssh-adopted", "munge"} & {
        check.name for check in one.checks
    }


def test_the_look_at_hosts_can_be_chosen_alone() -> None:
    one = report(Slurm(("gpu1",)), Wanted(only=frozenset({"hosts"})))
    assert one.launches == 1
    assert outcomes(one, "munge") == [("gpu1", True, "")]


def test_a_partition_that_does_not_have_a_node_leaves_it_unchecked() -> None:
    one = report(Slurm(("gpu1",)), Wanted(partition="debug", timeout=5))
    assert outcomes(one, "gpus-none")[0][1:] == (None, "partition debug does not have it, or is not up")


def test_without_a_controller_it_cannot_be_done() -> None:
    class Gone(Slurm):
        def _sinfo(self, _: Sequence[str]) -> str:  # type: ignore[override]
            return None  # type: ignore[return-value]

    with pytest.raises(SlurmwrightError, match="cannot be asked"):
        report(Gone(("gpu1",)))


def test_a_launch_that_never_answers_is_the_last_one() -> None:
    class Stuck(Slurm):
        def run(self, argv: Sequence[str], **more: Any) -> Result:  # type: ignore[override]
            if {"srun", "sbatch", "salloc"} & set(argv):
                self.started.append(tuple(argv))
                return Result(tuple(argv), 124, "", "no answer within 210 s")
            return super().run(argv, **more)

    slurm = Stuck(("gpu1",))
    one = report(slurm)
    assert one.launches == 1
    assert "srun gave no answer" in outcomes(one, "side-by-side")[0][2]
    assert one.exit_code == 2


def test_a_node_that_is_lost_on_the_way_does_not_keep_the_others_from_being_tried() -> None:
    class Losing(Slurm):
        """A job that holds gpu2 does not start, and slurmctld then finds that gpu2 does not answer."""

        def _srun(self, argv: Sequence[str]) -> str | None:
            if any("gpu[1-2]" in word for word in argv):
                self.state = {"gpu2": "mixed*|up|train*|none"}
                return None
            return super()._srun(argv)

    one = report(Losing(("gpu1", "gpu2")), Wanted(timeout=5, only=frozenset({"gpus-none", "gpus-one"})))
    for name in ("gpus-none", "gpus-one"):
        assert outcomes(one, name) == [("gpu1", True, ""), ("gpu2", None, "its state is mixed*")]
    assert ("gpu2", False, "") in outcomes(one, "in-service")
    assert one.launches == 3
