"""Runs a cast of hosts inside a sandbox: real munged, slurmctld and slurmd from a Slurm root.

Every host is a mount and host-name namespace over one shared root: its own /etc/slurm, /run, /var/log,
/var/spool and /dev, so that nothing in the bundle has to know that its hosts share a machine. GPUs are
stand-ins: character devices of major 195 without a driver behind them.
"""

from __future__ import annotations

import os
import posixpath
import shlex
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slurmwright.conf import parse
from slurmwright.core.bundle import BundleFile
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.run import Result
from slurmwright.rehearse.cast import Cast, Host
from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.sandbox import BASE_ENV, Sandbox

_DEVICES = (
    ("null", 1, 3),
    ("zero", 1, 5),
    ("full", 1, 7),
    ("random", 1, 8),
    ("urandom", 1, 9),
    ("tty", 5, 0),
)
#: Where hosts find their own map of CPUs, inside the root.
_HWLOC = "/var/lib/hwloc"
#: The slurm.conf of srun and its like on the first controller.
_CLIENT = "/run/client/slurm.conf"
#: Folders that each host has for itself.
_PRIVATE = ("/run", "/var/log", "/var/spool")
_ETC = ("passwd", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives")


@dataclass(frozen=True)
class SlurmRoot:
    """Where Slurm comes from: a folder that holds a whole system, and the prefix of Slurm inside it."""

    folder: Path
    prefix: str = "/usr"


class Machine:
    """All hosts of one rehearsal. Build, start, then ask through `ctl` and `on_node`."""

    def __init__(self, sandbox: Sandbox, root: SlurmRoot, cast: Cast) -> None:
        self.sandbox = sandbox
        self.cast = cast
        self.source = root
        self._work = sandbox.folder
        self.root = f"{sandbox.folder}/root"
        self._by_node = {host.node: host for host in cast.compute}
        self._said_at_start: dict[str, str] = {}
        self._owner = (0, 0)
        self._shared, self._bound = _elsewhere(cast, self._own)

    # -- building ---------------------------------------------------------------------------------------

    def build(self) -> None:
        """Lay the shared root, the hosts' folders, files, devices and addresses."""
        self.sandbox.script(self._root_script())
        passwd = self._outside("/root/etc/passwd")
        ids = _user_ids(passwd, self._outside("/root/etc/group"), (self.cast.user, "munge"))
        self._owner = ids[self.cast.user]
        owner = "{}:{}".format(*self._owner)
        shapes = list(dict.fromkeys(host.shape for host in self.cast.hosts))
        script = [self._munge_script("{}:{}".format(*ids["munge"]))]
        script += [self._device_script(at, shape) for at, shape in enumerate(shapes)]
        for at, shape in enumerate(shapes):
            if shape is not None and shape.hwloc_xml:
                self._write(f"/root{_HWLOC}/{at}.xml", shape.hwloc_xml)
        for host in self.cast.hosts:
            self._lay_host(host, shapes.index(host.shape))
        self._lay_client()
        script.append(self._folder_script(owner))
        for file in self._shared:
            self._write(f"/root{file.path}", file.text, int(file.mode, 8))
        self._write("/root/etc/hosts", "".join(self._hosts_lines()))
        self._write("/root/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n")
        self.sandbox.script("\n".join(script))
        batch = "".join(f"addr add {host.address} dev lo scope global\n" for host in self.cast.hosts)
        added = self.sandbox.run(["ip", "-force", "-batch", "-"], stdin=batch)
        if not added.ok and "exist" not in added.err:
            raise SlurmwrightError(f"the hosts' addresses could not be set: {added.last_line}")

    def _root_script(self) -> str:
        source, root = shlex.quote(str(self.source.folder)), shlex.quote(self.root)
        lines = [
            # A mount of its own, so that each host can make it the root of its mount namespace.
            f"S={source}; R={root}; mkdir -p $R && mount --bind $R $R && cd $R",
            "mkdir -p usr etc var/lib var/tmp tmp dev proc sys/fs/cgroup root run var/log var/spool",
            "chmod 1777 tmp var/tmp; ln -s ../run var/run",
            "mount --bind -o ro $S/usr usr",
            "for d in bin sbin lib lib32 lib64 libx32; do",
            '  if [ -L "$S/$d" ]; then cp -P "$S/$d" $d',
            '  elif [ -d "$S/$d" ]; then mkdir $d; mount --bind -o ro "$S/$d" $d; fi',
            "done",
            f'for f in {" ".join(_ETC)}; do [ ! -e "$S/etc/$f" ] || cp -a "$S/etc/$f" etc/; done',
            "mount -t proc proc proc",
            "echo local > etc/hostname",
        ]
        prefix = self.source.prefix
        if not f"{prefix}/".startswith("/usr/"):
            inside = shlex.quote(f"{self.root}{prefix}")
            lines.append(f"mkdir -p {inside}; mount --bind -o ro {shlex.quote(prefix)} {inside}")
        return "\n".join(lines)

    def _lay_client(self) -> None:
        """What srun reads. Its tasks answer to the address that its request came from, which on one machine
        is the node's own, so it must listen on every address."""
        name = self.cast.controllers[0]
        files = next((host.files for host in self.cast.hosts if host.name == name), ())
        for file in files:
            if file.path == self.cast.conf_path:
                self._write(f"/hosts/{name}/private{_CLIENT}", _for_clients(file))

    def _munge_script(self, owner: str) -> str:
        return f"""
cd {shlex.quote(self.root)}
mkdir -p etc/munge var/lib/munge {self._work}/munge/log {self._work}/munge/run
head -c 1024 /dev/urandom > etc/munge/munge.key
chmod 400 etc/munge/munge.key
chmod 755 {self._work}/munge/run
chown -R {owner} etc/munge var/lib/munge {self._work}/munge
"""

    def _device_script(self, number: int, shape: ExpectedNode | None) -> str:
        devices = list(_DEVICES)
        if shape is not None and (shape.gpus or shape.spare):
            minors = sorted({gpu.minor for gpu in shape.gpus} | set(shape.spare))
            devices += [(f"nvidia{minor}", 195, minor) for minor in minors]
            caps = sorted(cap for gpu in shape.gpus for cap in gpu.caps)
            devices += [(f"nvidia-caps/nvidia-cap{cap}", 510, cap) for cap in caps]
            devices += [("nvidiactl", 195, 255), ("nvidia-uvm", 511, 0)]
        folder = f"{self._work}/dev{number}"
        lines = [f"mkdir -p {folder}/shm {folder}/pts; chmod 1777 {folder}/shm"]
        lines += [f"mkdir -p {folder}/nvidia-caps"] if any("/" in name for name, _, _ in devices) else []
        lines += [f"mknod -m 666 {folder}/{name} c {major} {minor}" for name, major, minor in devices]
        return "\n".join(lines)

    def _lay_host(self, host: Host, shape: int) -> None:
        home = f"/hosts/{host.name}"
        for file in host.files:
            if file not in self._shared:
                kind = "private" if self._own(file.path) else "files"
                self._write(f"{home}/{kind}{file.path}", file.text, int(file.mode, 8))
        self._outside(f"{home}/files{posixpath.dirname(self.cast.conf_path)}").mkdir(
            parents=True, exist_ok=True
        )
        # slurmd makes it too, but only after it has complained.
        spool = self.cast.spool.replace("%h", host.name).replace("%n", host.node or host.name)
        if spool.startswith("/"):
            self._outside(f"{home}/private{spool}").mkdir(parents=True, exist_ok=True)
        self._lay_folders(host)
        self._write(f"{home}/enter", self._enter_script(host, shape))

    def _enter_script(self, host: Host, shape: int) -> str:
        """A shell script that becomes this host and runs its arguments there."""
        home, root = f"{self._work}/hosts/{host.name}", self.root
        conf_dir = posixpath.dirname(self.cast.conf_path)
        binds = [(f"{self._work}/dev{shape}", "/dev")]
        binds += [(f"{home}/private{folder}", folder) for folder in self._private_folders()]
        binds += [(f"{home}/files{conf_dir}", conf_dir)]
        binds += [(f"{self._work}/munge/run", "/run/munge")]
        if host.controller:
            binds += [(f"{self._work}/state", self.cast.state_dir)]
        binds += [(f"{home}/files{file.path}", file.path) for file in host.files if file.path in self._bound]
        lines = [f"hostname {shlex.quote(host.name)}"]
        lines += [f"mount --bind {shlex.quote(a)} {shlex.quote(root + b)}" for a, b in binds]
        if host.shape is not None and host.shape.hwloc_xml:
            lines.append(f"export HWLOC_XMLFILE={_HWLOC}/{shape}.xml")
        elif host.shape is not None:
            lines.append(f"export HWLOC_SYNTHETIC={shlex.quote(host.shape.layout.hwloc_synthetic())}")
        if self.has_conf(host) or host.name == self.cast.database:
            lines.append(f"export SLURM_CONF={shlex.quote(self.cast.conf_path)}")
        prefix = self.source.prefix
        path = BASE_ENV["PATH"] if prefix == "/usr" else f"{prefix}/sbin:{prefix}/bin:{BASE_ENV['PATH']}"
        # Moved onto /, not only entered: a job with a /tmp of its own joins a mount namespace, and the kernel
        # then takes the topmost mount of that namespace for its root.
        lines += [f"cd {shlex.quote(root)}", "mount --move . /"]
        lines += [f"export PATH={shlex.quote(path)}", 'exec chroot . "$@"']
        inner = shlex.quote("\n".join(lines))
        # From Linux 6.18 numbers of mount namespaces rise on each CPU by itself, and slurmd may hold only a
        # job's namespace that has a higher number than its own.
        first = min(os.sched_getaffinity(0))
        pin = f"taskset -pc {first} $$ >/dev/null\n" if self.cast.own_tmp and host.node else ""
        return f'{pin}exec unshare --mount --uts sh -euc {inner} host "$@"\n'

    def _private_folders(self) -> tuple[str, ...]:
        """The folders of each host's own, parents before children, nothing twice."""
        extra = (f for f in self.cast.folders if not f.startswith(tuple(f"{p}/" for p in _PRIVATE)))
        return _PRIVATE + tuple(f for f in sorted(set(extra)) if f not in _PRIVATE and f not in ("", "/"))

    def _own(self, path: str) -> bool:
        """Does the file lie in a folder that each host has for itself, where nothing else can be mounted?"""
        inside = path.startswith(tuple(f"{folder}/" for folder in self._private_folders()))
        return inside and posixpath.dirname(path) != posixpath.dirname(self.cast.conf_path)

    def _folder_script(self, owner: str) -> str:
        """Make the places that hosts mount their own folders and files on."""
        conf_dir = posixpath.dirname(self.cast.conf_path)
        mounts = " ".join(shlex.quote(f) for f in (*self._private_folders(), self.cast.state_dir, conf_dir))
        files = " ".join(shlex.quote(path) for path in sorted(self._bound))
        return f"""
cd {self._work}
mkdir -p state; chown {owner} state
for m in {mounts}; do mkdir -p "root$m"; done
for f in {files}; do mkdir -p "root$(dirname "$f")"; : > "root$f"; done
"""

    def _lay_folders(self, host: Host) -> None:
        """Make every folder that a daemon's settings name on this host, writable by Slurm's user.

        Made from here: a shell that starts a program for each takes longer than starting the daemons.
        """
        home = self._outside(f"/hosts/{host.name}/private")
        conf_dir = posixpath.dirname(self.cast.conf_path)
        # /run stays root's: munged refuses a socket below a folder that others may change.
        named = {folder for folder in (*self.cast.folders, self.cast.state_dir) if folder != "/run"}
        for folder in (*self._private_folders(), "/run/munge", conf_dir, *sorted(named)):
            path = home / folder.lstrip("/")
            path.mkdir(parents=True, exist_ok=True)
            if folder in named:
                os.chown(path, *self._owner)

    def _hosts_lines(self) -> Iterator[str]:
        yield "127.0.0.1 localhost\n"
        for host in self.cast.hosts:
            names = dict.fromkeys((host.name, host.node or host.name, *host.aliases))
            yield f"{host.address} {' '.join(names)}\n"

    # -- running ----------------------------------------------------------------------------------------

    def start_munge(self) -> None:
        """Start the one munged that all hosts share."""
        first = self.cast.hosts[0].name
        command = ["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged"]
        result = self._enter(first, [*command, "--num-threads=4", "--log-file=/run/munge/munged.log"])
        if not result.ok:
            raise SlurmwrightError(f"munged did not start: {result.last_line}")

    def start_controllers(self, *options: str) -> dict[str, Result]:
        """Start slurmctld on each controller, in order; host → how its start ended.

        A backup that starts before the primary listens finds no heartbeat, and each then waits for the other
        until a message times out.
        """
        results: dict[str, Result] = {}
        for name in self.cast.controllers:
            if results and all(result.ok for result in results.values()):
                self.wait_for_controller()
            argv = ["slurmctld", "-L", self.cast.controller_log, *options]
            results[name] = self._enter(name, argv, limit_s=90)
            self._said_at_start[name] = results[name].out + results[name].err
        return results

    def wait_for_controller(self, limit_s: float = 180) -> bool:
        """Does the first controller answer? slurmctld returns before it listens, and a busy machine is slow:
        it is waited for as long as it lives, within the limit."""
        end = time.monotonic() + limit_s
        while "is UP" not in self.ctl("scontrol", "ping").out.split("\n")[0]:
            if time.monotonic() > end or not self._controller_lives():
                return False
            time.sleep(0.1)
        return True

    def _controller_lives(self) -> bool:
        """Does any slurmctld run in here?"""
        processes = self.sandbox.path("/proc").glob("[0-9]*/comm")
        return any(_read(path).strip() == "slurmctld" for path in processes)

    def restart_controllers(self) -> None:
        """Stop every slurmctld and start it afresh, without the state it saved and the log it wrote."""
        self.ctl("scontrol", "shutdown", "slurmctld")
        end = time.monotonic() + 10
        while "is UP" in self.ctl("scontrol", "ping").out and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(0.5)
        for name in self.cast.controllers:
            self._controller_log(name).unlink(missing_ok=True)
        self.start_controllers("-c")
        self.wait_for_controller()

    def start_nodes(self, hosts: Sequence[Host], progress: Callable[[int], None]) -> None:
        """Start slurmd on these hosts, a few at a time; `start.code` and `start.out` of each are kept."""
        lines = []
        for host in hosts:
            home = f"{self._work}/hosts/{host.name}"
            command = shlex.join(["sh", f"{home}/enter", *self.slurmd(host)])
            lines.append(f"timeout 180 {command} >{home}/start.out 2>&1; echo $? >{home}/start.code")
        step = 50
        for at in range(0, len(lines), step):
            feed = "\0".join(lines[at : at + step])
            self.sandbox.run(
                ["xargs", "-0", "-P", "4", "-I", "{}", "sh", "-c", "{}"], stdin=feed, limit_s=1200
            )
            progress(min(at + step, len(lines)))

    def slurmd(self, host: Host) -> list[str]:
        """The command line of this host's slurmd: its own files, or the controllers' (configless)."""
        log = ["-L", self.cast.node_log]
        if self.has_conf(host):
            return ["slurmd", *log]
        servers = ",".join(f"{name}:{self.cast.port}" for name in self.cast.controllers)
        return ["slurmd", "--conf-server", servers, *log]

    def has_conf(self, host: Host) -> bool:
        """The bundle gives the host a slurm.conf of its own; others fetch it from slurmctld."""
        return any(file.path == self.cast.conf_path for file in host.files)

    def ctl(self, *argv: str, limit_s: float = 120) -> Result:
        """Run a Slurm command as root on the first controller."""
        return self._enter(self.cast.controllers[0], argv, limit_s=limit_s)

    def answer(self, *argv: str, limit_s: float = 180) -> str:
        """What a Slurm command that only reads prints on the first controller.

        A busy slurmctld lets a question time out, and nothing is known then: the question is put again,
        within the limit, as long as a slurmctld lives.
        """
        end = time.monotonic() + limit_s
        while not (done := self.ctl(*argv)).ok and time.monotonic() < end and self._controller_lives():
            time.sleep(0.5)
        return done.out

    def enter_command(self) -> str:
        """The line that opens a shell on the first controller."""
        enter = f"{self._work}/hosts/{self.cast.controllers[0]}/enter"
        return self.sandbox.enter_command(["sh", enter, "/bin/bash"])

    def on_node(self, node: str, argv: Sequence[str], limit_s: float = 120) -> Result:
        """Run a command on the host of this node, with its devices and CPU layout."""
        return self._enter(self._by_node[node].name, argv, limit_s=limit_s)

    def on_host(self, host: str, argv: Sequence[str], limit_s: float = 120) -> Result:
        """Run a command as root on any host."""
        return self._enter(host, argv, limit_s=limit_s)

    def fill_file(self, host: str, file: BundleFile, placeholder: str, secret: str) -> None:
        """Put a secret into one host's copy of a file, which then belongs to Slurm's user alone."""
        path = self._outside(f"/hosts/{host}/files{file.path}")
        path.write_text(file.text.replace(placeholder, secret), encoding="utf-8")
        path.chmod(0o600)
        os.chown(path, *self._owner)

    def place_file(self, host: str, path: str, text: str, mode: int) -> None:
        """Put a file of Slurm's own folder on one host, under its path there."""
        self._write(f"/hosts/{host}/files{path}", text, mode)

    def write_private(self, host: str, path: str, text: str) -> None:
        """Write a file of root's alone into a folder that only this host sees."""
        self._write(f"/hosts/{host}/private{path}", text, 0o600)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> Result:
        """Run a command as root where users submit: the first controller, with the settings of clients."""
        own = {"SLURM_CONF": _CLIENT, **(env or {})}
        words = ["env", *(f"{key}={value}" for key, value in own.items()), *argv]
        return self._enter(self.cast.controllers[0], words, stdin, limit_s)

    def _enter(self, host: str, argv: Sequence[str], stdin: str = "", limit_s: float = 120) -> Result:
        return self.sandbox.run(
            ["sh", f"{self._work}/hosts/{host}/enter", *argv], stdin=stdin, limit_s=limit_s
        )

    # -- reading ----------------------------------------------------------------------------------------

    def start_failures(self, nodes: Collection[str]) -> dict[str, str]:
        """Which of these nodes' slurmd gave up, and what they said.

        From 24.11 slurmd detaches first and reads gres.conf then, so its exit code alone does not tell. It
        waits 20 s for a device file before it gives up; here none will appear.
        """
        failed = {}
        for node in nodes:
            host = self._by_node[node]
            home = self._outside(f"/hosts/{host.name}")
            log = self.node_log(host)
            dead = "fatal: " in log or "Waiting for gres.conf file" in log
            if dead or _read(home / "start.code").strip() not in ("", "0"):
                failed[node] = log
        return failed

    def node_log(self, host: Host) -> str:
        """All that a node's slurmd said, before it opened its log and since."""
        home = self._outside(f"/hosts/{host.name}")
        return _read(home / "start.out") + _read(home / f"private{self.cast.node_log}")

    def controller_log(self, name: str) -> str:
        """All that a slurmctld said, before it opened its log and since."""
        return self._said_at_start.get(name, "") + _read(self._controller_log(name))

    def database_log(self) -> str:
        """All that slurmdbd wrote to its log."""
        name = self.cast.database
        return _read(self._outside(f"/hosts/{name}/private{self.cast.database_log}")) if name else ""

    def _controller_log(self, name: str) -> Path:
        return self._outside(f"/hosts/{name}/private{self.cast.controller_log}")

    def _outside(self, inside: str) -> Path:
        return self.sandbox.path(self._work + inside)

    def _write(self, inside: str, text: str, mode: int = 0o644) -> None:
        path = self._outside(inside)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # A link of the root is followed from here, so it would lead to this machine's own file.
            path.unlink(missing_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(mode)
        except OSError as error:
            where = inside.removeprefix("/root")
            raise SlurmwrightError(f"{where} cannot be laid for a rehearsal: {error.strerror}") from error


def _for_clients(file: BundleFile) -> str:
    """A slurm.conf by which srun listens on every address."""
    doc = parse(file.text, file.path)
    pair = doc.get("CommunicationParameters")
    kept = [word for word in (pair.value if pair else "").split(",") if word.lower() != "noinaddrany"]
    key = "CommunicationParameters"
    return (doc.set(key, ",".join(kept)) if kept else doc.unset(key)).text


def _elsewhere(cast: Cast, own: Callable[[str], bool]) -> tuple[frozenset[BundleFile], frozenset[str]]:
    """Files outside Slurm's own folder and those of each host: those of one text, which all hosts share, and
    the paths of others.

    Mounting each of them on each host would take longer than starting the daemons, which read none of them.
    """
    texts: dict[str, set[BundleFile]] = {}
    for file in {file for host in cast.hosts for file in host.files}:
        if posixpath.dirname(file.path) != posixpath.dirname(cast.conf_path) and not own(file.path):
            texts.setdefault(file.path, set()).add(file)
    shared = frozenset(file for files in texts.values() if len(files) == 1 for file in files)
    return shared, frozenset(path for path, files in texts.items() if len(files) > 1)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _user_ids(passwd: Path, group: Path, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """uid and gid of each name; a name the root lacks is added to it with an id nobody has."""
    rows = {row[0]: (int(row[2]), int(row[3])) for row in _rows(passwd)}
    groups = {row[0] for row in _rows(group)}
    free = max(uid for uid, _ in rows.values() if uid < 65000) + 1
    for name in names:
        if name in rows:
            continue
        rows[name] = (free, free)
        with passwd.open("a", encoding="utf-8") as stream:
            stream.write(f"{name}:x:{free}:{free}::/nonexistent:/usr/sbin/nologin\n")
        if name not in groups:
            with group.open("a", encoding="utf-8") as stream:
                stream.write(f"{name}:x:{free}:\n")
        free += 1
    return {name: rows[name] for name in names}


def _rows(path: Path) -> list[list[str]]:
    return [line.split(":") for line in path.read_text(encoding="utf-8").splitlines() if line.count(":") > 2]
