#!/usr/bin/python
"""A host to what is not as it should be of its daemons and pushed files, in one call; changes nothing."""

from __future__ import annotations

import hashlib
import subprocess

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: slurm_look
short_description: Looks at the daemons and files of a Slurm host
description: Daemons must run and be enabled; files must have the hashes of the bundle.
options:
  units: {description: Units that must run and be enabled, type: list, elements: str, required: true}
  entries:
    description: Files as the inventory lists them; those with a password are only looked for.
    type: list
    elements: dict
    required: true
author: The slurmwright authors
"""

EXAMPLES = r"""
- name: Look at a node
  slurm_look: {units: [munge, slurmd], entries: "{{ slurm_files_entries }}"}
"""

RETURN = r"""
faults: {description: What is not as it should be, returned: always, type: list}
"""


def unit_faults(unit: str, state: str, enabled: str) -> list:
    """`active` and `enabled` are right; `static` units need no enabling."""
    faults = [] if state == "active" else [f"{unit} is {state or 'unknown'}; see `journalctl -u {unit}`"]
    if enabled not in ("enabled", "enabled-runtime", "static", "indirect", "generated"):
        faults.append(f"{unit} is {enabled or 'not there'} and does not start at boot")
    return faults


def file_faults(entry: dict) -> list:
    """One file against its hash."""
    path = entry["path"]
    try:
        with open(path, "rb") as stream:
            found = hashlib.sha256(stream.read()).hexdigest()
    except OSError as error:
        return [f"{path}: {error.strerror}"]
    if not entry.get("has_password") and found != entry["sha256"]:
        return [f"{path} is not as in the bundle"]
    return []


def _systemctl(verb: str, unit: str) -> str:
    try:
        done = subprocess.run(["systemctl", verb, unit], capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error.strerror)
    return done.stdout.strip()


def main() -> None:
    """Called by Ansible on the host."""
    module = AnsibleModule(
        argument_spec={
            "units": {"type": "list", "elements": "str", "required": True},
            "entries": {"type": "list", "elements": "dict", "required": True},
        },
        supports_check_mode=True,
    )
    faults = []
    for unit in module.params["units"]:
        faults += unit_faults(unit, _systemctl("is-active", unit), _systemctl("is-enabled", unit))
    for entry in module.params["entries"]:
        faults += file_faults(entry)
    module.exit_json(changed=False, faults=faults)


if __name__ == "__main__":
    main()
