"""Turns a Debian suite into the disk image, kernel and initial RAM disk of guests, built once and kept.

The packages are on the disk and nothing of them is set up: no key, no enabled daemon, as on a bare host whose
packages are already there. Whatever is changed against Debian only makes an emulated boot short.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.core.run import Local, Runner
from slurmwright.rehearse.machines.initrd import initrd, kernel_files
from slurmwright.rehearse.mmdebstrap import explain_failure, find_keyring
from slurmwright.rehearse.roots import SUITES, cache_folder, locked, mmdebstrap_command, slurm_version, sweep

Progress = Callable[[str], None]

#: Raise this when the way an image is built changes; what is in FILES and PACKAGES counts by itself.
RECIPE = 2
BUILD_LIMIT_S = 3600
DISK_MB = 4096
#: Whoever submits the jobs of a rehearsal; not root, whom some sites keep from jobs.
USER = "rehearser"
#: Where root's Python keeps what it compiled, for compiled.py.
COMPILED = "var/cache/guest-python"
#: What root has built serves everybody.
_OF_ROOT = Path("/var/cache/slurmwright")
_GUEST = Path(__file__).resolve().parent / "guest"
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "udev", "kmod", "linux-image-cloud-amd64", "busybox-static"),
    *("openssh-server", "python3", "python3-apt", "python3-pymysql", "sudo", "acl", "ca-certificates"),
    *("iproute2", "iputils-ping", "procps", "pciutils", "hwloc-nox", "numactl", "less"),
    *("slurmctld", "slurmd", "slurm-client", "slurmdbd", "munge", "mariadb-server", "libpam-slurm-adopt"),
    *("chrony", "logrotate"),
)
#: (path in the image, mode, file of ours)
FILES = (
    ("usr/local/lib/guest/seed.sh", 0o755, "seed.sh"),
    ("usr/local/lib/guest/gpus.py", 0o755, "gpus.py"),
    ("usr/bin/nvidia-smi", 0o755, "nvidia_smi.py"),
    ("usr/lib/python3/dist-packages/guest_compiled.py", 0o644, "compiled.py"),
    ("usr/lib/python3/dist-packages/guest_compiled.pth", 0o644, "compiled.pth"),
    ("etc/systemd/system/guest-seed.service", 0o644, "guest-seed.service"),
    ("etc/systemd/system/guest-gpus.service", 0o644, "guest-gpus.service"),
    ("etc/systemd/system/nvidia-persistenced.service", 0o644, "nvidia-persistenced.service"),
    ("etc/systemd/system/nvidia-fabricmanager.service", 0o644, "nvidia-fabricmanager.service"),
    ("etc/systemd/system.conf.d/guest.conf", 0o644, "patience.conf"),
    ("etc/systemd/system/systemd-udev-trigger.service.d/guest.conf", 0o644, "udev-trigger.conf"),
)
_ENABLED = (
    *("systemd-networkd.service", "ssh.service", "guest-seed.service", "guest-gpus.service"),
    *("nvidia-persistenced.service", "nvidia-fabricmanager.service"),
)
#: A playbook brings these into service, as on a bare host.
_DISABLED = tuple(
    f"{name}.service" for name in ("slurmctld", "slurmd", "slurmdbd", "sackd", "munge", "mariadb", "chrony")
)
#: What only costs time in an emulated guest.
_MASKED = (
    *("systemd-networkd-wait-online.service", "dev-ttyS0.device", "sshd-keygen.service"),
    *("getty@tty1.service", "apt-daily.timer", "apt-daily-upgrade.timer", "fstrim.timer"),
    *("dpkg-db-backup.timer", "e2scrub_all.timer", "e2scrub_reap.service", "systemd-pstore.service"),
    *("modprobe@drm.service", "modprobe@efi_pstore.service", "modprobe@fuse.service"),
    *("modprobe@configfs.service", "systemd-network-generator.service", "sys-kernel-debug.mount"),
    *("sys-kernel-tracing.mount", "dev-hugepages.mount", "ldconfig.service", "systemd-hwdb-update.service"),
    *("systemd-journal-catalog-update.service", "systemd-update-done.service", "kmod-static-nodes.service"),
    *("systemd-udev-load-credentials.service", "systemd-binfmt.service", "proc-sys-fs-binfmt_misc.automount"),
)
_REMOVED = (
    *("etc/munge/munge.key", "etc/hostname", "etc/resolv.conf", "etc/fstab"),
    *("var/lib/apt/lists", "var/cache/apt/archives", "etc/ssh/ssh_host_*"),
)


@dataclass(frozen=True)
class Image:
    """What a guest boots from."""

    disk: Path
    kernel: Path
    initrd: Path


def image_name(series: str) -> str:
    """The name of an image's folder: it changes with anything that changes what is in the image."""
    suite = SUITES[series]
    texts = {source: _text(source) for _, _, source in FILES} | {"init": _text("init")}
    said = [RECIPE, asdict(suite), PACKAGES, FILES, texts, COMPILED]
    said += [_ENABLED, _DISABLED, _MASKED, _REMOVED, DISK_MB]
    return f"{series}-{hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]}"


