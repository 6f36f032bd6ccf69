"""Logical lines to statements, includes and problems, as Slurm's own parser takes them.

What surprises: `Gres= Sockets=2` gives Gres the value `Sockets=2`, because blanks may follow the `=`; and
`Include` counts only at the very beginning of a line. Problems are the lines at which Slurm reports a parse
error and does not start; unknown keys and wrong values are for others to judge.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from slurmwright.conf.logical import BLANKS, Logical, logical_lines
from slurmwright.conf.values import RECORD_KEYS, Include, Pair, Statement
from slurmwright.core.errors import Problem

_PAIR = re.compile(
    r"""\s*([A-Za-z0-9_.]+)\s*([-*+/]?)=\s*   # key, operator
        (?:"([^"]*)"(?=\s|\Z) | (\S+))        # value in quotes that end at a blank, or one word
    """,
    re.ASCII | re.VERBOSE,
)
_NO_VALUE = re.compile(r"([A-Za-z0-9_.]+)\s*[-*+/]?=\s*\Z", re.ASCII)
_INCLUDE = re.compile(r"include\s+(\S*)", re.ASCII | re.IGNORECASE)
_MORE_WORDS = re.compile(r"\S*\s+\S", re.ASCII)


class Reading(NamedTuple):
    statements: tuple[Statement, ...]
    includes: tuple[Include, ...]
    problems: tuple[Problem, ...]


def read(text: str, file: str) -> Reading:
    """Read a whole file; what cannot be read is kept in the statements and named in the problems."""
    statements: list[Statement] = []
    includes: list[Include] = []
    problems: list[Problem] = []
    for found in logical_lines(text):
        if not found.text.strip(BLANKS):
            continue
        include = _INCLUDE.match(found.text)
        if include:
            line, column = _position(found, include.start(1), text) if include[1] else (found.line, 1)
            includes.append(Include(line, found.start, found.end, include[1], column))
            fault = _include_fault(include, found, text, file)
        else:
            statement, stop = _statement(found, text)
            statements.append(statement)
            fault = _fault(statement, found, stop, text, file)
        if fault:
            problems.append(fault)
    return Reading(tuple(statements), tuple(includes), tuple(problems))


def _statement(found: Logical, text: str) -> tuple[Statement, int]:
    """The statement, and where in the logical line reading stopped."""
    pairs: list[Pair] = []
    line, line_start, counted, at = found.line, found.start, found.start, 0
    while match := _PAIR.match(found.text, at):
        start = found.starts[match.start(1)]
        breaks = text.count("\n", counted, start)
        if breaks:
            line, line_start = line + breaks, text.rindex("\n", counted, start) + 1
        counted, at = start, match.end()
        quoted = match[3] is not None
        value_at = match.start(3) - 1 if quoted else match.start(4)
        pairs.append(
            Pair(
                match[1],
                match[3] if quoted else match[4],
                match[2],
                line,
                start - line_start + 1,
                start,
                found.starts[value_at],
                found.ends[at - 1],
            )
        )
    rest = found.text[at:].strip(BLANKS)
    return Statement(found.line, found.start, found.end, tuple(pairs), rest), at


def _include_fault(include: re.Match[str], found: Logical, text: str, file: str) -> Problem | None:
    rest = found.text[include.end() :].strip(BLANKS)
    if rest:
        what = f"'{_short(rest)}' follows the file name"
    elif not include[1]:
        what = "no file is named"
    elif include.end() == len(found.text) and _reads_past(text[found.ends[-1] : found.end]):
        what = "Slurm reads past a file name with no blank or line end behind it and may not start"
    else:
        return None
    return Problem(file, found.line, 1, f"Include: {what}; expected one line 'Include NAME'")


def _reads_past(behind: str) -> bool:
    """Slurm looks for the blank that ends the name behind the end of the line's text too: in the comment that
    stands there and, without a line end, in what is left of longer lines."""
    return not behind or _MORE_WORDS.match(behind, 1) is not None


def _fault(statement: Statement, found: Logical, stop: int, text: str, file: str) -> Problem | None:
    pairs = statement.pairs
    if len(pairs) > 1 and pairs[0].key.lower() not in RECORD_KEYS:
        second = pairs[1]
        message = (
            f"{second.key} stands behind {pairs[0].key} on one line, where Slurm takes one key only; "
            "put it on a line of its own, or the value into double quotes if it is meant to hold blanks"
        )
        return Problem(file, second.line, second.column, message)
    if not statement.rest:
        return None
    blanks = len(found.text) - stop - len(found.text[stop:].lstrip(BLANKS))
    line, column = _position(found, stop + blanks, text)
    return Problem(file, line, column, _why(statement, line, column))


def _position(found: Logical, index: int, text: str) -> tuple[int, int]:
    """Line and column at which character `index` of a logical line was written."""
    place = found.starts[index]
    return found.line + text.count("\n", found.start, place), place - text.rfind("\n", 0, place)


def _why(statement: Statement, line: int, column: int) -> str:
    rest = statement.rest
    empty = _NO_VALUE.match(rest)
    if empty:
        return f'{empty[1]} has no value, at which Slurm stops; write {empty[1]}="" or remove it'
    if line == column == 1 and rest.startswith("\ufeff"):
        return "the file begins with a byte order mark, which Slurm takes for a key; save it without one"
    if not statement.pairs:
        if rest[:7].lower() == "include" and rest[7:8].strip(BLANKS) == "" and column > 1:
            return "Slurm takes Include at the very beginning of a line only; remove what stands before it"
        return f"'{_short(rest)}' is not key=value; Slurm does not start with it: correct or remove the line"
    last = statement.pairs[-1]
    if last.value.startswith('"'):
        return (
            f"the double quote that opens the value of {last.key} (line {last.line}) is not closed before a "
            r"blank, the end of the line or a comment; close it, and write '#' inside quotes as '\#'"
        )
    return (
        f"'{_short(rest)}' is not key=value; put the value of {last.key} into double quotes if it belongs "
        "to it, or remove it"
    )


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
