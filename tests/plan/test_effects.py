"""What a change asks of each daemon, by release."""

from __future__ import annotations

import pytest

from slurmwright.core.bundle import Bundle
from slurmwright.core.release import SERIES
from slurmwright.plan import Change, compare

from .conftest import GRES, edited, lab

OLD, NEW = ("22.05", "23.02"), tuple(series for series in SERIES if series >= "23.11")


def effects(release: str, name: str, swap: tuple[str, str]) -> tuple[str, str, str, bool]:
    base = lab(release)
    changes = compare(base, edited(base, name, swap)).changes
    [first] = {change.effects for change in changes}
    shown = first.as_json()
    return (str(shown["slurmctld"]), str(shown["slurmd"]), str(shown["slurmdbd"]), bool(shown["drain_first"]))


CASES = [
    ("slurm.conf", ("NodeName=gpu[1-4]", "NodeName=gpu[1-5]"), ("stop", "restart", "none", False), False),
    (
        "slurm.conf",
        ("RealMemory=1000", "RealMemory=900"),
        ("reconfigure", "reconfigure", "none", False),
        False,
    ),
    ("slurm.conf", ("CoresPerSocket=8", "CoresPerSocket=4"), ("restart", "restart", "none", True), True),
    ("slurm.conf", ("Gres=gpu:h100:2", "Gres=gpu:h100:1"), ("restart", "restart", "none", True), True),
    ("slurm.conf", ("Gres=gpu:h100:2", "Gres=gpu:h200:2"), ("restart", "restart", "none", True), True),
    (
        "slurm.conf",
        ("task/cgroup,task/affinity", "task/affinity"),
        ("restart", "restart", "none", False),
        False,
    ),
    ("slurm.conf", ("GresTypes=gpu", "GresTypes=gpu,shard"), ("restart", "restart", "none", False), False),
    ("gres.conf", ("Cores=0-7", "Cores=8-15"), ("restart", "restart", "none", False), False),
    ("gres.conf", ("nvidia[0-1]", "nvidia[0-2]"), ("restart", "restart", "none", True), True),
]


@pytest.mark.parametrize("release", OLD)
@pytest.mark.parametrize(("name", "swap", "wanted", "_drains"), CASES)
def test_in_place_releases_restart_what_a_reconfigure_does_not_reach(
    release: str, name: str, swap: tuple[str, str], wanted: tuple[str, str, str, bool], _drains: bool
) -> None:
    assert effects(release, name, swap) == wanted


@pytest.mark.parametrize("release", NEW)
@pytest.mark.parametrize(("name", "swap", "_wanted", "drains"), CASES)
def test_re_exec_releases_reconfigure(
    release: str, name: str, swap: tuple[str, str], _wanted: tuple[str, str, str, bool], drains: bool
) -> None:
    assert effects(release, name, swap) == ("reconfigure", "reconfigure", "none", drains)


@pytest.mark.parametrize("release", SERIES)
def test_ports_restart_in_every_release_and_drain_where_steps_would_not_end(release: str) -> None:
    line = ("GresTypes=gpu", "GresTypes=gpu\nSlurmctldPort=7000")
    assert effects(release, "slurm.conf", line) == ("restart", "restart", "none", release in OLD)
    line = ("GresTypes=gpu", "GresTypes=gpu\nSlurmdPort=7000")
    assert effects(release, "slurm.conf", line) == ("restart", "restart", "none", True)


@pytest.mark.parametrize("release", SERIES)
def test_slurmdbd_alone_restarts_for_its_own_file(release: str) -> None:
    line = ("DbdHost=db1", "DbdHost=db1\nDebugLevel=debug")
    assert effects(release, "slurmdbd.conf", line) == ("none", "none", "restart", False)


def change(base: Bundle, name: str, *swaps: tuple[str, str]) -> Change:
    [found] = compare(base, edited(base, name, *swaps)).changes
    return found


def test_an_unknown_option_is_the_worst_effect_and_says_so(base: Bundle) -> None:
    found = change(base, "slurm.conf", ("GresTypes=gpu", "GresTypes=gpu\nNoSuchKey=1"))
    assert found.effects.as_json() == {
        "slurmctld": "stop",
        "slurmd": "stop",
        "slurmdbd": "stop",
        "drain_first": True,
    }
    assert "worst" in found.why


def test_an_option_that_no_row_names_is_inferred(base: Bundle) -> None:
    found = change(base, "slurm.conf", ("GresTypes=gpu", "GresTypes=gpu\nReturnToService=2"))
    assert found.rows == ("other",)
    assert "inferred" in found.source


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("numa_node_as_socket", ("node-sockets",)),
        ("numa_node_as_socket,config_overrides", ("node-sockets", "other")),
        ("config_overrides", ("other",)),
    ],
)
def test_a_row_for_a_word_holds_for_that_word_alone(base: Bundle, words: str, rows: tuple[str, ...]) -> None:
    found = change(base, "slurm.conf", ("GresTypes=gpu", f"GresTypes=gpu\nSlurmdParameters={words}"))
    assert found.rows == rows


@pytest.mark.parametrize(
    ("gres", "row"),
    [
        ("gpu:h100:4", "gpu-count"),
        ("gpu:2", "gpu-type"),
        ("gpu:h200:2", "gpu-type"),
        ("gpu:h100:2,shard:8", "shared-gres-count"),
    ],
)
def test_gres_tells_count_from_type(base: Bundle, gres: str, row: str) -> None:
    assert change(base, "slurm.conf", ("Gres=gpu:h100:2", f"Gres={gres}")).rows == (row,)


def test_a_change_says_what_running_jobs_feel_and_where_that_is_from(base: Bundle) -> None:
    found = change(base, "gres.conf", (GRES, GRES.replace("Type=h100", "Type=h200")))
    assert "killed and requeued" in found.jobs
    assert "gres.conf(5) Type" in found.source


def test_a_file_that_nobody_is_known_to_read_is_the_worst(base: Bundle) -> None:
    from dataclasses import replace

    from .conftest import bundle_file

    new = replace(base, files=tuple(sorted((*base.files, bundle_file("/etc/odd", "x\n", "gpu1")))))
    [found] = compare(base, new).changes
    assert found.effects.slurmctld == "stop"
    assert "nobody is known" in found.why
