"""What is wanted of a run to the command line and environment of Ansible, with nothing secret in either.

Ansible's own settings stay the admin's: our ansible.cfg is named only where Ansible would find none.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slurmwright.apply.inventory import ALL
from slurmwright.core.errors import InputError
from slurmwright.core.resources import share
from slurmwright.model.load import cluster_file

_EXTRA = "pip install 'slurmwright[ansible]'"


@dataclass(frozen=True)
class Request:
    """One run. `extra` are further arguments of ansible-playbook, such as --ask-become-pass."""

    inventory: Path
    playbook: Path
    bundle: Path | None = None
    limit: str = ""
    check: bool = False
    diff: bool = False
    extra: tuple[str, ...] = ()

    @property
    def looks(self) -> bool:
        """Does this run change nothing?"""
        return self.check or self.playbook.stem == "verify"


def playbook_argv(request: Request) -> list[str]:
    """The command that runs the playbook."""
    return [
        program("ansible-playbook"),
        f"--inventory={cluster_file(request.inventory).absolute()}",
        *([f"--limit={request.limit}"] if request.limit else []),
        *(["--check"] if request.check else []),
        *(["--diff"] if request.diff else []),
        *request.extra,
        str(request.playbook),
    ]


def hosts_argv(request: Request) -> list[str]:
    """The command that lists the hosts of the run: what --limit takes is Ansible's to say."""
    return [
        program("ansible"),
        f"--inventory={cluster_file(request.inventory).absolute()}",
        *([f"--limit={request.limit}"] if request.limit else []),
        "--list-hosts",
        ALL,
    ]


def program(name: str) -> str:
    """A program of Ansible: beside our own Python, where the inventory plugin finds slurmwright, else the
    first on the path."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise InputError.of(f"{name} is not installed; {_EXTRA} brings it (ansible-core)")
    return found


def environment(request: Request, environ: Mapping[str, str], here: Path) -> dict[str, str]:
    """`environ` with what makes Ansible find our plugins and roles, and print events for a program."""
    ours = {
        "ANSIBLE_INVENTORY_PLUGINS": str(share("ansible") / "inventory_plugins"),
        "ANSIBLE_CALLBACK_PLUGINS": str(share("ansible") / "callback_plugins"),
        "ANSIBLE_ROLES_PATH": str(share("roles")),
        "ANSIBLE_INVENTORY_ENABLED": "slurmwright,host_list,script,auto,yaml,ini,toml",
        "ANSIBLE_STDOUT_CALLBACK": "slurmwright_events",
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_NOCOLOR": "1",
        "PYTHONUNBUFFERED": "1",
    }
    if not has_config(environ, here):
        ours["ANSIBLE_CONFIG"] = str(share("ansible.cfg"))
    if request.bundle:
        ours["SLURMWRIGHT_BUNDLE"] = str(request.bundle.absolute())
    kept = {key: value for key, value in environ.items() if key not in ("ANSIBLE_FORCE_COLOR",)}
    return {**kept, **ours}


def has_config(environ: Mapping[str, str], here: Path) -> bool:
    """Would Ansible find settings of the admin's own? The order is that of its documentation."""
    if environ.get("ANSIBLE_CONFIG"):
        return True
    home = Path(environ["HOME"]) / ".ansible.cfg" if environ.get("HOME") else None
    places = [here / "ansible.cfg", home, Path("/etc/ansible/ansible.cfg")]
    return any(place is not None and place.is_file() for place in places)
