"""Kinds of findings that are no rules of lint: each is explained once, and none that is never said."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest
from click.testing import CliRunner

from slurmwright.catalogue.findings import FindingKind, finding_kinds, kinds_by_name
from slurmwright.cli.explain import explain
from slurmwright.discover.traits import TRAITS
from slurmwright.rules.registry import rules_by_name

KINDS = finding_kinds()


def _said(prefix: str, *packages: str) -> set[str]:
    """The ids that the modules of packages name."""
    folders = (one for package in packages for one in files(package).iterdir())
    texts = (one.read_text() for one in folders if one.name.endswith(".py"))
    return {found for text in texts for found in re.findall(rf'"({prefix}\d{{3}})"', text)}


def test_ids_and_names_are_those_of_one_kind_and_of_no_rule() -> None:
    names = [name for one in KINDS for name in (one.id.lower(), *one.names)]
    assert len(names) == len(set(names))
    assert not set(names) & set(rules_by_name())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.id)
def test_texts_are_whole(kind: FindingKind) -> None:
    assert kind.why.endswith(".")
    assert len(kind.why) > 60
    assert kind.fix
    assert all(len(reference) > 10 for reference in kind.references)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.id)
def test_every_kind_is_explained_by_id_and_by_name(kind: FindingKind) -> None:
    for name in (kind.id, kind.name):
        result = CliRunner().invoke(explain, [name, "--format", "json"], catch_exceptions=False)
        assert json.loads(result.stdout)["why"] == kind.why


def test_facts_check_says_what_is_explained_and_nothing_else() -> None:
    assert _said("FA", "slurmwright.discover") == {one.id for one in KINDS if one.id.startswith("FA")}


def test_doctor_says_what_is_explained_and_nothing_else() -> None:
    said = _said("DR", "slurmwright.doctor", "slurmwright.doctor.looks")
    assert said == {one.id for one in KINDS if one.id.startswith("DR")}


@pytest.mark.parametrize("trait", TRAITS, ids=lambda trait: trait.rule)
def test_a_trait_has_the_name_and_severity_that_is_explained(trait: object) -> None:
    known = kinds_by_name()[trait.rule.lower()]  # type: ignore[attr-defined]
    assert (known.name, known.severity) == (trait.name, trait.severity)  # type: ignore[attr-defined]
