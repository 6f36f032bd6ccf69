#!/usr/bin/python
"""A SPANK plugin, or the package that holds it, to the Slurm release that it was built for.

Slurm compares the two upper bytes of the plugin's `plugin_version` with its own (src/common/plugin.c of 22.05
to 26.05: for type spank the mask is 0xffff00). The number lies in the data of the ELF file, under that
symbol; nothing is executed.
"""

from __future__ import annotations

import io
import struct
import subprocess
import tarfile

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: spank_plugin
short_description: Reads for which Slurm a SPANK plugin was built
description: Reads an ELF file, or the one in a Debian or RPM package. Nothing is executed or changed.
options:
  path:
    description: The plugin, or a package.
    type: path
    required: true
  plugin:
    description: The name of the plugin's file in a package.
    type: str
    required: true
author: The slurmwright authors
"""

EXAMPLES = r"""
- name: Read for which Slurm pyxis was built
  spank_plugin:
    path: /usr/local/lib/slurm/spank_pyxis.so
    plugin: spank_pyxis.so
"""

RETURN = r"""
release:
  description: The release, such as 24.11.5; empty where it cannot be read.
  type: str
  returned: always
series:
  description: Its first two numbers, such as 24.11.
  type: str
  returned: always
member:
  description: The place of the plugin in the package.
  type: str
  returned: always
reason:
  description: Why the release cannot be read; empty where it can.
  type: str
  returned: always
"""

_SYMBOL = b"plugin_version"
_DYNSYM = 11


def plugin_release(data: bytes) -> tuple[int, int, int]:
    """(24, 11, 5) from the bytes of a plugin; raises ValueError with the reason for anything else."""
    try:
        number = struct.unpack(_order(data) + "I", _at_symbol(data, _SYMBOL, 4))[0]
    except (IndexError, struct.error):
        raise ValueError("the ELF file is cut short") from None
    return number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF


def _order(data: bytes) -> str:
    if data[:4] != b"\x7fELF" or len(data) < 64:
        raise ValueError("not an ELF file")
    if data[4] != 2:
        raise ValueError("not a 64-bit ELF file")
    return "<" if data[5] == 1 else ">"


def _at_symbol(data: bytes, name: bytes, size: int) -> bytes:
    """The first bytes of what a dynamic symbol names."""
    order = _order(data)
    sections = _sections(data, order)
    for kind, _, offset, length, link in sections:
        if kind != _DYNSYM:
            continue
        names = sections[link][2]
        for at in range(offset, offset + length, 24):
            word, _, _, _, value, _ = struct.unpack_from(order + "IBBHQQ", data, at)
            start = names + word
            if data[start : start + len(name) + 1] == name + b"\0" and value:
                place = _file_offset(data, order, value)
                return data[place : place + size]
    raise ValueError("no Slurm plugin: it has no symbol " + name.decode())


def _sections(data: bytes, order: str) -> list[tuple[int, int, int, int, int]]:
    """(type, address, offset, size, link) of each section."""
    start = struct.unpack_from(order + "Q", data, 40)[0]
    size, count = struct.unpack_from(order + "HH", data, 58)
    found = []
    for at in range(start, start + size * count, size):
        _, kind, _, address, offset, length, link = struct.unpack_from(order + "IIQQQQI", data, at)
        found.append((kind, address, offset, length, link))
    return found


def _file_offset(data: bytes, order: str, address: int) -> int:
    """Where in the file the loader finds an address: the segment (PT_LOAD) that holds it."""
    start = struct.unpack_from(order + "Q", data, 32)[0]
    size, count = struct.unpack_from(order + "HH", data, 54)
    for at in range(start, start + size * count, size):
        kind, _, offset, base, _, length = struct.unpack_from(order + "IIQQQQ", data, at)
        if kind == 1 and base <= address < base + length:
            return int(offset + address - base)
    raise ValueError("the symbol lies in no segment of the file")


def plugin_bytes(path: str, plugin: str) -> tuple[str, bytes]:
    """The plugin's place in a package (or its path) and its bytes; raises ValueError or OSError."""
    if path.endswith(".deb"):
        return _from_tar(_output(["dpkg-deb", "--fsys-tarfile", path]), plugin)
    if path.endswith(".rpm"):
        return _from_cpio(_output(["rpm2cpio", path]), plugin)
    with open(path, "rb") as stream:
        return path, stream.read()


def _output(argv: list[str]) -> bytes:
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode:
        raise ValueError(argv[0] + ": " + done.stderr.decode(errors="replace").strip())
    return done.stdout


def _from_tar(data: bytes, plugin: str) -> tuple[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isfile() else None
            if stream is not None and member.name.rsplit("/", 1)[-1] == plugin:
                return member.name.lstrip("."), stream.read()
    raise ValueError("the package holds no " + plugin)


def _from_cpio(data: bytes, plugin: str) -> tuple[str, bytes]:
    """The newc form that rpm2cpio writes: 13 hexadecimal words, name and data padded to four bytes."""
    at = 0
    while data[at : at + 6] in (b"070701", b"070702"):
        size = int(data[at + 54 : at + 62], 16)
        length = int(data[at + 94 : at + 102], 16)
        name = data[at + 110 : at + 110 + length - 1].decode(errors="replace")
        begin = at + 110 + length
        begin += -begin % 4
        if name.rsplit("/", 1)[-1] == plugin and size:
            return name.lstrip("."), data[begin : begin + size]
        at = begin + size
        at += -at % 4
    raise ValueError("the package holds no " + plugin)


def main() -> None:
    """Called by Ansible on the host."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "plugin": {"type": "str", "required": True},
        },
        supports_check_mode=True,
    )
    path = module.params["path"]
    release, member, reason = "", "", ""
    try:
        member, data = plugin_bytes(path, module.params["plugin"])
        release = "{:02d}.{:02d}.{}".format(*plugin_release(data))
    except FileNotFoundError as error:
        reason = "no " + str(error.filename)
    except (OSError, ValueError, tarfile.TarError) as error:
        reason = str(error)
    series = ".".join(release.split(".")[:2])
    module.exit_json(changed=False, path=path, release=release, series=series, member=member, reason=reason)


if __name__ == "__main__":
    main()
