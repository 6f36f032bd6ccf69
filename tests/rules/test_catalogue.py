"""The rules hold together: ids and names are one rule's, texts are whole, each has cases that fire and do
not."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.report.rule_page import all_described, rule_pages
from slurmwright.rules.registry import all_rules, find_rule, rules_by_name
from slurmwright.rules.rule import Rule

from .case_files import CASES, load_cases

DOCS = Path(__file__).parents[2] / "docs" / "rules"
RULES = all_rules()
ALL = load_cases()


def test_ids_and_names_are_one_rules() -> None:
    assert len(rules_by_name()) == 2 * len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_texts_are_whole(rule: Rule) -> None:
    assert rule.why.endswith(".")
    assert len(rule.why) > 60
    assert rule.fix
    assert rule.references
    assert all(len(reference) > 10 for reference in rule.references)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_it_has_cases_of_both_kinds(rule: Rule) -> None:
    kinds = {case.kind for case in ALL if case.rule == rule.id}
    assert {"fires", "silent"} <= kinds


def test_every_firing_case_names_where_it_is_from() -> None:
    assert [case.id for case in ALL if case.kind == "fires" and not case.raw.get("source")] == []


def test_no_case_is_for_a_rule_that_is_gone() -> None:
    assert {path.stem for path in CASES.glob("*.yaml")} == {rule.id for rule in RULES}


def test_rules_are_found_by_id_and_by_name() -> None:
    assert find_rule("cg001") is find_rule("gpus-unconstrained")


def test_the_pages_of_the_rules_are_what_the_rules_say() -> None:
    """`python -m slurmwright.report.rule_page docs/rules` writes them."""
    wanted = rule_pages(all_described())
    assert {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")} == wanted
