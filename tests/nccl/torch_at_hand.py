"""PyTorch of this machine's own Python, lent to the hosts of a rehearsal: nothing is installed in their root.

The root is another Debian, so its programs cannot load this machine's libraries; but the loader of this
machine starts its own Python anywhere, when it is told where the libraries lie.
"""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

from slurmwright.rehearse.machine import Machine

PYTHON, LOADER = "/usr/bin/python3", "/lib64/ld-linux-x86-64.so.2"
#: Where hosts see this machine's /usr, and the folder of the `python3` that starts it.
LENT, COMMANDS = "/opt/machine", "/opt/machine/bin"
#: Debian chooses these by links in /etc, which the hosts do not have.
_CHOSEN = ("libblas.so.3", "liblapack.so.3")


@cache
def has_torch() -> bool:
    """Has this machine's Python torch with its collectives, and can it be lent?"""
    look = [PYTHON, "-c", "import torch.distributed as d; assert d.is_available()"]
    known = Path(PYTHON).exists() and os.path.realpath(LOADER).startswith("/usr/")
    return known and subprocess.run(look, capture_output=True, check=False).returncode == 0


def lend(machine: Machine) -> None:
    """Before its hosts start: they keep the mounts that they began with."""
    folder = f"{machine.root}{LENT}"
    machine.sandbox.script(f"mkdir -p {folder}/usr {folder}/bin\nmount --bind -o ro /usr {folder}/usr")
    own = Path(os.path.realpath(LOADER)).parent
    chosen = [os.path.dirname(os.path.realpath(own / name)) for name in _CHOSEN if (own / name).exists()]
    libraries = ":".join(f"{LENT}{one}" for one in dict.fromkeys([*chosen, str(own), "/usr/lib"]))
    program = machine.sandbox.path(f"{machine.root}{COMMANDS}/python3")
    program.write_text(
        f"#!/bin/sh\nexport PYTHONHOME={LENT}/usr\n"
        f"exec {LENT}{os.path.realpath(LOADER)} --library-path {libraries} {LENT}{os.path.realpath(PYTHON)} "
        '"$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
