"""CF004: configless, and an Include or script that is not sent to the nodes."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.config import PLAIN_FILES
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, Place, rule


@rule(
    "CF004",
    "files-configless-does-not-send",
    WARNING,
    by_release=True,
    why="""With enable_configless slurmctld sends slurm.conf and its kin, and of included files only those
        that are named without a folder and lie beside slurm.conf. Others are missing on the nodes, where
        slurmd then does not start.""",
    fix="Include NAME without a folder",
    references=(
        "https://slurm.schedmd.com/configless_slurm.html",
        "Slurm source, src/common/parse_config.c: _handle_include",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if not config.has("SlurmctldParameters", "enable_configless"):
        return
    for name in PLAIN_FILES:
        tree = config.tree(name) if name != "slurmdbd.conf" else None
        for doc in tree.documents if tree else ():
            for include in doc.includes:
                if "/" in include.name:
                    text = f"Include {include.name} has a folder, so the file is not sent to the nodes"
                    yield Fault(text, Place(doc.file, include.line), about=include.name)
