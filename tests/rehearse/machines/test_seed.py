"""The disk that makes a guest itself."""

import io
import tarfile

from slurmwright.rehearse.machines.seed import Gpu, Identity, tar

ONE = Identity(
    "gpu001",
    "10.20.1.1",
    ("52:54:00:5c:00:02", "52:54:00:5c:01:02"),
    {"ctl1": "10.20.0.11", "gpu001": "10.20.1.1"},
    "HOST KEY",
    "ssh-ed25519 HOST",
    "ssh-ed25519 LOGIN",
    (Gpu(0, "NVIDIA H100 80GB HBM3"), Gpu(3, "NVIDIA H100 80GB HBM3", (21, 22))),
)


def files(identity: Identity) -> dict[str, tuple[str, int]]:
    with tarfile.open(fileobj=io.BytesIO(tar(identity))) as archive:
        found = {}
        for entry in archive:
            file = archive.extractfile(entry)
            assert file is not None
            found[entry.name] = (file.read().decode(), entry.mode)
    return found


def test_private_keys_are_for_root_alone() -> None:
    modes = {name: mode for name, (_, mode) in files(ONE).items()}
    assert modes["etc/ssh/ssh_host_ed25519_key"] == 0o600
    assert modes["root/.ssh/authorized_keys"] == 0o600


def test_names_are_resolved_as_the_sites_dns_would() -> None:
    assert "10.20.0.11 ctl1\n10.20.1.1 gpu001\n" in files(ONE)["etc/hosts"][0]


def test_gpus_are_listed_in_pci_order_with_minor_and_model() -> None:
    lines = files(ONE)["etc/guest/gpus"][0].splitlines()
    assert [line.split()[0] for line in lines] == ["0", "3"]
    assert all(line.endswith("NVIDIA H100 80GB HBM3") for line in lines)
    assert len({line.split()[1] for line in lines}) == 2


def test_capability_numbers_of_instances_are_listed() -> None:
    assert files(ONE)["etc/guest/caps"][0] == "21 22\n"


def test_a_host_without_gpus_has_no_list_of_them() -> None:
    bare = Identity("ctl1", "10.20.0.11", ONE.macs, ONE.hosts, "", "", "")
    assert not any(name.startswith("etc/guest") for name in files(bare))


def test_equal_values_give_equal_bytes() -> None:
    assert tar(ONE) == tar(ONE)
