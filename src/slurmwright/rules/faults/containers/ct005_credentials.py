"""CT005: registry credentials under a name that enroot does not look for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.listings_seen import entries
from slurmwright.rules.rule import ERROR, Fault, Place, rule

_ENTRY = re.compile(r"^\s*machine\s+(\S+)\s+login\s+(\S+)", re.M)


@rule(
    "CT005",
    "credentials-not-found",
    ERROR,
    why="""enroot looks up the server that gives out tokens, not the registry: auth.docker.io for Docker
        Hub. For nvcr.io the login is the word $oauthtoken itself, and authn.nvidia.com is asked as well.
        Anything else is "401 Unauthorized".""",
    fix="""machine auth.docker.io login NAME password TOKEN; machine nvcr.io login $oauthtoken password KEY;
        machine authn.nvidia.com login $oauthtoken password KEY; mode 0600""",
    references=("https://github.com/NVIDIA/enroot/issues/241", "https://github.com/NVIDIA/enroot/pull/14"),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for path, file in seen.files.items():
        if not path.endswith("/.credentials"):
            continue
        for match in _ENTRY.finditer(file.text):
            machine, login = match[1].lower(), match[2]
            place = Place(path, file.text.count("\n", 0, match.start(1)) + 1)
            # registry-1.docker.io is what enroot's own documentation names from 4.0.1 on (doc/cmd/import.md).
            if machine in ("docker.io", "hub.docker.com", "index.docker.io"):
                yield Fault(f"machine {machine} is never asked for; Docker Hub is auth.docker.io", place)
            elif machine in ("nvcr.io", "authn.nvidia.com") and login != "$oauthtoken":
                text = f"the login of {machine} is {login}; it must be the word $oauthtoken"
                yield Fault(text, place)
        entry = entries(seen).get(".credentials") or entries(seen).get(path)
        mode = file.mode if file.mode is not None else entry.mode if entry else None
        if mode is not None and mode & 0o077:
            yield Fault(f"others may read the credentials: mode {mode:04o} instead of 0600", Place(path))
