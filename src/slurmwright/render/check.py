"""Checks what was rendered before anyone sees it: pairs against the release, files against each other.

What a person wrote under `overrides` can make two files disagree; the message then names that word first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from slurmwright.catalogue.options import check_setting
from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import InputError, Problem
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.hosts import expand
from slurmwright.core.release import Release
from slurmwright.model.cluster import Cluster
from slurmwright.render.agree import Disagreement, disagreements
from slurmwright.render.node_lines import PER_HOST
from slurmwright.render.rows import Line, Section

#: First key of a line → its section in the options catalogue; other lines are global settings.
_SECTIONS = {key: key for key in ("NodeName", "PartitionName", "SwitchName", "BlockName")}
#: Slurm's own default of SlurmctldTimeout.
TAKEOVER_SECONDS = "120"

Rendered = Mapping[str, tuple[Section, ...]]


def check_rendered(release: Release, files: Rendered) -> None:
    """Raise InputError for every pair that this release does not take, and for lines that stop slurmctld."""
    problems = [*_unknown(release, files), *_own_lines(files)]
    if problems:
        raise InputError(Problem(name, 0, 0, text) for name, text in problems)


def check_bundle(cluster: Cluster, bundle: Bundle) -> None:
    """Raise InputError for files of the bundle that disagree with each other or with their hosts."""
    problems = [_problem(cluster, found) for found in disagreements(bundle) if found.certain]
    if problems:
        raise InputError(problems)


def bundle_notes(cluster: Cluster, bundle: Bundle) -> tuple[Finding, ...]:
    """What the site must see to itself: files of its own, as warnings, and storage that controllers share."""
    missing = tuple(
        Finding(
            "render/not-in-bundle",
            "not-in-bundle",
            Severity.WARNING,
            found.message,
            found.place.file,
            found.place.line,
            fix="put it on every host by other means before the option is set, or name another folder",
        )
        for found in disagreements(bundle)
        if not found.certain
    )
    return (*missing, *_shared_state(cluster))


def _shared_state(cluster: Cluster) -> Iterator[Finding]:
    """Two controllers with a folder each are two clusters as soon as the second takes over."""
    servers = [server.host for server in cluster.control.controllers]
    if len(servers) < 2:
        return
    wanted = cluster.overrides.get("slurm.conf", {}).get("SlurmctldTimeout")
    seconds = wanted if isinstance(wanted, str) else TAKEOVER_SECONDS
    message = (
        f"StateSaveLocation={cluster.control.state_dir} must be one folder on shared storage on "
        f"{', '.join(servers)}: a backup that finds it empty takes over without jobs and ends what runs. "
        f"It takes over after SlurmctldTimeout={seconds} s, so a quick restart of the primary starts none"
    )
    fix = f"mount it on each of them; what {cluster.slurm.user} writes there on one is seen on the others"
    yield Finding("render/shared-state", "shared-state", Severity.INFO, message, "slurm.conf", fix=fix)


def _problem(cluster: Cluster, found: Disagreement) -> Problem:
    file, _, key = found.option.partition(":")
    own = {name.lower(): name for name in cluster.overrides.get(file, {})}
    if key.lower() not in own:
        return Problem(found.place.file, found.place.line, 0, found.message)
    word = f"overrides: {file}: {own[key.lower()]}"
    text = f"{word}: {found.message} (rendered to {found.place}); change or remove it"
    return Problem("", 0, 0, text, ("overrides", file, own[key.lower()]))


def _unknown(release: Release, files: Rendered) -> Iterator[tuple[str, str]]:
    for name, sections in files.items():
        for section in sections:
            for line in section.lines:
                where = "line" if name == "gres.conf" else _SECTIONS.get(line.pairs[0][0], "global")
                for key, value in line.pairs:
                    fault = check_setting(release, name, where, key, value)
                    if fault:
                        yield name, fault


def _own_lines(files: Rendered) -> Iterator[tuple[str, str]]:
    """What slurm.conf alone must not say."""
    yield from _uncounted(list(_lines(files, "slurm.conf")))
    yield from _uneven(_lines(files, "slurm.conf"))


def _uncounted(lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """GPUs that are counted or billed where nothing counts them; seen on 22.05.8, 24.11.5 and 26.05.5."""
    pairs = [pair for line in lines for pair in line.pairs]
    if ("AccountingStorageType", "accounting_storage/slurmdbd") in pairs:
        return
    for key, value in pairs:
        if key in ("AccountingStorageTRES", "TRESBillingWeights") and "gres/" in value.lower():
            advice = "name its host, control: {database: HOST}, or leave the option out"
            yield "slurm.conf", f"{key}={value} stops slurmctld without slurmdbd; {advice}"


def _uneven(lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """Lists of a node line that go by host: as many entries as hosts, or one, anything else is fatal to
    slurmctld (22.05.8, 24.11.5, 26.05.5)."""
    for line in lines:
        pairs = dict(line.pairs)
        for key in PER_HOST:
            value = pairs.get(key, "")
            if "NodeName" not in pairs or not set(value) & set("[,"):
                continue
            names, given = len(expand(pairs["NodeName"])), len(expand(f"n{value}"))
            if given not in (1, names):
                said = f"{key}={value} has {given} entries for {names} hosts"
                advice = "give one for each, and hosts that differ a group of their own"
                yield "slurm.conf", f"{pairs['NodeName']}: {said}; {advice}"


def _lines(files: Rendered, name: str) -> Iterator[Line]:
    for section in files[name]:
        yield from section.lines
