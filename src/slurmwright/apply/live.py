"""The hosts of a bundle to the bundle as they hold it: each copy with its hosts, and who did not answer.

What surprises: files beside those of the bundle are looked for where Slurm would read them, since a
topology.conf that somebody left there counts too; and passwords are masked on the host, before they leave it.
"""

from __future__ import annotations

import base64
import binascii
import posixpath
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from slurmwright.apply.hosts import UNREACHED, Hosts, on_each
from slurmwright.catalogue.options import file_names
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.hosts import expand, fold
from slurmwright.core.release import Release
from slurmwright.core.run import Result
from slurmwright.plan.secrets import HIDDEN
from slurmwright.plan.sides import MAIN, side_of

_LIMIT_S = 60.0
#: Keys and passwords: no difference of theirs is anybody's to see, so they are not read at all.
_NEVER = ("*.key", "*.pem", "*.jwks", "*.password", "*/munge/*")
_DATABASE = "slurmdbd.conf"
_MASK = (
    rf"s/^([[:space:]]*[[:alnum:].]*(pass|password|secret|token)[[:space:]]*=[[:space:]]*).*$/\1{HIDDEN}/I"
)
#: For each path one line: path, owner, group, mode, the text in base64; or path and what it is instead.
_SCRIPT = r"""
for f in {paths}; do
  if [ ! -e "$f" ] && [ ! -L "$f" ]; then echo "$f absent"; continue; fi
  if [ ! -f "$f" ] || [ ! -r "$f" ]; then echo "$f odd"; continue; fi
  case "$f" in
    */slurmdbd.conf) text=$(sed -E {mask} "$f" | base64 -w0) ;;
    *) text=$(base64 -w0 < "$f") ;;
  esac
  echo "$f $(stat -L -c '%U %G %a' "$f") $text"
done
echo "version $({{ slurmctld -V || slurmd -V || sinfo -V; }} 2>/dev/null | head -n 1)"
echo end
"""


@dataclass(frozen=True)
class Live:
    """What hosts hold. `unread` are hosts with the reason why nothing is known of them."""

    bundle: Bundle
    unread: Mapping[str, str]


@dataclass(frozen=True)
class _Read:
    """One host's answer."""

    files: Mapping[str, BundleFile]
    error: str = ""
    version: str = ""


def read_live(hosts: Hosts, new: Bundle, former: Bundle | None = None) -> Live:
    """What the hosts hold of the files of `new`, and of `former`, the bundle that was pushed last.

    A host that does not answer is taken to hold what it should, so that the plan leaves it alone, unless the
    cluster does not know it yet. Raises SlurmwrightError where no host with a slurm.conf of its own answers.
    """
    wanted = paths_of(new, former)
    answers = on_each(wanted, lambda host: _ask(hosts, host, wanted[host]))
    unread = {host: one.error for host, one in answers.items() if one.error}
    holders = [host for host in wanted if any(posixpath.basename(path) == MAIN for path in wanted[host])]
    _refuse_nothing(answers, holders)
    _refuse_other_release(answers, new)
    found = _bundle(new, {host: one.files for host, one in answers.items()})
    known = set(side_of(found).nodes.values())
    strange = set(side_of(new).nodes.values()) - known
    taken = _of(new, set(unread) - strange)
    return Live(_bundle(new, {**{h: o.files for h, o in answers.items() if not o.error}, **taken}), unread)


def paths_of(new: Bundle, former: Bundle | None) -> dict[str, tuple[str, ...]]:
    """host → the paths to look at, sorted: what either bundle gives it, and beside a slurm.conf of its own
    everything that Slurm would read there."""
    found: dict[str, set[str]] = {}
    for file in (*new.files, *(former.files if former else ())):
        for host in expand(file.hosts):
            mine = found.setdefault(host, set())
            mine.add(file.path)
            if posixpath.basename(file.path) == MAIN:
                folder = posixpath.dirname(file.path)
                mine |= {f"{folder}/{name}" for name in file_names() if name != _DATABASE}
    return {
        host: tuple(sorted(path for path in paths if not any(fnmatchcase(path, one) for one in _NEVER)))
        for host, paths in sorted(found.items())
    }


