"""job_container.conf and plugstack.conf to `scratch` and `containers`, where they say what render writes."""

from __future__ import annotations

import re
from pathlib import Path

from slurmwright.importing.draft import Part, Words
from slurmwright.importing.source import MAX_BYTES, Source
from slurmwright.importing.yaml_text import Noted

PLUGSTACK = "plugstack.conf"
_PYXIS = re.compile(
    r"required (?P<plugin>/[\w./+-]+) runtime_path=(?P<base>/[\w./+-]+)/enroot/pyxis "
    r"execute_entrypoint=(?P<entrypoint>[01]) container_scope=(?P<scope>job|global)"
    r"(?: importer=(?P<importer>/[\w./+-]+))?(?P<squashfuse> use_squashfuse=1)?\Z"
)
#: Where render puts images of a cluster without scratch.
_WITHOUT_SCRATCH = "/var/lib"
_PRIVATE = "/private"


def disk_of(source: Source) -> Part:
    """A /tmp for each job below FOLDER/private, and pyxis with our own words; nothing for other forms."""
    words: Words = {}
    folder: str | None = None
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
    line = _pyxis_line(source.folder / PLUGSTACK)
    if line:
        words.update(_containers(line, folder))
    return Part(words)


def _containers(line: re.Match[str], folder: str | None) -> Words:
    """The words that render makes this line of; none where pyxis and jobs' /tmp lie on two disks."""
    base = line["base"]
    if folder is not None and base != folder:
        return {}
    here = folder is None and base != _WITHOUT_SCRATCH
    found: Words = {"scratch": {"base": Noted(base, PLUGSTACK)}} if here else {}
    chosen: Words = {"runtime": "enroot-pyxis", "plugin": Noted(line["plugin"], PLUGSTACK)}
    if line["importer"] or line["squashfuse"]:
        chosen["pyxis"] = Noted("0.22" if line["squashfuse"] else "0.21", "the oldest that knows these words")
    if line["scope"] == "global":
        chosen["scope"] = "global"
    if line["entrypoint"] == "1":
        chosen["entrypoint"] = True
    if line["importer"]:
        chosen["importer"] = line["importer"]
    if line["squashfuse"]:
        chosen["squashfuse"] = True
    return {**found, "containers": chosen}


def _pyxis_line(path: Path) -> re.Match[str] | None:
    """The line for pyxis of a plugstack.conf that holds nothing else, in the form of render."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return _PYXIS.match(lines[0]) if len(lines) == 1 else None
