"""Containers that do not start: pyxis, enroot, its hooks and paths, user namespaces, images."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.core.finding import Severity
from slurmwright.doctor.host import Host
from slurmwright.doctor.told import Told, each
from slurmwright.rules.listings_seen import entries

_LEAST_NAMESPACES = 1024


def versions(host: Host) -> Iterator[Told]:
    """A SPANK plugin of another release than slurmd."""
    hits = host.all("plugin-version")
    if hits:
        built, file = each(hits, "version")[0], each(hits, "file")[0]
        runs = f", Slurm is {host.release}" if host.release else ""
        text = (
            f"{file.rpartition('/')[2]} was built for {built}{runs}: rebuild it against the release that runs"
        )
        required = re.search(
            r"^\s*required\s.*", host.text("plugstack.conf", "etc/slurm/plugstack.conf"), re.M
        )
        yield Told("DR050", text, hits, (required[0],) if required else ())


def paths(host: Host) -> Iterator[Told]:
    """A folder in which users may not make their own."""
    for hit in host.all("container-path-refused"):
        path = hit.part("file")
        known = entries(host.evidence)
        above = [one for one in _above(path) if one in known and known[one].mode is not None]
        shown = known[above[0]] if above else None
        where = (
            f"{shown.path} is {shown.owner}:{shown.group} 0{shown.mode:o}" if shown else "a folder above it"
        )
        text = f"users may not make {path}: {where}; it must be 1777, or each user's own made by the prolog"
        also = ("epilog-failed", "prolog-failed")
        yield Told("DR051", text, (hit,), also=also)
        return


def runtime(host: Host) -> Iterator[Told]:
    """The folder in which pyxis keeps an image while it starts."""
    for hit in host.all("container-runtime-refused"):
        text = f"pyxis could not make {hit.part('file')} below its runtime_path: {hit.part('why')}"
        fix = "make the folder of runtime_path= (plugstack.conf) at every boot (tmpfiles.d), owner root, 0755"
        yield Told("DR051", text, (hit,), fix=fix)
        return


def _above(path: str) -> list[str]:
    parts = path.strip("/").split("/")
    return ["/" + "/".join(parts[:end]) for end in range(len(parts) - 1, 0, -1)]


def tools(host: Host) -> Iterator[Told]:
    """Programs that enroot itself calls, and its place for them."""
    if hits := host.all("container-tool-missing"):
        names = dict.fromkeys(name for part in ("tool", "made", "self") for name in each(hits, part))
        yield Told("DR068", f"{', '.join(names)} is missing here, and enroot starts nothing without it", hits)
    if hits := host.all("container-disk-full"):
        why = "a quota" if "quota" in each(hits, "why")[0] else "the disk"
        yield Told("DR069", f"an image found no room: {why} below enroot's paths is full", hits)


def hooks(host: Host) -> Iterator[Told]:
    """Programs that enroot's hooks call and do not find."""
    if hits := host.all("container-cli-missing"):
        text = "nvidia-container-cli is missing, which 98-nvidia.sh calls: install libnvidia-container-tools"
        yield Told("DR053", text, hits)
    if hits := host.all("scontrol-missing"):
        there = host.text("which_scontrol.txt").strip().split("\n")[0]
        text = "a hook of enroot calls scontrol, which is not in the PATH that slurmstepd gives it"
        fix = f"ln -s {there} /usr/local/bin/scontrol" if re.fullmatch(r"/[\w./-]{1,100}", there) else ""
        yield Told("DR057", text, hits, fix=fix and f"{fix}, or set PATH in slurmd's unit")
    if hits := host.all("persistenced-socket"):
        text = (
            "nvidia-container-cli may not mount the persistence daemon's socket here: call "
            "it with --no-persistenced"
        )
        yield Told("DR008", text, hits)
    if hits := host.all("mellanox-unbound"):
        listed = host.text("ls_pci.txt")
        verbs = set(re.findall(r"^([\w:.]+)/infiniband_verbs/", listed, re.MULTILINE))
        odd = sorted(verbs - set(re.findall(r"^([\w:.]+)/infiniband/", listed, re.MULTILINE)))
        who = f"{', '.join(odd)} has verbs and no infiniband device, and " if odd else ""
        text = f"{who}99-mellanox.sh stops at it with MELLANOX_VISIBLE_DEVICES=all; name the adapters instead"
        yield Told("DR058", text, hits)


