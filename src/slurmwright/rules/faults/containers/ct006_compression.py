"""CT006: images are written with a compression that this host does not mount."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.containers_seen import enroot_settings
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Scope, rule

_COMP = re.compile(r"-comp\s+(\w+)")


@rule(
    "CT006",
    "images-nobody-mounts",
    ERROR,
    scope=Scope.FACTS,
    why="""The side that mounts an image, squashfuse or the kernel, must have the compression that it was
        written with. lzo is missing in many builds: the container ends with "this version supports
        only".""",
    fix="ENROOT_SQUASH_OPTIONS -comp lz4 -noD -exit-on-error",
    references=(
        "https://github.com/NVIDIA/enroot/issues/6",
        "https://github.com/NVIDIA/enroot/blob/master/doc/configuration.md",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    found = enroot_settings(seen).get("ENROOT_SQUASH_OPTIONS")
    match = _COMP.search(found.text) if found else None
    listing = seen.capture("squashfuse.txt")
    if found is None or match is None or listing is None:
        return
    words = [word for word in re.findall(r"[a-z0-9]+", listing.text.lower()) if word in _KNOWN]
    if words and match[1].lower() not in words:
        best = next(word for word in ("lz4", "zstd", *words) if word in words)
        yield Fault(
            f"images are written with {match[1]}, and this host mounts {', '.join(words)} only; {best} is "
            "fast too",
            found.place,
            fix=f"ENROOT_SQUASH_OPTIONS -comp {best} -noD -exit-on-error",
        )


_KNOWN = ("zlib", "gzip", "lzo", "lz4", "xz", "zstd", "lzma")
