"""The initial RAM disk: order of modules, and the kernel's own archive format."""

import gzip
import lzma
from pathlib import Path

from slurmwright.rehearse.machines.initrd import cpio, initrd, load_order, module_name

DEP = """\
kernel/fs/ext4/ext4.ko.xz: kernel/lib/crc16.ko.xz kernel/fs/mbcache.ko.xz kernel/fs/jbd2/jbd2.ko.xz
kernel/fs/jbd2/jbd2.ko.xz:
kernel/fs/mbcache.ko.xz:
kernel/lib/crc16.ko.xz:
kernel/drivers/block/virtio_blk.ko.xz:
"""


def test_what_a_module_needs_is_loaded_before_it() -> None:
    order = [module_name(path) for path in load_order(DEP, ("virtio_blk", "ext4"))]
    assert order == ["virtio_blk", "jbd2", "mbcache", "crc16", "ext4"]


def test_a_module_that_is_built_in_is_passed_over() -> None:
    assert load_order(DEP, ("virtio_pci",)) == []


def test_a_name_has_underscores_and_no_suffix() -> None:
    assert module_name("kernel/net/sch-fq.ko") == "sch_fq"


def test_name_and_content_start_at_multiples_of_four() -> None:
    archive = cpio([("init", 0o100755, b"#!/bin/sh\n"), ("odd", 0o100644, b"abc")])
    name_at = archive.index(b"odd\0")
    assert (name_at - 110) % 4 == 0
    assert int(archive[name_at - 110 + 54 : name_at - 110 + 62], 16) == 3
    start = name_at + 4 + -(name_at + 4) % 4
    assert archive[start : start + 3] == b"abc"
    assert archive.endswith(b"TRAILER!!!\0\0\0\0")


def test_modules_are_unpacked_and_listed_in_order(tmp_path: Path) -> None:
    for line in DEP.splitlines():
        path = tmp_path / line.partition(":")[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lzma.compress(path.name.encode()))
    (tmp_path / "modules.dep").write_text(DEP)
    archive = gzip.decompress(initrd(tmp_path, b"BUSYBOX", "#!/bin/busybox sh\n"))
    assert b"virtio_blk.ko\njbd2.ko\nmbcache.ko\ncrc16.ko\next4.ko\n" in archive
    assert b"ext4.ko.xz" in archive
    assert b"BUSYBOX" in archive
    assert archive == gzip.decompress(initrd(tmp_path, b"BUSYBOX", "#!/bin/busybox sh\n"))
