"""Cases of rules as data, laid out as the folders that `lint` reads.

tests/rules/cases/XX000.yaml has `fires`, `silent` and, for rules that can mend, `fixed`; how a case looks
is told in docs/how-to/write-a-rule.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from slurmwright.conf import parse

HERE = Path(__file__).parent
CASES = HERE / "cases"
BASE = {path.name: path.read_text(encoding="utf-8") for path in sorted((HERE / "base").iterdir())}
KINDS = ("fires", "silent", "fixed")
_KEYS = frozenset(("name", "source", "release", "only", "files", "set", "at", "says", "severity", "becomes"))


@dataclass(frozen=True)
class Case:
    """One case: the rule it is for, what must happen, and the files."""

    rule: str
    kind: str
    name: str
    files: dict[str, str]
    raw: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.rule}-{self.kind}-{self.name}".replace(" ", "-")

    @property
    def release(self) -> str | None:
        return self.raw.get("release")

    def lay_out(self, folder: Path) -> Path:
        """Write the files below a folder."""
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return folder


@cache
def load_cases() -> tuple[Case, ...]:
    """Every case of every rule, in the order of the files."""
    found: list[Case] = []
    for path in sorted(CASES.glob("*.yaml")):
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        unknown = set(raw) - set(KINDS)
        assert not unknown, f"{path.name}: {unknown} is none of {KINDS}"
        for kind in KINDS:
            found += [_case(path.stem, kind, body) for body in raw.get(kind, ())]
    return tuple(found)


def _case(rule: str, kind: str, raw: dict[str, Any]) -> Case:
    unknown = set(raw) - _KEYS
    assert not unknown, f"{rule}: {unknown} is no key of a case"
    files = {} if raw.get("only") else dict(BASE)
    for name, text in raw.get("files", {}).items():
        if text is None:
            del files[name]
        else:
            files[name] = text
    for name, settings in raw.get("set", {}).items():
        doc = parse(files.get(name, ""), name)
        for key, value in settings.items():
            doc = doc.unset(key) if value is None else doc.set(key, str(value))
        files[name] = doc.text
    return Case(rule, kind, raw["name"], files, raw)
