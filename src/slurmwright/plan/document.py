"""A plan to its JSON document and back: the files in it alone rebuild both bundles, and they the plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slurmwright.core.bundle import Bundle, BundleFile, check_place
from slurmwright.core.errors import InputError
from slurmwright.core.release import Release
from slurmwright.plan.compare import compare
from slurmwright.plan.values import Plan

FORMAT = "slurmwright/plan/1"
_WORDS = ("path", "hosts", "owner", "group", "mode")


def plan_json(plan: Plan) -> dict[str, object]:
    """The document, in the form that `read_plan` takes."""
    return {
        "format": FORMAT,
        "cluster": plan.new.cluster,
        "release": plan.new.release,
        "from": {"bundle_sha256": digest(plan.old)},
        "to": {"bundle_sha256": digest(plan.new)},
        "files": files_json(plan.old, plan.new),
        "changes": [change.as_json() for change in plan.changes],
        "steps": [step.as_json() for step in plan.steps],
        "hosts_contacted": list(plan.hosts_contacted),
        "drain_first": list(plan.drain_first),
        "summary": plan.summary,
    }


def digest(bundle: Bundle) -> str:
    """One number for all files of a bundle with their hosts, owners and modes; passwords do not count."""
    rows = sorted((f.path, f.hosts, f.owner, f.group, f.mode, f.sha256) for f in bundle.files)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def files_json(old: Bundle, new: Bundle) -> list[dict[str, str | None]]:
    """Every file of either side; one whose hosts or owner change stands twice, once for each side."""
    sides: dict[tuple[str, ...], dict[str, str]] = {}
    for name, bundle in (("old", old), ("new", new)):
        for file in bundle.files:
            sides.setdefault(tuple(getattr(file, word) for word in _WORDS), {})[name] = file.text
    return [
        {**dict(zip(_WORDS, key, strict=True)), "old": texts.get("old"), "new": texts.get("new")}
        for key, texts in sorted(sides.items())
    ]


def bundles_of(document: Mapping[str, Any], where: str) -> tuple[Bundle, Bundle]:
    """Both bundles of a document; raises InputError for what `plan_json` does not write."""
    if document.get("format") != FORMAT:
        raise InputError.of(f"format is {document.get('format')!r}, expected '{FORMAT}'", where)
    rows = document.get("files")
    if not isinstance(rows, list) or not rows:
        raise InputError.of("holds no list of files; make the plan again with `slurmwright plan`", where)
    cluster, release = str(document.get("cluster", "")), str(document.get("release", ""))
    Release.parse(release)
    sides = []
    for name in ("old", "new"):
        files = [_file(row, name, at, where) for at, row in enumerate(rows)]
        sides.append(Bundle(cluster, release, tuple(sorted(f for f in files if f is not None))))
    return sides[0], sides[1]


def read_plan(path: Path) -> Plan:
    """The plan of a file, worked out anew from its files; raises InputError where it says something else."""
    where = str(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError.of(f"cannot be read: {error.strerror or error}", where) from error
    except (ValueError, RecursionError) as error:
        raise InputError.of(
            "is no plan: no JSON; `slurmwright plan --format json` writes one", where
        ) from error
    if not isinstance(document, dict):
        raise InputError.of("is no plan: no object; `slurmwright plan --format json` writes one", where)
    plan = compare(*bundles_of(document, where))
    again = plan_json(plan)
    for key in ("from", "to", "changes", "steps", "drain_first", "hosts_contacted"):
        if document.get(key) != again[key]:
            raise InputError.of(
                f"'{key}' is not what follows from its files: edited, or made by another version of "
                "slurmwright; make the plan again",
                where,
            )
    return plan


def _file(row: object, side: str, at: int, where: str) -> BundleFile | None:
    if not isinstance(row, dict) or not all(isinstance(row.get(word), str) for word in _WORDS):
        raise InputError.of(f"files[{at}] is no file with {', '.join(_WORDS)}; make the plan again", where)
    text = row.get(side)
    if text is None:
        return None
    if not isinstance(text, str):
        raise InputError.of(f"files[{at}].{side} is neither text nor null; make the plan again", where)
    words = {word: str(row[word]) for word in _WORDS}
    file = BundleFile(source=f"@{at}{words['path']}", text=text, **words)
    check_place(file, where)
    return file
