"""Files to a host by shell commands alone, whatever way leads there: whole, flushed, then renamed.

What surprises: a staged file lies beside its target under a name with a leading dot. A rename works only
within one file system, and Slurm runs every file of a folder such as `prolog.d/*` but for those with a dot.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from slurmwright.core.run import Result

_PUT = """\
set -e; umask 077
d=$(dirname -- "$1"); [ -d "$d" ] || (umask 022; mkdir -p -- "$d")
t=$(mktemp -- "$1.XXXXXX"); trap 'rm -f -- "$t"' EXIT
cat >"$t"; chown -- "$2:$3" "$t"; chmod -- "$4" "$t"; sync -- "$t"; mv -fT -- "$t" "$1"; sync -- "$d"
"""
#: One line for each path: its hash, or why there is none.
_SUMS = """\
for f in "$@"; do
  if [ -L "$f" ]; then echo "link $f"; elif [ ! -e "$f" ]; then echo "none $f"; else
  s=$(sha256sum <"$f") && echo "${s%% *} $f" || exit 1; fi
done
"""
#: Pairs of names, from and to; where the first is missing, a run before has renamed it.
_RENAME = """\
set -e
while [ $# -gt 0 ]; do
  if [ -e "$1" ]; then mv -fT -- "$1" "$2"; sync -- "$(dirname -- "$2")"; fi
  shift 2
done
"""


@dataclass(frozen=True)
class Script:
    """A shell script with its arguments, as `Hosts.run` takes it."""

    text: str
    words: tuple[str, ...]

    @property
    def argv(self) -> tuple[str, ...]:
        return ("sh", "-c", self.text, "sh", *self.words)


def staged(path: str) -> str:
    """Where a new file waits."""
    return posixpath.join(posixpath.dirname(path), f".{posixpath.basename(path)}.slurmwright-new")


def former(path: str) -> str:
    """Where a file lies that the new bundle does not have."""
    return posixpath.join(posixpath.dirname(path), f".{posixpath.basename(path)}.slurmwright-old")


def put(
    run: Callable[..., Result], host: str, path: str, text: str, *, owner: str, group: str, mode: str
) -> Result:
    """What every `Hosts.put` does; `run` is its `run`."""
    return run(host, Script(_PUT, (path, owner, group, mode)).argv, stdin=text)


def sums(paths: Iterable[str]) -> Script:
    """The script that `read_sums` reads."""
    return Script(_SUMS, tuple(paths))


def read_sums(out: str) -> Mapping[str, str]:
    """Path → sha256, `none` or `link`."""
    rows = (line.partition(" ") for line in out.splitlines() if line)
    return {path: word for word, _, path in rows}


def place(paths: Iterable[str]) -> Script:
    """Give each staged file the name of its target."""
    return Script(_RENAME, tuple(word for path in paths for word in (staged(path), path)))


def take(paths: Iterable[str]) -> Script:
    """Take each file away, to where a rollback finds its password."""
    return Script(_RENAME, tuple(word for path in paths for word in (path, former(path))))


def forget(paths: Iterable[str]) -> Script:
    """Remove what is staged."""
    return Script('rm -f -- "$@"', tuple(staged(path) for path in paths))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
