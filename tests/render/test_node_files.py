"""The files around each daemon: its folders, its log and its unit, on its own hosts and for its own user."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slurmwright.core.bundle import Bundle
from slurmwright.model.cluster import Cluster
from slurmwright.render import render

Make = Callable[..., Cluster]

DATABASE = "{controllers: [ctl1], database: db1}"
#: daemon → its hosts.
HOSTS = {"slurmctld": "ctl1", "slurmd": "n[1-4]", "slurmdbd": "db1"}
PLACES = (
    "/etc/logrotate.d/{}",
    "/etc/tmpfiles.d/slurmwright-{}.conf",
    "/etc/systemd/system/{}.service.d/slurmwright.conf",
)


def text(bundle: Bundle, path: str) -> str:
    file = bundle.find(path)
    assert file is not None, path
    return file.text


@pytest.mark.parametrize("daemon", HOSTS)
@pytest.mark.parametrize("place", PLACES)
def test_every_daemon_has_its_files_on_its_hosts(make: Make, daemon: str, place: str) -> None:
    file = render(make(control=DATABASE), {}).find(place.format(daemon))
    assert file is not None
    assert (file.hosts, file.owner, file.mode) == (HOSTS[daemon], "root", "0644")


@pytest.mark.parametrize("place", PLACES)
def test_without_a_database_there_is_nothing_of_slurmdbd(make: Make, place: str) -> None:
    assert render(make(), {}).find(place.format("slurmdbd")) is None


def test_an_override_of_the_log_moves_its_rule_and_its_folder(make: Make) -> None:
    more = "overrides: {slurmdbd.conf: {LogFile: /data/log/dbd.log}, slurm.conf: {SlurmdLogFile: /l/%n.log}}"
    bundle = render(make(control=DATABASE, more=more), {})
    assert "/data/log/dbd.log {" in text(bundle, "/etc/logrotate.d/slurmdbd")
    assert "d /data/log 0755 slurm root -" in text(bundle, "/etc/tmpfiles.d/slurmwright-slurmdbd.conf")
    assert bundle.find("/etc/logrotate.d/slurmd") is None


def test_slurmdbd_waits_for_a_database_of_its_own_host_only(make: Make) -> None:
    unit = PLACES[2].format("slurmdbd")
    assert "After=mariadb.service" in text(render(make(control=DATABASE), {}), unit)
    more = "overrides: {slurmdbd.conf: {StorageHost: sql1}}"
    assert "After=" not in text(render(make(control=DATABASE, more=more), {}), unit)


@pytest.mark.parametrize("daemon", ["slurmctld", "slurmdbd"])
@pytest.mark.parametrize(("release", "named"), [("23.02", False), ("23.11", True)])
def test_a_user_of_the_sites_own_stands_in_the_units_that_name_one(
    make: Make, daemon: str, release: str, named: bool
) -> None:
    cluster = make(control=DATABASE, release=release)
    own = cluster.model_copy(update={"slurm": cluster.slurm.model_copy(update={"user": "hpc"})})
    bundle = render(own, {})
    assert ("User=hpc" in text(bundle, PLACES[2].format(daemon))) == named
    assert " hpc " in text(bundle, PLACES[1].format(daemon))


@pytest.mark.parametrize(
    ("control", "hosts"),
    [
        ("{controllers: [ctl1], login: [login1]}", "login1"),
        ("{controllers: [ctl1], login: [ctl1, n1, login1]}", "login1"),
        ("{controllers: [ctl1], login: [ctl1]}", ""),
    ],
)
def test_sackd_is_told_where_the_files_are_where_nothing_else_brings_them(
    make: Make, control: str, hosts: str
) -> None:
    """A controller holds slurm.conf, and slurmd keeps the files where sackd would."""
    bundle = render(make(control=control), {})
    for place in ("/etc/default/sackd", PLACES[2].format("sackd")):
        file = bundle.find(place)
        assert (file.hosts if file else "") == hosts
    if hosts:
        assert 'SACKD_OPTIONS="--conf-server ctl1:6817"' in text(bundle, "/etc/default/sackd")


def test_there_is_no_sackd_before_its_release(make: Make) -> None:
    bundle = render(make(control="{controllers: [ctl1], login: [login1]}", release="23.02"), {})
    assert bundle.find("/etc/default/sackd") is None
    assert "login1" in (bundle.find("/etc/slurm/slurm.conf") or bundle.files[0]).hosts


def test_a_slurmd_that_waits_for_slurmctld_is_not_ended_by_systemd(make: Make) -> None:
    drop_in = text(render(make(control=DATABASE), {}), PLACES[2].format("slurmd"))
    assert "TimeoutStartSec=infinity" in drop_in.splitlines()
