"""What a change costs, by release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from slurmwright.catalogue.effects import OTHER, effect, effects_of, rule_text, table
from slurmwright.catalogue.lifetime import span_covers
from slurmwright.catalogue.options import conf_file, file_names
from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES, Release


def cost(name: str, release: str) -> str:
    rule = effect(name).rule_in(Release.parse(release))
    assert rule is not None
    return rule_text(rule)


@pytest.mark.parametrize(
    ("name", "release", "text"),
    [
        (
            "node-added",
            "22.05",
            "stop slurmctld; then put the files on every host; then restart slurmd on every node; "
            "then start slurmctld",
        ),
        ("node-added", "24.11", "scontrol reconfigure"),
        (
            "node-sockets",
            "23.02",
            "drain the affected nodes; then restart slurmctld; then restart slurmd on the affected nodes",
        ),
        ("partition-removed", "25.05", "drain the partition's jobs; then scontrol reconfigure"),
        ("node-state", "24.11", "nothing takes it up by itself"),
    ],
)
def test_the_cost_reads_as_steps(name: str, release: str, text: str) -> None:
    assert cost(name, release) == text


@pytest.mark.parametrize(("release", "read_at_start"), [("22.05", True), ("25.05", True), ("25.11", False)])
def test_a_signal_gives_slurmdbd_its_database_from_25_11_on(release: str, read_at_start: bool) -> None:
    rule = effect("slurmdbd-conf").rule_in(Release.parse(release))
    assert rule is not None
    assert rule.actions == ("restart_dbd",)
    assert ("all of Storage*" in (rule.note or "")) == read_at_start
    assert "DbdPort" in (rule.note or "")


def test_a_change_that_cannot_occur_yet_has_no_rule() -> None:
    assert effect("topology-yaml").rule_in(Release.parse("24.11")) is None


@pytest.mark.parametrize(
    ("key", "ids"),
    [
        ("TaskPlugin", ["task-plugin"]),
        ("taskplugin", ["task-plugin"]),
        ("slurm.conf:NodeName.RealMemory", ["node-memory"]),
        ("slurm.conf:NodeName.State", ["node-state"]),
        ("slurm.conf:PartitionName.State", ["partition-changed"]),
        ("slurm.conf:SlurmdTimeout", ["scheduling"]),
        ("gres.conf:Cores", ["gpu-cores"]),
        ("slurm.conf:NodeName", ["node-added", "node-removed", "node-order"]),
        ("slurm.conf:NodeName.Gres", ["gpu-count", "gpu-type", "shared-gres-count"]),
        ("slurm.conf:NodeName.Sockets", ["node-sockets"]),
        ("slurm.conf:SlurmctldPort", ["slurmctld-port"]),
        ("slurm.conf:SlurmdPort", ["slurmd-port"]),
        ("slurm.conf:NodeName.Port", ["node-port"]),
        ("slurm.conf:NodeName.NodeAddr", ["node-address"]),
        ("slurm.conf:CommunicationParameters", ["ports", OTHER]),
        ("slurm.conf:ReturnToService", [OTHER]),
        ("NoSuchKey", []),
    ],
)
def test_effects_of_a_key(key: str, ids: list[str]) -> None:
    assert [found.id for found in effects_of(key)] == ids


def test_a_key_with_rows_for_some_words_keeps_the_general_effect() -> None:
    assert [found.id for found in effects_of("SlurmctldParameters")] == ["configless", OTHER]
    assert effect("configless").words_of("slurm.conf:SlurmctldParameters") == ("enable_configless",)
    assert effect("node-sockets").words_of("slurm.conf:NodeName.Sockets") == ()


def test_an_unknown_effect_is_answered_with_the_nearest_id() -> None:
    with pytest.raises(InputError, match=r"did you mean 'gpu-cores'\?"):
        effect("gpu-core")


@pytest.mark.parametrize("name", sorted(table().effects))
class TestEveryEffect:
    def test_each_release_falls_under_one_rule_at_most(self, name: str) -> None:
        for series in SERIES:
            rules = [r for r in effect(name).rules if span_covers(r.releases, Release(series))]
            assert len(rules) <= 1

    def test_every_key_pattern_means_a_key(self, name: str) -> None:
        names = [
            o.name for file in file_names() for o in (conf_file(file) or pytest.fail(file)).options.values()
        ]
        if name != "plugstack":  # plugstack.conf has lines, not keys
            for pattern in effect(name).keys:
                single = effect(name).model_copy(update={"keys": (pattern,)})
                assert any(single.concerns(known) for known in names), pattern


def test_a_row_that_refines_another_shares_its_keys() -> None:
    for row in (row for row in table().effects.values() if row.refines):
        assert all(effect(row.refines or "").concerns(key) for key in row.keys), row.id


@pytest.fixture(scope="module")
def collected(field_data: Path) -> dict[str, Any]:
    return dict(yaml.safe_load((field_data / "slurm" / "apply-actions.yaml").read_text(encoding="utf-8")))


TEXTS = ("running_jobs", "danger", "condition", "also", "doc")


def test_every_collected_change_is_a_row_in_the_same_order(collected: dict[str, Any]) -> None:
    rows = [row for row in table().effects.values() if row.id != OTHER and row.refines is None]
    assert [row.what for row in rows] == [change["what"] for change in collected["changes"]]
    for row, change in zip(rows, collected["changes"], strict=True):
        for key in TEXTS:
            assert getattr(row, key) == change.get(key), (row.id, key)


def test_actions_of_each_release_are_those_collected(collected: dict[str, Any]) -> None:
    words = {"reconfigure", "restart_ctld", "restart_slurmd", "restart_slurmd_all", "restart_dbd"}
    compared = 0
    for change in collected["changes"]:
        row = next(row for row in table().effects.values() if row.what == change["what"])
        for span, told in change.items():
            if not isinstance(told, dict) or not set(map(str, told["action"])) <= words | {"drain"}:
                continue
            for series in (s for s in SERIES if span_covers(span, Release(s))):
                rule = row.rule_in(Release(series))
                if "then" in told or row.id == "node-order":
                    continue
                assert rule is not None
                drained = ["drain"] if rule.drain else []
                assert drained + list(rule.actions) == told["action"], (row.id, series)
                assert (rule.danger is None) is ("danger" not in told), (row.id, series)
                compared += 1
    assert compared > 150
