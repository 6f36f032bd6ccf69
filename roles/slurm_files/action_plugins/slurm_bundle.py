"""Entries of a bundle and its folder on the control machine to one call of the module on the host."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """Ansible looks for a class of this name. `bundle` is the folder; all else goes to the module."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        given = dict(self._task.args)
        folder = Path(str(given.pop("bundle")))
        texts = [_text(folder, str(entry["source"])) for entry in given["entries"]]
        packed = base64.b64encode(zlib.compress(json.dumps(texts).encode())).decode()
        return dict(
            self._execute_module(
                "slurm_bundle", module_args={**given, "payload": packed}, task_vars=task_vars
            )
        )


def _text(folder: Path, source: str) -> str:
    """The file with its own line breaks; the module compares its hash with that of the entry."""
    try:
        return (folder / source).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise AnsibleActionFail(
            f"{folder / source} cannot be read ({error}); expected a folder that `slurmwright render` wrote"
        ) from error
