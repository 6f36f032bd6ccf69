"""A bundle to the parsed files of its folder, as the source is parsed."""

from __future__ import annotations

import posixpath

from slurmwright.conf import Tree, read_tree
from slurmwright.core.bundle import Bundle


def texts_of(bundle: Bundle) -> dict[str, str]:
    """The texts of the files beside slurm.conf, by name."""
    folder = next(posixpath.dirname(f.path) for f in bundle.files if f.path.endswith("/slurm.conf"))
    return {
        posixpath.basename(file.path): file.text
        for file in bundle.files
        if posixpath.dirname(file.path) == folder
    }


def trees_of(bundle: Bundle) -> dict[str, Tree]:
    """Those of Slurm's own grammar."""
    texts = texts_of(bundle)
    trees = {}
    for name in texts:
        tree = read_tree(f"/rendered/{name}", {f"/rendered/{n}": text for n, text in texts.items()}.get)
        if name.endswith(".conf") and name != "plugstack.conf" and tree is not None:
            trees[name] = tree
    return trees
