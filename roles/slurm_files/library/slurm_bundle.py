"""Files of a bundle to one host: staged, confirmed by hash, then renamed into place, all in one call.

A list of single copies would leave a host with half of a new bundle when the connection breaks between two of
them, and would cost a login round for each file. Nothing is ever written into a file that a daemon may read:
the new one is complete, owned and flushed before it takes the name.
"""

from __future__ import annotations

import base64
import grp
import hashlib
import json
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
import zlib

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: slurm_bundle
short_description: Places files of a slurmwright bundle
description:
  - C(staged) brings the files into a folder of root's beside nothing that is read, and confirms their hashes.
  - C(placed) moves what was staged to its place, confirms again, and removes files of an older bundle.
options:
  state: {description: How far to go, type: str, choices: [staged, placed], required: true}
  entries:
    description: The files, each with path, owner, group, mode and sha256
    type: list
    elements: dict
    required: true
  payload: {description: The texts as the action plugin packs them, type: str, required: true}
  secrets: {description: Placeholder to value that is filled in on the host, type: dict, default: {}}
  folder: {description: Place of manifest and staged files, type: path, default: /var/lib/slurmwright}
  manifest: {description: Name of the list of placed files, type: str, default: files}
  units: {description: Units whose state before is told, type: list, elements: str, default: []}
author: [slurmwright]
"""

RETURN = r"""
paths:
  description: Files that were written or would be, and those of an interrupted run that no daemon took yet
  returned: always
  type: list
removed: {description: Files of an older bundle that were removed, returned: always, type: list}
kept: {description: Files of an older bundle that were edited since and stay, returned: always, type: list}
pending:
  description: A file that names what no daemon took yet, to be removed when they did
  returned: when placed
  type: str
running: {description: Those of the units that were active before, returned: always, type: list}
"""


class RefusedError(Exception):
    """Why nothing more is done on this host; the text is shown."""


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["staged", "placed"], "required": True},
            "entries": {"type": "list", "elements": "dict", "required": True},
            "payload": {"type": "str", "required": True, "no_log": True},
            "secrets": {"type": "dict", "default": {}, "no_log": True},
            "folder": {"type": "path", "default": "/var/lib/slurmwright"},
            "manifest": {"type": "str", "default": "files"},
            "units": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    given = module.params
    try:
        wanted = confirmed(given["entries"], unpack(given["payload"]))
        if given["state"] == "staged":
            result = stage(given["folder"], wanted, given["secrets"], module.check_mode)
        else:
            result = place(given, wanted, module.check_mode)
    except (RefusedError, OSError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


def unpack(payload: str) -> list[bytes]:
    """The texts of the files, in the order of the entries."""
    return [text.encode() for text in json.loads(zlib.decompress(base64.b64decode(payload)))]


def confirmed(entries: list[dict], texts: list[bytes]) -> list[tuple[dict, bytes]]:
    """Entries with their text; a text with another hash than its entry is refused."""
    for entry, text in zip(entries, texts):
        got = hashlib.sha256(text).hexdigest()
        if got != entry["sha256"]:
            raise RefusedError(
                f"{entry['path']}: the file has sha256 {got}, bundle.json says {entry['sha256']}; "
                "nothing was placed: render the bundle again"
            )
    return list(zip(entries, texts))


def stage(folder: str, wanted: list[tuple[dict, bytes]], secrets: dict, check: bool) -> dict:
    """Bring what differs from the host's files into the staging folder, whole and hashed."""
    missing = [(entry, text) for entry, text in wanted if differs(entry, fill(text, secrets))]
    if missing and not check:
        staged = os.path.join(folder, "staged")
        for path in (folder, staged):
            os.makedirs(path, mode=0o700, exist_ok=True)
        for entry, text in missing:
            write(staged_path(folder, entry), text, 0o600, 0, 0)
            if read(staged_path(folder, entry)) != text:
                raise RefusedError(f"{entry['path']}: the staged copy is another; is the disk full?")
    return {
        "changed": bool(missing) and not check,
        "paths": [e["path"] for e, _ in missing],
        "removed": [],
        "kept": [],
        "running": [],
    }


