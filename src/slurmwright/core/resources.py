"""Finds what travels with the package: templates, roles and playbooks, in a checkout and in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def share(name: str) -> Path:
    """The folder `templates`, `roles` or `ansible`, wherever this package was installed from."""
    installed = _PACKAGE / "_share" / name
    return installed if installed.is_dir() else _PACKAGE.parent.parent / name
