"""job_container.conf and plugstack.conf to `scratch` and `containers`, where they say what render writes."""

from __future__ import annotations

import re
from pathlib import Path

from slurmwright.importing.draft import Part, Words
from slurmwright.importing.source import MAX_BYTES, Source
from slurmwright.importing.yaml_text import Noted

PLUGSTACK = "plugstack.conf"
_PYXIS = re.compile(
    r"required (/[\w./+-]+) runtime_path=/run/pyxis execute_entrypoint=0 container_scope=job\Z"
)
_PRIVATE = "/private"


def disk_of(source: Source) -> Part:
    """A /tmp for each job below FOLDER/private, and pyxis with our own words; nothing for other forms."""
    words: Words = {}
    tree = source.trees.get("job_container.conf")
    lines = [line.statement for line in tree.lines] if tree else []
    pairs = {pair.key.lower(): pair for statement in lines for pair in statement.pairs}
    base = pairs.get("basepath")
    auto = pairs.get("autobasepath")
    if base and auto and len(pairs) == 2 and auto.value.lower() == "true" and base.value.endswith(_PRIVATE):
        folder = base.value.removesuffix(_PRIVATE)
        words["scratch"] = {
            "base": Noted(folder, source.shown("job_container.conf", base.line)),
            "private_tmp": True,
        }
    plugin = pyxis_plugin(source.folder / PLUGSTACK)
    if plugin:
        words["containers"] = {"runtime": "enroot-pyxis", "plugin": Noted(plugin, PLUGSTACK)}
    return Part(words)


def pyxis_plugin(path: Path) -> str:
    """The plugin of a plugstack.conf that holds nothing but our line for pyxis; empty for any other."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return ""
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    match = _PYXIS.match(lines[0]) if len(lines) == 1 else None
    return match[1] if match else ""
