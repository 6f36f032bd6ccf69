"""Turns a YAML file of the catalogue into validated rows; a wrong file is an error with file and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from slurmwright.core.errors import InputError, Problem

DATA = Path(__file__).resolve().parent / "data"

# libyaml reads the tables about ten times faster; not every build of PyYAML has it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Row(BaseModel):
    """A frozen catalogue row; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


RowT = TypeVar("RowT", bound=Row)


def load(path: Path) -> dict[str, Any]:
    """The mapping in a file; raises InputError when it is missing, broken or no mapping."""
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506
    except OSError as error:
        raise InputError.of(f"cannot be read ({error.strerror}); reinstall slurmwright", str(path)) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError.of(f"is not YAML: {' '.join(str(error).split())}", str(path)) from error
    if not isinstance(raw, dict):
        raise InputError.of(f"holds {type(raw).__name__}, expected a mapping", str(path))
    return raw


def row(model: type[RowT], raw: object, path: Path, at: str = "", /, **given: object) -> RowT:
    """One validated row, with the fields that its place gives; raises InputError with every wrong field."""
    try:
        return model.model_validate({**raw, **given} if isinstance(raw, dict) else raw)
    except ValidationError as error:
        where = [at] if at else []
        raise InputError(
            Problem(str(path), 0, 0, f"{'.'.join([*where, *map(str, e['loc'])])}: {e['msg']}")
            for e in error.errors()
        ) from error