def _ask(hosts: Hosts, host: str, paths: Collection[str]) -> _Read:
    script = _SCRIPT.format(paths=" ".join(map(shlex.quote, paths)), mask=shlex.quote(_MASK))
    done = hosts.run(host, ["sh", "-s"], stdin=script, limit_s=_LIMIT_S)
    if not done.ok or "\nend" not in f"\n{done.out}":
        return _Read({}, _why(done))
    files, version = {}, ""
    for line in done.out.splitlines():
        words = line.split(" ")
        if words[0] == "version":
            version = words[-1]
        elif words[-1] == "odd":
            return _Read({}, f"{words[0]} is no plain file that root can read")
        elif len(words) == 5:
            try:
                files[words[0]] = _file(host, *words)
            except (binascii.Error, UnicodeDecodeError):
                return _Read({}, f"{words[0]} is no text in UTF-8")
    return _Read(files, "", version)


def _why(done: Result) -> str:
    if done.code == UNREACHED:
        return f"not reached: {done.last_line}"
    if done.code == 124:
        return f"no answer within {_LIMIT_S:g} s"
    return f"cannot be read: {done.last_line}"


def _file(host: str, path: str, owner: str, group: str, mode: str, text: str) -> BundleFile:
    return BundleFile(
        path, path.lstrip("/"), host, owner, group, mode.zfill(4), base64.b64decode(text).decode("utf-8")
    )


def _refuse_nothing(answers: Mapping[str, _Read], holders: Collection[str]) -> None:
    """Without one slurm.conf there is nothing to compare with."""
    said = {host: answers[host] for host in holders}
    if any(posixpath.basename(path) == MAIN for one in said.values() for path in one.files):
        return
    reasons = "; ".join(f"{host}: {one.error or 'holds no slurm.conf'}" for host, one in said.items())
    raise SlurmwrightError(
        f"no host gives its slurm.conf ({reasons}); compare with a bundle by --against, or set the cluster "
        "up with `slurmwright apply` first"
    )


def _refuse_other_release(answers: Mapping[str, _Read], new: Bundle) -> None:
    wanted = Release.parse(new.release).series
    others = {
        host: one.version
        for host, one in answers.items()
        if one.version.count(".") >= 1 and ".".join(one.version.split(".")[:2]) != wanted
    }
    if others:
        told = ", ".join(sorted(set(others.values())))
        raise SlurmwrightError(
            f"{fold(others)} run Slurm {told}, and cluster.yaml says {new.release}: that is an upgrade "
            "(slurmdbd, slurmctld, slurmd, in this order), not a change of files"
        )


def _of(bundle: Bundle, hosts: Collection[str]) -> dict[str, dict[str, BundleFile]]:
    """host → the files that the bundle gives it."""
    found: dict[str, dict[str, BundleFile]] = {host: {} for host in hosts}
    for file in bundle.files:
        for host in expand(file.hosts):
            if host in found:
                found[host][file.path] = file
    return found


def _bundle(new: Bundle, held: Mapping[str, Mapping[str, BundleFile]]) -> Bundle:
    """Copies that are alike as one file with all their hosts."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for host, files in held.items():
        for file in files.values():
            alike.setdefault((file.path, file.owner, file.group, file.mode, file.text), []).append(host)
    return Bundle(new.cluster, new.release, tuple(sorted(_files(alike))))


def _files(alike: Mapping[tuple[str, ...], list[str]]) -> Iterator[BundleFile]:
    for (path, owner, group, mode, text), hosts in alike.items():
        yield BundleFile(path, path.lstrip("/"), fold(hosts), owner, group, mode, text)