def ensure_image(series: str, cache: Path, runner: Runner, progress: Progress) -> Image:
    """The image with Slurm `series`, built if it is not in `cache` yet; a folder that exists is whole."""
    if series not in SUITES:
        raise InputError.of(
            f"no Debian suite ships Slurm {series}; guests can have {', '.join(SUITES)}: rehearse with "
            "--release of one of them"
        )
    name = image_name(series)
    target = cache / "images" / name
    if not target.is_dir() and (_OF_ROOT / "images" / name).is_dir():
        target = _OF_ROOT / "images" / name
    if not target.is_dir():
        if os.geteuid() != 0:
            raise SlurmwrightError(
                f"the guests' image with Slurm {series} is not in {cache} yet and only root can build it; "
                "run the same command with sudo once"
            )
        try:
            with locked(target, progress):
                if not target.is_dir():
                    progress(f"building the guests' image with Slurm {series} (once; about 1 GB)")
                    _build(series, target, runner)
        except OSError as error:
            raise SlurmwrightError(
                f"the guests' image cannot be kept in {cache} ({error}); "
                "name another folder in SLURMWRIGHT_CACHE"
            ) from error
    return Image(target / "disk.img", target / "vmlinuz", target / "initrd")


def _build(series: str, target: Path, runner: Runner) -> None:
    prefix = f".{target.name}.building-"
    sweep(target.parent, prefix, runner)
    stage = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
    try:
        stage.chmod(0o755)
        root = stage / "root"
        suite, keyring = SUITES[series], find_keyring()
        packages = (*PACKAGES, "sackd") if series != "22.05" else PACKAGES
        command = mmdebstrap_command(suite, packages, root, keyring)
        result = runner.run(command, limit_s=BUILD_LIMIT_S)
        if not result.ok:
            raise SlurmwrightError(explain_failure(suite.name, keyring, result))
        version = slurm_version(root, runner)
        if not version.startswith(series + "."):
            raise SlurmwrightError(f"Debian {suite.name} ships Slurm {version} now, expected {series}")
        _set_up(root, runner)
        kernel, modules = kernel_files(root)
        (stage / "vmlinuz").write_bytes(kernel.read_bytes())
        (stage / "initrd").write_bytes(
            initrd(modules, (root / "usr/bin/busybox").read_bytes(), _text("init"))
        )
        disk = stage / "disk.img"
        with disk.open("wb") as file:
            file.truncate(DISK_MB << 20)
        make = ["mke2fs", "-q", "-t", "ext4", "-J", "size=16", "-m", "0", "-d", str(root), str(disk)]
        _must(runner, make)
        _must(runner, ["rm", "-rf", "--one-file-system", "--", str(root)])
        stage.rename(target)
    finally:
        sweep(target.parent, prefix, runner)


def _set_up(root: Path, runner: Runner) -> None:
    """Lay our files and switch services."""
    for path, mode, source in FILES:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_text(source), encoding="utf-8")
        place.chmod(mode)
    for pattern in _REMOVED:
        for found in root.glob(pattern):
            _must(runner, ["rm", "-rf", "--", str(found)])
    (root / "var/cache/apt/archives/partial").mkdir(parents=True)
    (root / COMPILED).mkdir(parents=True)
    (root / "etc/machine-id").write_text("")
    for stamp in ("etc/.updated", "var/.updated"):
        (root / stamp).touch()
    _must(runner, ["chroot", str(root), "useradd", "--uid=2000", "--create-home", "--shell=/bin/bash", USER])
    there = [name for name in _DISABLED if any(root.glob(f"usr/lib/systemd/system/{name}"))]
    systemctl = ["chroot", str(root), "systemctl", "--quiet"]
    _must(runner, [*systemctl, "disable", *there])
    _must(runner, [*systemctl, "mask", *_MASKED])
    _must(runner, [*systemctl, "enable", *_ENABLED])
    _must(runner, [*systemctl, "set-default", "multi-user.target"])


def _must(runner: Runner, argv: list[str]) -> None:
    result = runner.run(argv, limit_s=BUILD_LIMIT_S)
    if not result.ok:
        raise SlurmwrightError(f"the guests' image cannot be built: {argv[0]}: {result.last_line}")


def _text(name: str) -> str:
    return (_GUEST / name).read_text(encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """`python -m slurmwright.rehearse.machines.image 24.11`: build these images, print their folders."""
    try:
        for series in arguments:
            image = ensure_image(series, cache_folder(), Local(), lambda line: print(line, file=sys.stderr))
            print(f"{series} {image.disk.parent}")
    except SlurmwrightError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("stopped; nothing half-built is kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
