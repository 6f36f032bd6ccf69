"""The hosts of a rehearsal as apply reaches them: the same executor that changes a cluster changes these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from slurmwright.apply import placing
from slurmwright.apply.hosts import UNREACHED, Hosts
from slurmwright.conf import parse
from slurmwright.core.bundle import Bundle
from slurmwright.core.run import Result
from slurmwright.rehearse.cast import slurm_conf
from slurmwright.rehearse.machine import Machine

_PID = {
    "slurmctld": ("SlurmctldPidFile", "/run/slurmctld.pid"),
    "slurmd": ("SlurmdPidFile", "/run/slurmd.pid"),
}
#: One that was killed is there until it is reaped, and its number may be another's by now.
_ALIVE = 'p=$(cat "$1") && [ "$(cat /proc/$p/comm)" = "$2" ] && grep -q "^State:.[^ZX]" /proc/$p/status'
#: Gone when its process is: a slurmctld that still writes its state must not meet its successor.
_STOP = """\
p=$(cat "$1") || exit 0; kill "$p" 2>/dev/null
for i in $(seq 600); do kill -0 "$p" 2>/dev/null || exit 0; sleep 0.1; done
echo "still runs after 60 s"; exit 1
"""


class MachineHosts:
    """Commands on the hosts of a rehearsal."""

    def __init__(self, machine: Machine) -> None:
        self._sandbox = machine.sandbox
        self._known = {host.name for host in machine.cast.hosts}

    def run(self, host: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 60) -> Result:
        if host not in self._known:
            return Result(tuple(argv), UNREACHED, "", "no host of this rehearsal")
        enter = f"{self._sandbox.folder}/hosts/{host}/enter"
        return self._sandbox.run(["sh", enter, *argv], stdin=stdin, limit_s=limit_s)

    def put(self, host: str, path: str, text: str, *, owner: str, group: str, mode: str) -> Result:
        return placing.put(self.run, host, path, text, owner=owner, group=group, mode=mode)


class MachineDaemons:
    """slurmctld and slurmd of a rehearsal, which no systemd starts; `bundle` says where they leave their
    process numbers and on which port they meet."""

    def __init__(self, machine: Machine, bundle: Bundle, hosts: Hosts | None = None) -> None:
        self._machine, self._hosts = machine, hosts or MachineHosts(machine)
        conf = parse(slurm_conf(bundle).text)
        self._pid = {
            daemon: pair.value if (pair := conf.get(key)) and "%" not in pair.value else default
            for daemon, (key, default) in _PID.items()
        }
        port = conf.get("SlurmctldPort")
        self._port = port.value.split("-")[0] if port else "6817"

    def start(self, host: str, daemon: str) -> Result:
        if self._script(host, daemon, _ALIVE).ok:
            return Result((daemon,), 0, "", "")
        if daemon == "slurmctld":
            return self._hosts.run(host, ["slurmctld", "-L", self._machine.cast.controller_log], limit_s=90)
        self._machine.cast = replace(self._machine.cast, port=self._port)
        known = next((one for one in self._machine.cast.hosts if one.name == host), None)
        if known is None:
            return Result((daemon,), UNREACHED, "", "no host of this rehearsal")
        return self._hosts.run(host, self._machine.slurmd(known), limit_s=180)

    def stop(self, host: str, daemon: str) -> Result:
        return self._script(host, daemon, _STOP)

    def restart(self, host: str, daemon: str) -> Result:
        done = self.stop(host, daemon)
        return self.start(host, daemon) if done.ok else done

    def _script(self, host: str, daemon: str, script: str) -> Result:
        return self._hosts.run(host, ["sh", "-c", script, "sh", self._pid[daemon], daemon], limit_s=90)
