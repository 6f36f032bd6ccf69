"""Raw output and results to files beside the inventory, without secrets, and earlier results back.

nccl-tests can write its whole environment (`-J`), and logs hold what programs print: a value whose name says
that it is secret is replaced before anything reaches the disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from slurmwright.core.errors import InputError
from slurmwright.core.files import write_text

REMOVED = "[removed]"
_NAME = r"[A-Za-z0-9_.-]*(?:TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|(?:API|ACCESS|PRIVATE)_?KEY|AUTH|COOKIE)"
_ASSIGNED = re.compile(rf"(?i)(\"?\b{_NAME}[A-Za-z0-9_.-]*\"?\s*[=:]\s*)(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"',]+)")
_URL = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


def scrub(text: str) -> str:
    """The text without values that are secret by their name or form."""
    text = _KEY.sub(REMOVED, text)
    text = _URL.sub(rf"\1{REMOVED}@", text)
    text = _BEARER.sub(rf"\1 {REMOVED}", text)
    return _ASSIGNED.sub(lambda found: f"{found[1]}{REMOVED}", text)


def keep(folder: Path, name: str, document: Mapping[str, Any], raw: Mapping[str, str]) -> Path:
    """Write NAME.json and a file of raw output for each run; returns the document's path."""
    folder.mkdir(parents=True, exist_ok=True)
    for run, text in raw.items():
        write_text(folder / f"{name}.{re.sub(r'[^A-Za-z0-9_.-]', '-', run)}.txt", scrub(text))
    path = folder / f"{name}.json"
    write_text(path, json.dumps(document, indent=2) + "\n")
    return path


def earlier(folder: Path, wanted: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Results that have these values, the newest first; a file that is none of ours is left alone."""
    for path in sorted(folder.glob("*.json"), reverse=True):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(data, dict) and all(data.get(key) == value for key, value in wanted.items()):
            yield data


def writable(folder: Path) -> None:
    """Refuse before an hour of measuring, not after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".probe"
        probe.write_text("", encoding="utf-8")
        probe.unlink()
    except OSError as error:
        raise InputError.of(
            f"results cannot be kept there: {error.strerror or error}", str(folder)
        ) from error
