"""Turns the modules of a kernel into the small initial RAM disk with which guests boot.

Debian's own, made by initramfs-tools, takes an emulated machine ten seconds to unpack; this one loads five
modules, mounts the disk and starts systemd.
"""

from __future__ import annotations

import gzip
import lzma
import posixpath
import re
import stat
from collections.abc import Iterator
from pathlib import Path

#: What a guest needs: its disk, the file system on it and its network.
WANTED = ("virtio_pci", "virtio_blk", "virtio_net", "ext4")


def initrd(modules: Path, busybox: bytes, init: str) -> bytes:
    """The archive; `modules` is the folder of a kernel's modules, whose `modules.dep` gives their order."""
    files = dict(_module_files(modules))
    order = "\n".join(files) + "\n"
    entries: list[tuple[str, int, bytes]] = [
        (folder, stat.S_IFDIR | 0o755, b"") for folder in ("bin", "dev", "modules", "root")
    ]
    entries.append(("init", stat.S_IFREG | 0o755, init.encode()))
    entries.append(("bin/busybox", stat.S_IFREG | 0o755, busybox))
    entries.append(("modules/order", stat.S_IFREG | 0o644, order.encode()))
    entries += [(f"modules/{name}", stat.S_IFREG | 0o644, data) for name, data in files.items()]
    return gzip.compress(cpio(entries), 1, mtime=0)


def load_order(dependencies: str, wanted: tuple[str, ...] = WANTED) -> list[str]:
    """Paths of modules in the order in which they can be loaded, read from the text of a `modules.dep`.

    What is not there is built into the kernel.
    """
    needs = {}
    for line in dependencies.splitlines():
        path, _, others = line.partition(":")
        needs[path] = others.split()
    by_name = {module_name(path): path for path in needs}
    order: list[str] = []
    for name in wanted:
        if name in by_name:
            path = by_name[name]
            # modules.dep lists the nearest first, so the last must be loaded first.
            order += [one for one in (*reversed(needs[path]), path) if one not in order]
    return order


def module_name(path: str) -> str:
    """`kernel/fs/ext4/ext4.ko.xz` → `ext4`."""
    return re.sub(r"\.ko(\.\w+)?$", "", posixpath.basename(path)).replace("-", "_")


def _module_files(modules: Path) -> Iterator[tuple[str, bytes]]:
    for path in load_order((modules / "modules.dep").read_text(encoding="utf-8")):
        data = (modules / path).read_bytes()
        yield f"{module_name(path)}.ko", lzma.decompress(data) if path.endswith(".xz") else data


def cpio(entries: list[tuple[str, int, bytes]]) -> bytes:
    """An archive of (name, mode, content) in the kernel's own format, `newc`."""
    parts = []
    for number, (name, mode, data) in enumerate((*entries, ("TRAILER!!!", 0, b"")), start=1):
        raw = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0)
        parts.append(_padded(b"070701" + b"".join(b"%08x" % field for field in fields) + raw))
        parts.append(_padded(data))
    return b"".join(parts)


def _padded(raw: bytes) -> bytes:
    return raw + b"\0" * (-len(raw) % 4)


def kernel_files(root: Path) -> tuple[Path, Path]:
    """The kernel of a system and the folder of its modules."""
    kernel = max(root.glob("boot/vmlinuz-*"))
    return kernel, root / "usr/lib/modules" / kernel.name.removeprefix("vmlinuz-")
