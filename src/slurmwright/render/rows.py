"""The rows that a renderer hands to its template: lines of one or several settings in titled sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from slurmwright.conf.writing import pair_text
from slurmwright.core.resources import share
from slurmwright.model.cluster import Setting

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Line:
    """One line of a Slurm file, key by key, with comments to stand above it."""

    pairs: Pairs
    comments: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(pair_text(key, value) for key, value in self.pairs)


@dataclass(frozen=True)
class Section:
    """Lines that belong together, under a title that gives the reason."""

    title: str
    lines: tuple[Line, ...]


def setting(key: str, value: str) -> Line:
    """A line with one key."""
    return Line(((key, value),))


def settings(sections: tuple[Section, ...]) -> dict[str, str]:
    """The global settings as they will stand in the file."""
    return dict(line.pairs[0] for section in sections for line in section.lines if len(line.pairs) == 1)


def override(sections: tuple[Section, ...], wanted: Mapping[str, Setting]) -> tuple[Section, ...]:
    """Apply the overrides of cluster.yaml to global settings: in place where a key is written already.

    Slurm does not tell upper from lower case in keys; what is written already keeps its spelling.
    """
    spelled = {key.lower(): key for key in wanted}
    done: set[str] = set()
    changed: list[Section] = []
    for section in sections:
        lines: list[Line] = []
        for line in section.lines:
            key, old = line.pairs[0]
            name = spelled.get(key.lower())
            if len(line.pairs) > 1 or name is None or name in done:
                lines.append(line)
                continue
            done.add(name)
            value = _overridden(old, wanted[name])
            if value is not None:
                lines.append(replace(line, pairs=((key, value),)))
        changed.append(replace(section, lines=tuple(lines)))
    rest = [(key, _overridden("", value)) for key, value in wanted.items() if key not in done]
    extra = tuple(setting(key, value) for key, value in rest if value is not None)
    return (*changed, Section("From overrides in cluster.yaml.", extra)) if extra else tuple(changed)


def _overridden(old: str, new: Setting) -> str | None:
    """The value to write, or None for a key that is left out."""
    if isinstance(new, tuple):
        return ",".join(new)
    if not isinstance(new, dict):
        return new
    tokens = {token.partition("=")[0].lower(): token for token in old.split(",") if token}
    for name, value in new.items():
        if value is False:
            tokens.pop(name.lower(), None)
        else:
            tokens[name.lower()] = name if value is True else f"{name}={value}"
    return ",".join(tokens.values()) or None


def place(template: str, cluster: str, sections: tuple[Section, ...]) -> str:
    """Put finished sections into a template of templates/; one without lines is left out."""
    return fill(template, cluster=cluster, sections=[section for section in sections if section.lines])


def fill(template: str, **rows: object) -> str:
    """Put finished rows into a template of templates/; the template computes nothing."""
    environment = Environment(
        loader=FileSystemLoader(share("templates")),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - Slurm's files are no HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(rows)
