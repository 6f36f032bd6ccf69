"""The settings of enroot and the arguments of pyxis, with the releases that know them.

enroot drops an unknown line in silence, pyxis refuses to load for one: so what a release does not know is
never written, and what is found in a file is judged by the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from slurmwright.catalogue.read import DATA, Row, load, row

Program = Literal["enroot", "pyxis"]
_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?(?:[-+].*)?\Z", re.ASCII)
#: The oldest enroot that pyxis works with (pyxis' README).
LEAST_ENROOT = "3.1"


class ContainerOption(Row):
    """One setting, and the first and last release that know it."""

    since: str
    until: str | None = None

    def known_in(self, release: str) -> bool:
        """Does this release know it? `release` is such as 0.24 or 4.1.2."""
        number = version(release)
        return version(self.since) <= number <= (version(self.until) if self.until else number)


def version(text: str) -> tuple[int, int]:
    """The two numbers that decide, of 4.1.2 (4, 1); raises ValueError for what is no version."""
    match = _VERSION.match(text.strip().removeprefix("v"))
    if not match:
        raise ValueError(f"'{text[:40]}' is no version; expected such as 4.1")
    return int(match[1]), int(match[2])


@cache
def container_options(program: Program) -> Mapping[str, ContainerOption]:
    """Every setting by its name, as it is spelt."""
    path = DATA / "container_options.yaml"
    return {name: row(ContainerOption, raw, path, name) for name, raw in load(path)[program].items()}
