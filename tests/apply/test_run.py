"""A playbook on real hosts: three sshd on this machine, of which one refuses and one dies in the middle."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slurmwright.apply.command import Request
from slurmwright.apply.events import Event
from slurmwright.apply.load import load_inventory
from slurmwright.apply.outcome import Outcome
from slurmwright.apply.run import apply, target_hosts
from slurmwright.apply.steps import steps
from slurmwright.core.run import Local

pytestmark = pytest.mark.rehearsal
pytest.importorskip("ansible", reason="ansible-core is not installed")

SSHD = "/usr/sbin/sshd"
HOSTS = ("ctl1", "gpu1", "gpu2")
CLUSTER = """\
name: tiny
slurm: {release: "24.11"}
control: {controllers: [{host: ctl1, address: 127.0.0.2}]}
nodes:
  - {hosts: "gpu[1-2]", type: dgx-h100, address: "127.0.0.[3-4]"}
partitions:
  - {name: train, nodes: all, default: true}
"""
PLAYBOOK = """\
- name: Place files
  hosts: slurm
  gather_facts: false
  tasks:
    - name: Place one file
      ansible.builtin.copy:
        content: "{{ inventory_hostname }}\\n"
        dest: "FOLDER/{{ inventory_hostname }}"
        mode: "0644"
    - name: Take a password
      ansible.builtin.command: "echo {{ secret }}"
      no_log: true
      changed_when: false
    - name: Fail on the second node
      ansible.builtin.command: "test ! -e FOLDER/fail-{{ inventory_hostname }}"
      changed_when: false
    - name: Lose the connection
      ansible.builtin.command: "sh FOLDER/lose.sh {{ inventory_hostname }}"
      changed_when: false
    - name: Go on
      ansible.builtin.command: "true"
      changed_when: false
"""
#: Kills the sshd of this connection and the one that listens, as a host that loses its power.
LOSE = """\
test -e FOLDER/lose-$1 || exit 0
listener=$(cat FOLDER/pid-$1)
at=$$
while [ "$at" != "$listener" ]; do mine=$at; at=$(cut -d' ' -f4 "/proc/$at/stat"); done
kill -9 "$listener" "$mine"
sleep 20
"""
SECRET = "correct-horse-battery"  # noqa: S105


class Site:
    """The folder of a test: inventory, playbook, and what the playbook writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out"
        self.playbook = folder / "place.yml"
        self.out.mkdir()
        (folder / "cluster.yaml").write_text(CLUSTER)
        self.playbook.write_text(PLAYBOOK.replace("FOLDER", str(self.out)))
        (self.out / "lose.sh").write_text(LOSE.replace("FOLDER", str(self.out)))
        self.lines: list[str] = []
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, check: bool = False, diff: bool = False) -> Outcome:
        request = Request(
            self.folder, self.playbook, check=check, diff=diff, extra=("-e", f"@{self.folder}/secret.yml")
        )
        environ = {
            **os.environ,
            "HOME": str(self.folder),
            "ANSIBLE_HOST_KEY_CHECKING": "False",
            "ANSIBLE_SSH_ARGS": "-o ControlMaster=no -o ServerAliveInterval=10",
        }
        hosts = target_hosts(request, Local(), environ)
        assert hosts == HOSTS
        planned = steps(self.playbook, load_inventory(self.folder), hosts)
        return apply(request, hosts, Local(), environ, self.watch, self.lines.append, planned)

    def watch(self, event: Event) -> None:
        self.lines.append(repr(event))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """One sshd for each host, with a key of its own."""
    if not Path(SSHD).exists() or shutil.which("ssh") is None or os.geteuid() != 0:
        pytest.skip("needs root, ssh and sshd (openssh-server)")
    Path("/run/sshd").mkdir(exist_ok=True)
    (tmp_path / "site").mkdir()
    site = Site(tmp_path / "site")
    key = site.folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (site.folder / "secret.yml").write_text(f"secret: {SECRET}\n")
    (site.folder / "group_vars").mkdir()
    (site.folder / "host_vars").mkdir()
    (site.folder / "group_vars/all.yml").write_text(
        f"ansible_user: root\nansible_python_interpreter: {sys.executable}\n"
        f"ansible_ssh_private_key_file: {key}\n"
        "ansible_ssh_common_args: -o UserKnownHostsFile=/dev/null\n"
    )
    for host in HOSTS:
        start_sshd(site, host)
    yield site
    for daemon in site.daemons.values():
        daemon.kill()
        daemon.wait()


def start_sshd(site: Site, host: str) -> None:
    folder, key, address = site.folder, site.folder / "key", f"127.0.0.{HOSTS.index(host) + 2}"
    with socket.socket() as probe:
        probe.bind((address, 0))
        port = probe.getsockname()[1]
    (folder / f"host_vars/{host}.yml").write_text(f"ansible_port: {port}\n")
    options = {
        "Port": port, "ListenAddress": address, "HostKey": key, "AuthorizedKeysFile": f"{key}.pub",
        "PidFile": "none", "UsePAM": "no", "StrictModes": "no", "PermitRootLogin": "prohibit-password",
    }  # fmt: skip
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    daemon = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", "/dev/null", *words], stderr=(folder / f"{host}.log").open("wb")
    )
    site.daemons[host] = daemon
    (site.out / f"pid-{host}").write_text(str(daemon.pid))
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex((address, port)) == 0:
                return
        try:
            daemon.wait(0.1)
            break
        except subprocess.TimeoutExpired:
            continue
    pytest.fail(f"sshd does not start: {(folder / f'{host}.log').read_text()}")


def test_a_second_run_changes_nothing(site: Site) -> None:
    first = site.run()
    assert (first.exit_code, first.changed, first.done) == (0, 3, HOSTS)
    second = site.run()
    assert (second.exit_code, second.changed, second.done) == (0, 0, HOSTS)
    assert SECRET not in "".join(site.lines)


def test_a_check_says_what_would_change_and_changes_nothing(site: Site) -> None:
    found = site.run(check=True, diff=True)
    assert (found.exit_code, found.changed) == (1, 3)
    assert not (site.out / "gpu1").exists()
    assert any("+gpu1" in text for host, text in found.diffs if host == "gpu1")


def test_a_failed_host_is_named_with_its_task_and_the_others_are_done(site: Site) -> None:
    (site.out / "fail-gpu1").touch()
    found = site.run()
    assert (found.exit_code, found.done, found.not_done) == (3, ("ctl1", "gpu2"), ("gpu1",))
    assert found.hosts[1].task == "Fail on the second node"
    assert "non-zero return code" in found.hosts[1].message


def test_a_host_that_is_lost_in_the_middle_is_unreachable_and_the_next_run_completes(site: Site) -> None:
    (site.out / "lose-gpu2").touch()
    found = site.run()
    assert (found.exit_code, found.done, found.not_done) == (3, ("ctl1", "gpu1"), ("gpu2",))
    assert found.hosts[2].state == "unreachable"
    (site.out / "lose-gpu2").unlink()
    site.daemons["gpu2"].wait()
    start_sshd(site, "gpu2")
    assert site.run().done == HOSTS
