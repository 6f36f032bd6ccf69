"""Finds what travels with the package: templates, roles and playbooks, in a checkout and in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def share(name: str) -> Path:
    """The folder `templates`, `roles` or `ansible`, or `ansible.cfg`, wherever this package lies."""
    installed = _PACKAGE / "_share" / name
    return installed if installed.exists() else _PACKAGE.parent.parent / name
