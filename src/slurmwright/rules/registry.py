"""Every rule of the package, found under `rules/faults` by its module, in the order of the ids."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import MappingProxyType

from slurmwright.core.errors import InputError, did_you_mean
from slurmwright.rules import faults
from slurmwright.rules.rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, sorted by id; two rules of one id or name are an error of the package."""
    found: list[Rule] = []
    for module in pkgutil.walk_packages(faults.__path__, f"{faults.__name__}."):
        if not module.ispkg:
            values = vars(importlib.import_module(module.name)).values()
            found += [value for value in values if isinstance(value, Rule)]
    for names in ([rule.id for rule in found], [rule.name for rule in found]):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError.of(f"two rules are called {', '.join(twice)}")
    return tuple(sorted(found, key=lambda rule: rule.id))


@cache
def rules_by_name() -> MappingProxyType[str, Rule]:
    """Every rule by its id and by its name, both in lower case."""
    named = {rule.id.lower(): rule for rule in all_rules()}
    return MappingProxyType(named | {rule.name: rule for rule in all_rules()})


def find_rule(name: str) -> Rule:
    """The rule with this id or name; raises InputError with the nearest one."""
    rules = rules_by_name()
    if name.lower() not in rules:
        known = [rule.id for rule in all_rules()] + [rule.name for rule in all_rules()]
        raise InputError.of(f"'{name}' is no rule; {did_you_mean(name, known)}")
    return rules[name.lower()]