def namespaces(host: Host) -> Iterator[Told]:
    """User namespaces that the kernel, or AppArmor, does not give to users."""
    hits = host.all("userns-refused")
    text = host.text("sysctl.txt")
    values = dict(re.findall(r"^([\w.]+) ?= ?(\d{1,12})$", text, re.MULTILINE))
    most = int(values.get("user.max_user_namespaces", str(_LEAST_NAMESPACES)))
    if values.get("kernel.apparmor_restrict_unprivileged_userns") == "1" and hits:
        said = "kernel.apparmor_restrict_unprivileged_userns=1 and no AppArmor profile lets enroot make one"
        yield Told("DR052", f"users may not make user namespaces: {said}", hits)
    elif values.get("kernel.unprivileged_userns_clone") == "0" and hits:
        yield Told("DR052", "users may not make user namespaces: kernel.unprivileged_userns_clone=0", hits)
    elif hits and most < _LEAST_NAMESPACES:
        said = f"user.max_user_namespaces={most} is used up by a few tasks"
        yield Told("DR054", f"{said}; `No space left on device` means that, not a disk", hits)
    elif hits:
        yield Told(
            "DR052", "users may not make user namespaces; look at sysctl user.max_user_namespaces", hits
        )


def apparmor(host: Host) -> Iterator[Told]:
    """A profile for a newer AppArmor."""
    if hits := host.all("apparmor-abi"):
        system = host.text("lsb_release.txt").strip()[:40]
        text = (
            f"enroot's AppArmor profile is for abi {hits[0].part('abi')}, which this AppArmor does not know"
        )
        text += f" (Ubuntu {system})" if re.fullmatch(r"\d\d\.\d\d", system) else ""
        yield Told("DR055", f"{text}; nothing is restricted here, so it is not needed", hits)


def everywhere(host: Host) -> Iterator[Told]:
    """pyxis on some hosts only, or installed after slurmd started."""
    hits = host.all("container-option-unknown")
    rows = re.findall(r"^(\S+)\s+plugstack\.conf (yes|no)\s+spank_pyxis\.so (yes|no)(.*)$", _rows(host), re.M)
    without = [name for name, conf, plugin, _ in rows if "no" in (conf, plugin)]
    early = [name for name, _, _, rest in rows if "before_install" in rest]
    if hits and not rows:
        yield Told("DR056", "slurmd does not know --container-image: install pyxis, restart slurmd", hits)
    elif without or early:
        parts = [f"{', '.join(without)} has no pyxis"] if without else []
        parts += (
            [f"slurmd of {', '.join(early)} started before it was installed: restart it"] if early else []
        )
        yield Told("DR056", "; ".join(parts) + "; slurmd reads plugstack.conf at its start", hits)


def _rows(host: Host) -> str:
    return host.text("hosts.txt")


def images(host: Host) -> Iterator[Told]:
    """Names of images, and images that start nothing."""
    if hits := host.all("registry-refused"):
        name = hits[0].part("host")
        text = f"enroot asked Docker Hub for {name}: a registry is written with #, as {name}#…"
        image = re.search(rf"{re.escape(name)}/([\w./:-]{{1,200}})", host.text("job.sh"))
        fix = f"--container-image={name}#{image[1]}" if image else f"--container-image={name}#IMAGE"
        yield Told("DR059", f"{text} ({fix})", hits, fix=fix)
    if hits := host.all("registry-login-refused"):
        name, code = hits[0].part("host"), hits[0].part("code")
        yield Told("DR074", f"{name} refused this user's image ({code}): no credentials, or wrong ones", hits)
    if hits := host.all("entrypoint"):
        text = "the image has no shell or an unusual entrypoint: try --no-container-entrypoint"
        yield Told("DR065", text, hits, severity=Severity.INFO)


LOOKS = (versions, paths, runtime, tools, hooks, namespaces, apparmor, everywhere, images)
