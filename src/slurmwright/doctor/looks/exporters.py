"""Exporters that a release of Slurm broke: what they look for, against what this host and release have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.catalogue.rest_versions import rest_versions
from slurmwright.doctor.host import Host
from slurmwright.doctor.told import Told, each

_SCOPE = re.compile(r"/(\S*slurmstepd\.scope)")
#: A SLUID as src/common/sluid.c prints it: s and 13 digits of Crockford's base 32.
_SLUID = re.compile(r"slurmstepd\.scope/(s[0-9A-HJKMNP-TV-Z]{13})(?=[/\s]|\Z)")
_VERSION = re.compile(r"\bv0\.0\.(\d{2})\b")


def scope(host: Host) -> Iterator[Told]:
    """An exporter that looks below a scope that is called otherwise."""
    own = _SCOPE.search(host.text("find_cgroup.txt"))
    looked = re.search(r"(/\S*slurmstepd\.scope)", host.text("exporter_flags.txt"))
    if own and looked and "*" not in looked[1] and looked[1] not in f"/{own[1]}":
        called = own[1].rpartition("/")[2]
        yield Told(
            "DR024", f"the exporter looks in {looked[1]}, and the scope here is {called}: it finds no job"
        )


def job_names(host: Host) -> Iterator[Told]:
    """Cgroups called by SLUID, and an exporter that is told to look for job_ID."""
    called = _SLUID.search(host.text("find_cgroup.txt"))
    if called and "job_" in host.text("exporter_flags.txt"):
        yield Told(
            "DR027",
            f"the exporter looks for cgroups job_ID, and from 26.05 on one is {called[1]}: it finds no job",
        )


def api_version(host: Host) -> Iterator[Told]:
    """An exporter that asks for a version of the REST interface that this release does not have."""
    has = rest_versions(host.release[:5])
    asked = {int(number) for number in _VERSION.findall(host.text("exporter_flags.txt"))}
    wrong = sorted(number for number in asked if has and not has[0] <= number <= has[1])
    if has and wrong:
        said = ", ".join(f"v0.0.{number}" for number in wrong)
        text = f"the exporter asks for {said}, and Slurm {host.release} has v0.0.{has[0]} to v0.0.{has[1]}"
        yield Told("DR028", text, fix=f"set the exporter to v0.0.{has[1] if min(wrong) > has[1] else has[0]}")


def field(host: Host) -> Iterator[Told]:
    """A program that asks sacct for a field that is gone."""
    if hits := host.all("field-removed"):
        pairs = ", ".join(f"{hit.part('old')} (now {hit.part('new')})" for hit in hits[:1])
        text = (
            f"a program asks sacct for {pairs}, which every release from 22.05 on refuses: it shows no GPUs"
        )
        yield Told("DR029", text, hits, tuple(each(hits, "old")))


LOOKS = (scope, job_names, api_version, field)
