"""Answers for every key of Slurm's files by release: may it be written, and does Slurm take this value?

An unknown key is not a detail: in slurm.conf it stops every daemon and every client command that reads the
file. `check_setting` asks everything at once; each rendered pair and each override goes through it.
"""

from __future__ import annotations

from slurmwright.catalogue.lifetime import successor
from slurmwright.catalogue.option_tables import ConfFile as ConfFile
from slurmwright.catalogue.option_tables import Option as Option
from slurmwright.catalogue.option_tables import conf_file as conf_file
from slurmwright.catalogue.option_tables import file_names as file_names
from slurmwright.catalogue.option_tables import find as find
from slurmwright.catalogue.option_tables import keys as keys
from slurmwright.catalogue.option_tables import lookup as lookup
from slurmwright.catalogue.parsers import value_problem
from slurmwright.catalogue.words import Kind as Kind
from slurmwright.catalogue.words import Word as Word
from slurmwright.catalogue.words import token as token
from slurmwright.catalogue.words import vocabulary
from slurmwright.core.errors import did_you_mean
from slurmwright.core.release import Release


def check_value(option: Option, text: str, release: Release | None = None) -> str | None:
    """A sentence when Slurm's parser would refuse this value of the key."""
    problem = value_problem(option.type_in(release) if release else option.type, text)
    return f"{option.key} {problem}" if problem else None


def check_setting(release: Release, file: str, section: str, key: str, value: str) -> str | None:
    """What speaks against `key = value` in this release, as one sentence; None when nothing does."""
    option = lookup(file, section, key)
    if option is None:
        return _unknown(release, file, section, key)
    lacking = option.why_not(release)
    if lacking:
        return f"{option.key} {lacking}{_end(option.replacement, 'use')}"
    problem = _unwanted(option, release) or check_value(option, value, release)
    if problem or option.words is None:
        return problem
    words = vocabulary(option.words)
    bare = value.strip().strip('"')
    for word in filter(None, (part.strip() for part in bare.split(","))):
        problem = words.problem(word, release)
        if problem:
            return f"{option.key}: {problem}"
    return None


def _unwanted(option: Option, release: Release) -> str | None:
    """Keys that parse and do harm or nothing."""
    advice = _end(option.advice(release))
    if option.defunct and release.at_least(option.defunct):
        return f"{option.key} is defunct since Slurm {option.defunct}: the value is dropped{advice}"
    if option.write == "never":
        gone = option.defunct or (option.until and successor(option.until))
        return f"{option.key} is not to be written{advice or _end(gone, 'it is gone from Slurm')}"
    if option.write_until and not release.at_most(option.write_until):
        return f"{option.key} is not to be written after Slurm {option.write_until}{advice}"
    return None


def _unknown(release: Release, file: str, section: str, key: str) -> str:
    table = conf_file(file)
    if table is None:
        return f"{file} is not a file of Slurm's; {did_you_mean(file, file_names())}"
    elsewhere = [o.section for o in table.options.values() if o.key.lower() == key.lower()]
    if elsewhere:
        return f"{key} does not stand in section {section} of {file}; it belongs to {' or '.join(elsewhere)}"
    sane = [
        option.key
        for option in table.options.values()
        if option.section.lower() == section.lower() and option.known_in(release) and not option.write
    ]
    effect = f" ({table.unknown_key})" if table.unknown_key else ""
    return f"{key} is not a key of {file}{effect}; {did_you_mean(key, sane)}"


def _end(text: str | None, verb: str = "") -> str:
    return f"; {verb} {text}".replace(";  ", "; ") if text else ""
