"""Files with passwords to files without: what a plan holds may go into a ticket.

What surprises: the placeholder of render and a real password are no difference, since the host fills the one
in the place of the other; two real ones that differ are.
"""

from __future__ import annotations

import re
from dataclasses import replace

from slurmwright.core.bundle import Bundle, BundleFile

HIDDEN = "@SLURMWRIGHT_HIDDEN@"
HIDDEN_NEW = "@SLURMWRIGHT_HIDDEN_AND_CHANGED@"
_PLACEHOLDER = re.compile(r"@SLURMWRIGHT_(?!HIDDEN)[A-Z_]+@\Z")
#: `StoragePass=word`, `proxy=http://user:word@host`; the last group is what nobody may see.
SECRET = re.compile(
    r"""(?P<key>[\w.]*(?:pass|password|secret|token))(?P<is>\s*=\s*(?:\\\n\s*)*)(?P<value>"[^"\n]*"|[^\s"]\S*)
      | (?P<url>\b\w+://[^\s/:@]*:)(?P<word>[^\s/@]+)(?=@)
    """,
    re.IGNORECASE | re.VERBOSE,
)


def without_secrets(old: Bundle, new: Bundle) -> tuple[Bundle, Bundle]:
    """Both sides with every password masked."""
    former: dict[tuple[str, str], list[str]] = {}
    kept_old = tuple(_masked(file, None, former) for file in old.files)
    kept_new = tuple(_masked(file, former, {}) for file in new.files)
    return replace(old, files=kept_old), replace(new, files=kept_new)


def _masked(
    file: BundleFile,
    former: dict[tuple[str, str], list[str]] | None,
    seen: dict[tuple[str, str], list[str]],
) -> BundleFile:
    """One file; its secrets are noted in `seen`, and those of the new side held against `former`."""

    def hide(match: re.Match[str]) -> str:
        value = (match["value"] or match["word"] or "").strip('"')
        place = (file.path, (match["key"] or "url").lower())
        seen.setdefault(place, []).append(value)
        before = (former or {}).get(place, [])
        other = before[min(len(seen[place]), len(before)) - 1] if before else None
        shown = _shown(value, other)
        if match["url"]:
            return match["url"] + shown
        return match["key"] + match["is"] + shown

    text = SECRET.sub(hide, file.text)
    return file if text == file.text else replace(file, text=text)


def _shown(value: str, other: str | None) -> str:
    """What stands for a secret, beside that of the old side."""
    if value in (HIDDEN, HIDDEN_NEW):
        return value
    if other is not None and _PLACEHOLDER.match(other):
        return other
    if _PLACEHOLDER.match(value):
        return value if other is None else HIDDEN
    return HIDDEN if other in (None, value, HIDDEN) else HIDDEN_NEW
