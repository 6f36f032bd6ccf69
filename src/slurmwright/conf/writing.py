r"""Keys, values and lines to the text that Slurm reads back as the same, or an InputError.

Slurm's files know no way to write a double quote, a line break or a control character inside a value; `#` and
`\` are escaped with a backslash, inside double quotes too.
"""

from __future__ import annotations

import re

from slurmwright.conf.logical import BLANKS, continues
from slurmwright.core.errors import InputError

_KEY = re.compile(r"[A-Za-z0-9_.]+\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def pair_text(key: str, value: str) -> str:
    """`key=value` as it must be written."""
    if not _KEY.match(key):
        raise InputError.of(f"'{key}' is not a key; expected letters, digits, '_' and '.'")
    return f"{key}={value_text(key, value, False)}"


def value_text(key: str, value: str, quoted: bool) -> str:
    """A value as it must be written; in double quotes where it needs them or where they were before."""
    if '"' in value or _CONTROL.search(value):
        raise InputError.of(
            f"the value of {key} ({value!r}) cannot be written to a Slurm file, which has no way to escape "
            "double quotes, line breaks and control characters"
        )
    text = value.replace("\\", "\\\\").replace("#", "\\#")
    return f'"{text}"' if quoted or not value or any(c in BLANKS for c in value) else text


def check_line(line: str) -> None:
    """Refuse what would not be one line of its own in the file."""
    if _CONTROL.search(line) or continues(line, 0, len(line)):
        raise InputError.of(
            f"{line!r} is not one line; expected no line break, no control character, no backslash at its end"
        )


def line_break(text: str) -> str:
    """The line end that a file uses: that of its first line."""
    return break_at_end(text[: text.find("\n") + 1]) or "\n"


def break_at_end(text: str) -> str:
    """The line end with which a text ends; empty where there is none."""
    return "\r\n" if text.endswith("\r\n") else "\n" if text.endswith("\n") else ""


def lead(text: str, new_line: str) -> str:
    """What must stand before a line added to `text`: a line end, and a blank line after a final backslash."""
    last = text.rfind("\n", 0, max(len(text) - 1, 0)) + 1
    needed = "" if text.endswith("\n") or not text else new_line
    return needed + new_line if continues(text, last, len(text)) else needed
