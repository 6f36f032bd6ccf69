"""Finds what is wrong with containers: settings that the release does not know, passwords in a file that
everybody reads, paths that bash would take apart.

enroot evaluates each value of enroot.conf as bash does, so only plain characters get there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.catalogue.container_options import LEAST_ENROOT, Program, container_options, version
from slurmwright.model import names
from slurmwright.model.cluster import Containers, Registry
from slurmwright.model.faults import Faults

_PROXY = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]{1,200}/?\Z")
_HOSTS = re.compile(r"[A-Za-z0-9.,:/_-]{1,1000}\Z")


def check_containers(faults: Faults, containers: Containers) -> None:
    """Note everything; paths first."""
    top = ("containers",)
    for name in ("plugin", "importer", "credentials"):
        path = getattr(containers, name)
        if path is not None and (wrong := names.bad_folder(path)):
            faults.add((*top, name), wrong.replace("no folder", "no path"))
    for at, path in enumerate(containers.images):
        if wrong := names.bad_folder(path):
            faults.add((*top, "images", at), wrong)
    _check_registry(faults, containers.registry)
    programs: tuple[Program, ...] = ("enroot", "pyxis")
    for program in programs:
        text = getattr(containers, program)
        if text is not None and (wrong := _bad_version(program, text)):
            faults.add((*top, program), wrong)
        elif program == "pyxis":
            for name, argument in _newer(containers, text or _OLDEST):
                faults.add((*top, name), _needs(argument, text))


def _check_registry(faults: Faults, registry: Registry) -> None:
    where = ("containers", "registry")
    if registry.proxy is not None and not _PROXY.match(registry.proxy):
        secret = "@" in registry.proxy
        text = "a password would stand in a file that all users read" if secret else "no address"
        faults.add((*where, "proxy"), f"{text}; expected such as http://proxy:3128")
    if registry.no_proxy is not None and not _HOSTS.match(registry.no_proxy):
        faults.add((*where, "no_proxy"), "no list of hosts; expected such as .site,10.0.0.1")
    if registry.ca_file is not None and (wrong := names.bad_folder(registry.ca_file)):
        faults.add((*where, "ca_file"), wrong.replace("no folder", "no path"))


def _bad_version(program: Program, text: str) -> str:
    try:
        number = version(text)
    except ValueError as error:
        return str(error)
    if program == "enroot" and number < version(LEAST_ENROOT):
        return f"pyxis needs enroot {LEAST_ENROOT} or newer"
    return ""


def _newer(containers: Containers, release: str) -> Iterator[tuple[str, str]]:
    """(key of cluster.yaml, pyxis' argument) that the release does not know."""
    known = container_options("pyxis")
    for name, argument in (
        ("scope", "container_scope"),
        ("entrypoint", "execute_entrypoint"),
        ("importer", "importer"),
        ("squashfuse", "use_squashfuse"),
    ):
        asked = getattr(containers, name) or name == "entrypoint"
        if asked and not known[argument].known_in(release):
            yield name, argument


def _needs(argument: str, said: str | None) -> str:
    since = container_options("pyxis")[argument].since
    have = f"it is {said} here" if said else f'say which one is installed, pyxis: "{since}" or newer'
    return f"pyxis knows {argument} from {since} on; {have}"


#: What is assumed where no release is named: the arguments have not changed since, but for new ones.
_OLDEST = "0.12"