def place(given: dict, wanted: list[tuple[dict, bytes]], check: bool) -> dict:
    """Rename staged files into place, confirm them, and take away what an older bundle left."""
    folder, secrets = given["folder"], given["secrets"]
    running = active(given["units"])
    diffs, changed = [], []
    for entry, text in wanted:
        full = fill(text, secrets)
        if not differs(entry, full):
            continue
        diffs.append(difference(entry, full))
        changed.append((entry, text, full))
    listed = os.path.join(folder, f"{given['manifest']}.json")
    removed, kept = leftovers(listed, {entry["path"] for entry, _ in wanted})
    paths = [entry["path"] for entry, _, _ in changed]
    pending = os.path.join(folder, f"{given['manifest']}.pending")
    untaken = [path for path in read_list(pending) if path not in paths]
    if not check:
        for entry, text, _ in changed:
            if read(staged_path(folder, entry)) != text:
                raise RefusedError(f"{entry['path']} is not staged as confirmed; nothing was placed")
        if paths or removed:
            write_list(pending, [*paths, *untaken, *removed])
        for entry, _, full in changed:
            write(entry["path"], full, int(entry["mode"], 8), *owner(entry))
            if differs(entry, full):
                raise RefusedError(f"{entry['path']}: what stands on the host is not what was placed")
        for path in removed:
            os.unlink(path)
        write_list(listed, [manifest_row(entry) for entry, _ in wanted])
        shutil.rmtree(os.path.join(folder, "staged"), ignore_errors=True)
    diffs += [{"before_header": path, "after_header": "removed"} for path in removed]
    return {
        "changed": bool(paths or removed or untaken),
        "paths": [*paths, *untaken],
        "removed": removed,
        "kept": kept,
        "running": running,
        "pending": pending,
        "diff": diffs,
    }


def fill(text: bytes, secrets: dict) -> bytes:
    """The text with each placeholder replaced."""
    for name, value in secrets.items():
        text = text.replace(name.encode(), value.encode())
    return text


def owner(entry: dict) -> tuple[int, int]:
    """Numbers of the file's owner and group."""
    try:
        return pwd.getpwnam(entry["owner"]).pw_uid, grp.getgrnam(entry["group"]).gr_gid
    except KeyError as error:
        raise RefusedError(
            f"{entry['path']} belongs to {entry['owner']}:{entry['group']}, which this host does not know; "
            "the role base makes them"
        ) from error


def differs(entry: dict, text: bytes) -> bool:
    """Whether the host's file is another, in text, owner or mode. An unknown owner owns no file."""
    try:
        found = os.lstat(entry["path"])
        if not stat.S_ISREG(found.st_mode):
            return True
        same = (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (
            int(entry["mode"], 8),
            *owner(entry),
        )
    except (FileNotFoundError, NotADirectoryError, RefusedError):
        return True
    return not same or read(entry["path"]) != text


def difference(entry: dict, text: bytes) -> dict:
    """Before and after, as `--diff` shows it."""
    try:
        before = read(entry["path"])
    except OSError:
        before = b""
    return {
        "before_header": entry["path"],
        "after_header": entry["path"],
        "before": before.decode(errors="replace"),
        "after": text.decode(errors="replace"),
    }


def leftovers(listed: str, wanted: set[str]) -> tuple[list[str], list[str]]:
    """Files that an older bundle placed and this one does not have: to remove, and edited by hand since."""
    before = read_list(listed)
    gone = [row for row in before if row["path"] not in wanted and os.path.isfile(row["path"])]
    kept = [row["path"] for row in gone if row["sha256"] and row["sha256"] != digest(row["path"])]
    return [row["path"] for row in gone if row["path"] not in kept], kept


def manifest_row(entry: dict) -> dict:
    """A file with a password in it is listed without a hash: the text around the password is known."""
    return {"path": entry["path"], "sha256": "" if entry.get("has_password") else entry["sha256"]}


def read_list(path: str) -> list:
    """What `write_list` wrote; nothing where it did not, or where a power cut left half of something else."""
    try:
        with open(path, encoding="utf-8") as stream:
            found = json.load(stream)
    except (FileNotFoundError, ValueError):
        return []
    return found if isinstance(found, list) else []


def write_list(path: str, rows: list) -> None:
    text = json.dumps(rows, indent=1).encode()
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    if not os.path.exists(path) or read(path) != text:
        write(path, text, 0o600, 0, 0)


def write(path: str, text: bytes, mode: int, uid: int, gid: int) -> None:
    """The file appears complete, with its owner and mode, or not at all."""
    parent = os.path.dirname(path)
    os.makedirs(parent, mode=0o755, exist_ok=True)
    if os.path.isdir(path) and not os.path.islink(path):
        raise RefusedError(f"{path} is a folder on this host; move it away")
    handle, name = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text)
            os.fchown(handle, uid, gid)
            os.fchmod(handle, mode)
            stream.flush()
            os.fsync(handle)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def staged_path(folder: str, entry: dict) -> str:
    return os.path.join(folder, "staged", entry["path"].lstrip("/"))


def read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def digest(path: str) -> str:
    return hashlib.sha256(read(path)).hexdigest()


def active(units: list[str]) -> list[str]:
    """Those of the units that run now; none where systemd does not."""
    if not units or not os.path.isdir("/run/systemd/system"):
        return []
    said = subprocess.run(
        ["systemctl", "is-active", *(f"{unit}.service" for unit in units)],
        capture_output=True,
        text=True,
        check=False,
    )
    return [unit for unit, state in zip(units, said.stdout.split()) if state in ("active", "activating")]


if __name__ == "__main__":
    main()
