"""Turns what makes a guest itself (name, addresses, keys, GPUs) into the disk that it reads at first boot."""

from __future__ import annotations

import io
import tarfile
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slurmwright.rehearse.machines.qemu import SSH_NETWORK


@dataclass(frozen=True)
class Gpu:
    """One stand-in GPU: N of /dev/nvidiaN, its model as the driver calls it, and its MIG capabilities."""

    minor: int
    model: str
    caps: tuple[int, ...] = ()


@dataclass(frozen=True)
class Identity:
    """One guest's own. `hosts` is name → address for all hosts, which stands in for the site's DNS."""

    name: str
    address: str
    macs: tuple[str, str]
    hosts: Mapping[str, str]
    host_key: str
    host_key_public: str
    login_key_public: str
    gpus: tuple[Gpu, ...] = ()
    folders: tuple[str, ...] = ()


_SSH_NETWORK = f"""\
[Match]
MACAddress={{mac}}
[Network]
Address={SSH_NETWORK}.15/24
LinkLocalAddressing=no
IPv6AcceptRA=no
"""
#: Whatever networks the cluster has, all of it is on this cable.
_INNER_NETWORK = """\
[Match]
MACAddress={mac}
[Network]
Address={address}/32
LinkLocalAddressing=no
IPv6AcceptRA=no
[Route]
Destination=0.0.0.0/0
Scope=link
"""
#: What nvidia-smi prints as VBIOS of an H100; stand-ins all have it.
_BIOS = "96.00.74.00.0d"


def tar(identity: Identity) -> bytes:
    """A tar archive of root's files; equal for equal values."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, text, mode in _files(identity):
            data = text.encode()
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.size, entry.mode = len(data), mode
            archive.addfile(entry, io.BytesIO(data))
    return raw.getvalue()


def _files(one: Identity) -> Iterator[tuple[str, str, int]]:
    yield "/etc/hostname", f"{one.name}\n", 0o644
    yield "/etc/hosts", "".join(_hosts_lines(one.hosts)), 0o644
    yield "/etc/ssh/ssh_host_ed25519_key", one.host_key, 0o600
    yield "/etc/ssh/ssh_host_ed25519_key.pub", one.host_key_public, 0o644
    yield "/root/.ssh/authorized_keys", one.login_key_public, 0o600
    yield "/etc/systemd/network/10-ssh.network", _SSH_NETWORK.format(mac=one.macs[0]), 0o644
    inner = _INNER_NETWORK.format(mac=one.macs[1], address=one.address)
    yield "/etc/systemd/network/20-inner.network", inner, 0o644
    if one.gpus:
        yield "/etc/guest/gpus", "".join(_gpu_lines(one)), 0o644
        caps = sorted(cap for gpu in one.gpus for cap in gpu.caps)
        if caps:
            yield "/etc/guest/caps", " ".join(map(str, caps)) + "\n", 0o644
    if one.folders:
        yield "/etc/guest/folders", "".join(f"{folder}\n" for folder in one.folders), 0o644


def _hosts_lines(hosts: Mapping[str, str]) -> Iterator[str]:
    yield "127.0.0.1 localhost\n"
    for name, address in hosts.items():
        yield f"{address} {name}\n"


def _gpu_lines(one: Identity) -> Iterator[str]:
    for gpu in one.gpus:
        unique = uuid.uuid5(uuid.NAMESPACE_DNS, f"{one.name}/{gpu.minor}")
        yield f"{gpu.minor} GPU-{unique} {_BIOS} {gpu.model}\n"
