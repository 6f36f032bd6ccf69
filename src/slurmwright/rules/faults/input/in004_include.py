"""IN004: an Include that Slurm cannot follow."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.release import Release
from slurmwright.rules.config import PLAIN_FILES
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, INFO, Fault, Place, rule

_WHY = {
    "missing": "does not exist; Slurm looks for it for 60 s and then does not start",
    "loop": "is being read already: it includes itself, and Slurm reads on until it dies",
    "pattern": "is a pattern, which Slurm does not support: the line fails and the daemons do not start",
    "cluster-name": "holds %c, and ClusterName does not stand before it: the line fails",
    "not-beside-slurm-conf": "lies beside the file that includes it, where Slurm does not look from 23.02 on",
    "not-beside-its-file": "lies beside slurm.conf, and 22.05 looks beside the file that includes it",
    "many": "and what it includes are more than any Slurm configuration holds; an Include multiplies here",
}


@rule(
    "IN004",
    "include-that-fails",
    ERROR,
    by_release=True,
    why="""A relative name lies beside slurm.conf, wherever the Include stands; patterns are not expanded,
        %c is the cluster name in lower case and must be known by then. An Include that fails is fatal for
        every daemon and every command.""",
    fix="Include NAME with a file that lies beside slurm.conf",
    references=(
        "Slurm source, src/common/parse_config.c: _parse_include_directive, s_p_parse_file",
        "https://slurm.schedmd.com/slurm.conf.html (Include)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for name in PLAIN_FILES:
        tree = seen.config.tree(name)
        for found in tree.faults if tree else ():
            if not _holds(found.kind, seen.release):
                continue
            elsewhere = found.name.startswith("/") and not found.name.startswith(seen.config.folder + "/")
            unknown = found.kind == "missing" and (elsewhere or not seen.whole)
            text = "is not among the files given, so it is not judged" if unknown else _WHY[found.kind]
            yield Fault(
                f"Include {found.name} {text}",
                Place(found.doc.file, found.line),
                severity=INFO if unknown else None,
                about=found.name,
            )


def _holds(kind: str, release: Release) -> bool:
    """Two kinds of fault are some releases' only."""
    beside_slurm_conf = release.at_least("23.02")
    other = "not-beside-its-file" if beside_slurm_conf else "not-beside-slurm-conf"
    return kind != other
