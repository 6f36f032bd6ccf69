"""Judges names and values that go into Slurm's files: a sentence on what is wrong, or None.

In Slurm's files `#` begins a comment, a backslash joins lines and a double quote ends a value and cannot be
escaped (parse_config.c), so a value that holds one of these could write lines of its own. Names reach shells
too (prolog scripts, file names), so they are kept to letters, digits and a few marks.
"""

from __future__ import annotations

import ipaddress
import re

from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand
from slurmwright.model.plain_words import short

#: Longest ClusterName: it becomes part of MySQL table names (slurm.conf(5), ClusterName).
MAX_CLUSTER = 40

_CLUSTER = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{MAX_CLUSTER - 1}}}\Z")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,63}\Z")
_PARTITION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}\Z")
_FOLDER = re.compile(r"(?:/[A-Za-z0-9_.+-]+)+\Z")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,63}\Z")
_URL = re.compile(r"https?://[A-Za-z0-9._~:/?@!&=%+,-]+\Z")
_TOKEN = re.compile(r"[A-Za-z0-9_.:/*+-]+\Z")
_DOTTED = re.compile(r"[0-9.]+\Z")
_SLURM_MARKS = '"#\\'
_SHELL_MARKS = ("$(", *";`|<>&")
#: Words that Slurm reads as something else than a host (slurm.conf(5), NodeName; read_config.c).
_RESERVED_HOSTS = {
    "default": "Slurm reads it as defaults for the lines that follow",
    "all": "Slurm keeps it for every node",
    "localhost": "it is another machine on each host",
}


def bad_cluster_name(name: str) -> str | None:
    if _CLUSTER.match(name):
        return None
    if _CLUSTER.match(name.lower()):
        return (
            f"name '{name}' has upper case, which Slurm maps to lower case in silence; write {name.lower()}"
        )
    if len(name) > MAX_CLUSTER:
        return (
            f"name is {len(name)} characters long; expected at most {MAX_CLUSTER} (it names database tables)"
        )
    return f"name '{short(name)}' is no cluster name; expected a-z, 0-9, '_' and '-', for example pod1"


def bad_word(noun: str, name: str) -> str | None:
    """Feature and type names."""
    if _WORD.match(name) and ".." not in name:
        return None
    return f"{noun} '{short(name)}' is no name; expected letters, digits and '_.:+-', at most 64 of them"


def bad_partition(name: str) -> str | None:
    if name.upper() == "DEFAULT":
        return "'DEFAULT' cannot be a partition: Slurm reads it as defaults for the lines that follow"
    if _PARTITION.match(name) and ".." not in name:
        return None
    return f"partition '{short(name)}' is no name; expected letters, digits, '_', '.' and '-', at most 64"


def bad_user(name: str) -> str | None:
    return None if _USER.match(name) else f"'{short(name)}' is no user name; expected for example slurm"


def bad_folder(path: str) -> str | None:
    if _FOLDER.match(path) and ".." not in path.split("/") and "." not in path.split("/"):
        return None
    return f"'{short(path)}' is no folder; expected an absolute path such as /var/spool/slurmctld"


def bad_host(name: str) -> str | None:
    """Judge one host name that is written alone, not as a range."""
    try:
        found = expand(name)
    except InputError as error:
        return error.problems[0].message
    if len(found) != 1:
        return f"'{short(name)}' names {len(found)} hosts; expected one"
    return reserved_host(found[0])


def reserved_host(name: str) -> str | None:
    why = _RESERVED_HOSTS.get(name.lower())
    return f"'{name}' cannot be a host name: {why}" if why else None


def bad_address(address: str) -> str | None:
    """Judge an IPv4 address or a host name; leading zeros are refused, since some read them as octal."""
    if not _DOTTED.match(address):
        return bad_host(address)
    try:
        ipaddress.IPv4Address(address)
    except ValueError:
        return (
            f"'{short(address)}' is no IPv4 address; expected four numbers of 0 to 255 without leading zeros"
        )
    return None


def bad_key(key: str) -> str | None:
    """Judge the name of an option (parse_config.c takes letters, digits, '_' and '.')."""
    return (
        None
        if _KEY.match(key)
        else f"'{short(key)}' is no option of Slurm's; expected for example MaxJobCount"
    )


def bad_value(value: str) -> str | None:
    """Judge the text of an option."""
    if not value.strip():
        return "the value is empty; write null to leave the option out"
    if not (value.isascii() and value.isprintable()):
        return f"'{short(value)}' holds a character that is not printable ASCII; Slurm's files take no other"
    for mark in _SLURM_MARKS:
        if mark in value:
            return f"'{short(value)}' holds {mark}, which Slurm reads as the end of the value; leave it out"
    if _URL.match(value):
        return None
    for mark in _SHELL_MARKS:
        if mark in value:
            return f"'{short(value)}' holds {mark}, which is for a shell; put it into a script and name that"
    return None


def bad_token(token: str) -> str | None:
    """Judge one entry of a comma list."""
    if _TOKEN.match(token):
        return None
    return f"'{short(token)}' is no entry of a list; expected letters, digits and '_.:/*+-'"


def bad_entry(value: str) -> str | None:
    """Judge one value inside a comma list."""
    if "," in value or " " in value:
        return f"'{short(value)}' holds a comma or blank; write each entry of the list on its own"
    return None
