"""Ansible inventory plugin: cluster.yaml, the same that everything else reads, to hosts and groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.plugins.inventory import BaseInventoryPlugin
from ansible.utils.display import Display
from ansible.utils.vars import load_extra_vars

DOCUMENTATION = r"""
name: slurmwright
short_description: Reads hosts of a Slurm cluster from its cluster.yaml
description:
  - Gives the hosts of a C(cluster.yaml) with their addresses, grouped by daemon (C(slurm_controller),
    C(slurm_database), C(slurm_login), C(slurm_node)), node type (C(type_*)) and partition (C(partition_*)).
  - Each host has the list of files that it gets from the rendered bundle in C(slurm_files_entries).
options:
  bundle:
    description:
      - Folder of the rendered files. The extra variable C(slurm_files_bundle) comes before it.
      - By default C(rendered) beside C(cluster.yaml), which must be what C(slurmwright render) writes now.
    type: path
    env: [{name: SLURMWRIGHT_BUNDLE}]
requirements: [slurmwright, for the Python that runs Ansible]
"""

EXAMPLES = r"""
# ansible -i inventories/pod1/cluster.yaml all -m ansible.builtin.ping
# ansible-playbook -i inventories/pod1/cluster.yaml ansible/site.yml
"""

#: Ansible's own exit code for a file that it cannot parse.
_CANNOT_PARSE = 4


class InventoryModule(BaseInventoryPlugin):
    """Ansible looks for a class of this name."""

    NAME = "slurmwright"

    def verify_file(self, path: str) -> bool:
        """Any file named cluster.yaml."""
        return bool(super().verify_file(path)) and Path(path).name == "cluster.yaml"

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        """Fill Ansible's inventory, or end the program with every fault of cluster.yaml."""
        super().parse(inventory, loader, path, cache)
        self.set_options()
        given = load_extra_vars(loader).get("slurm_files_bundle") or self.get_option("bundle")
        found = _load(Path(path), Path(str(given)) if given else None)
        for host, own in found.hosts.items():
            inventory.add_host(host)
            for name, value in own.items():
                inventory.set_variable(host, name, value)
        for group in found.groups:
            inventory.add_group(group.name)
            for name, value in group.vars.items():
                inventory.set_variable(group.name, name, value)
        every, *others = found.groups
        for group in others:
            inventory.add_child(every.name, group.name)
            for host in group.hosts:
                inventory.add_child(group.name, host)


def _load(path: Path, bundle: Path | None) -> Any:
    try:
        from slurmwright.apply.load import load_inventory
        from slurmwright.core.errors import InputError
    except ImportError as error:
        _stop([f"the Python that runs Ansible has no slurmwright ({error}); install it there"])
    try:
        return load_inventory(_shown(path), bundle)
    except InputError as error:
        _stop(str(error).splitlines())


def _shown(path: Path) -> Path:
    """The path as it is shown in messages: relative to where the admin stands, if it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _stop(lines: list[str]) -> Any:
    """Leave at once: after an exception Ansible would let its YAML plugin try, which takes cluster.yaml for
    groups called control and slurm, or go on without any host and end with exit code 0."""
    for line in lines:
        Display().error(line, wrap_text=False)
    raise SystemExit(_CANNOT_PARSE)
