"""Ports and cables of guests."""

from pathlib import Path

from slurmwright.rehearse.machines.shape import SERVER
from slurmwright.rehearse.machines.wiring import wire


def test_each_cable_has_two_ends_that_know_each_other() -> None:
    guests = wire(dict.fromkeys(("ctl1", "gpu001", "gpu002"), SERVER), Path("/w"))
    for name, hub in zip(("gpu001", "gpu002"), guests["ctl1"].links, strict=True):
        (own,) = guests[name].links
        assert (own.here, own.there) == (hub.there, hub.here)


def test_no_two_ports_and_no_two_addresses_are_the_same() -> None:
    guests = wire(dict.fromkeys(map(str, range(6)), SERVER), Path("/w")).values()
    assert len({guest.ssh_port for guest in guests}) == 6
    assert len({link.here for guest in guests for link in guest.links}) == 10
    assert len({guest.mac(1) for guest in guests} | {guest.mac(0) for guest in guests}) == 12
