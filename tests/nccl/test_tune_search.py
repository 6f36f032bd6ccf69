"""The search for better settings over simulated clusters: finds what is there, and nothing else."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from slurmwright.catalogue.nccl_tuning import tried
from slurmwright.nccl.tune_search import NoBaselineError, Setting, tune


@dataclass
class Simulated:
    """A cluster whose speed is a product of factors, with noise and a drift."""

    effects: Mapping[tuple[str, str], float] = field(default_factory=dict)
    noise: float = 0.01
    seed: int = 1
    drift: float = 0.0
    fails: frozenset[tuple[str, str]] = frozenset()
    runs: int = 0

    def true(self, setting: Setting) -> float:
        speed = 300.0
        for pair in setting.items():
            speed *= self.effects.get(pair, 1.0)
        return speed

    def __call__(self, setting: Setting) -> float | None:
        self.runs += 1
        if self.fails & set(setting.items()):
            return None
        shake = random.Random(f"{self.seed}-{self.runs}").gauss(0, self.noise)  # noqa: S311
        return self.true(setting) * (1 + shake) * (1 + self.drift * self.runs)


BEST = {
    ("NCCL_IB_QPS_PER_CONNECTION", "2"): 1.05,
    ("NCCL_IB_QPS_PER_CONNECTION", "4"): 1.15,
    ("NCCL_IB_QPS_PER_CONNECTION", "8"): 1.08,
    ("NCCL_BUFFSIZE", "8388608"): 1.06,
    ("NCCL_MIN_CTAS", "32"): 0.9,
}


@pytest.mark.parametrize("seed", range(20))
def test_the_planted_best_is_found_within_5_percent_in_60_runs(seed: int) -> None:
    cluster = Simulated(BEST, seed=seed)
    found = tune(tried("roce"), cluster, 60, seed)
    assert cluster.true(found.setting) >= 0.95 * 300 * 1.15 * 1.06
    assert found.runs == cluster.runs <= 60


@pytest.mark.parametrize("noise", [0.005, 0.01, 0.03, 0.06])
@pytest.mark.parametrize("seed", range(20))
def test_noise_is_never_told_as_a_gain(seed: int, noise: float) -> None:
    cluster = Simulated(noise=noise, seed=seed)
    found = tune(tried("infiniband"), cluster, 60, seed)
    assert (dict(found.setting), found.gain) == ({}, 0.0)
    assert cluster.runs <= 60


@pytest.mark.parametrize("seed", range(20))
def test_a_cluster_that_warms_up_is_not_taken_for_a_gain(seed: int) -> None:
    assert tune(tried("infiniband"), Simulated(seed=seed, drift=0.001), 60, seed).setting == {}


def test_a_value_that_fails_is_told_and_not_taken() -> None:
    bad = ("NCCL_IB_QPS_PER_CONNECTION", "8")
    found = tune(tried("roce"), Simulated({**BEST, bad: 3.0}, fails=frozenset({bad})), 60, 1)
    assert found.setting["NCCL_IB_QPS_PER_CONNECTION"] == "4"
    assert set(found.rejected) == {"NCCL_IB_QPS_PER_CONNECTION=8"}


def test_the_same_seed_and_scores_ask_for_the_same_runs() -> None:
    asked: list[list[Setting]] = [[], []]
    for runs in asked:
        cluster = Simulated(BEST)
        tune(
            tried("roce"), lambda setting, r=runs, c=cluster: (r.append(dict(setting)), c(setting))[1], 60, 7
        )
    assert asked[0] == asked[1]


def test_a_small_budget_is_kept() -> None:
    cluster = Simulated(BEST)
    found = tune(tried("roce"), cluster, 20, 1)
    assert cluster.runs <= 20
    assert found.runs == cluster.runs


def test_without_a_baseline_there_is_nothing_to_compare_with() -> None:
    with pytest.raises(NoBaselineError):
        tune(tried("roce"), lambda _: None, 60, 1)
