"""Each setting of Slurm's files against the release that bundle.json names."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from slurmwright.catalogue.options import check_setting, lookup
from slurmwright.core.errors import InputError
from slurmwright.core.release import Release
from slurmwright.render.agree.view import Disagreement, Place, View

FILES = ("slurm.conf", "gres.conf", "cgroup.conf", "topology.conf", "slurmdbd.conf", "job_container.conf")


def known_to_release(view: View) -> Iterator[Disagreement]:
    """Nothing is said about a bundle whose release is not known."""
    try:
        release = Release.parse(view.bundle.release)
    except InputError:
        return
    for file in view.bundle.files:
        name = posixpath.basename(file.path)
        conf = view.conf(name) if name in FILES and posixpath.dirname(file.path) == view.folder else None
        for statement in conf.doc.statements if conf else ():
            section = _section(name, statement.key)
            for pair in statement.pairs:
                fault = check_setting(release, name, section, pair.key, pair.value)
                if fault:
                    place = Place(file.source, pair.line)
                    yield Disagreement(
                        place, f"{fault}; the release stands in bundle.json", f"{name}:{pair.key}"
                    )


def _section(file: str, first_key: str) -> str:
    """The part of the catalogue that a line belongs to: its first key's own, or the global settings."""
    if file == "gres.conf":
        return "line"
    option = lookup(file, first_key, first_key)
    return option.section if option else "global"
