#!/usr/bin/python
"""A node to what its NVIDIA driver, devices and services are, and to what is wrong with them, in one call.

Reads only. nvidia-smi runs first: after a boot it is what makes the device files.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: nvidia_state
short_description: Reads NVIDIA driver, devices, persistence and fabric manager of a node
description: Changes nothing. Returns every fault, so that all can be mended at once.
options:
  count: {description: GPUs that the driver must show, type: int, required: true}
  minors: {description: N of each /dev/nvidiaN, type: list, elements: int, required: true}
  caps: {description: N of each /dev/nvidia-caps/nvidia-capN, type: list, elements: int, default: []}
  min_driver: {description: The oldest driver that will do, type: str, default: ''}
  persistence: {description: Whether the driver must stay loaded, type: bool, default: true}
  fabric_manager: {description: Whether fabric manager must run, type: bool, default: false}
author: The slurmwright authors
"""

EXAMPLES = r"""
- name: Read the driver of a node with eight GPUs
  nvidia_state: {count: 8, minors: [0, 1, 2, 3, 4, 5, 6, 7], fabric_manager: true}
"""

RETURN = r"""
driver: {description: Release of the kernel driver; empty where none is loaded, returned: always, type: str}
faults: {description: What is wrong; empty where nothing is, returned: always, type: list}
"""

_VERSION = "/proc/driver/nvidia/version"
_GPUS = "/proc/driver/nvidia/gpus"
_QUERY = ["nvidia-smi", "--query-gpu=index,persistence_mode", "--format=csv,noheader"]
_NUMBER = re.compile(r"\b(\d+\.\d+(?:\.\d+)?)\b")


def driver_release(text: str) -> str:
    """`NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat …`, or the open module's
    `… UNIX Open Kernel Module for x86_64  550.54.15  Release Build …`."""
    match = re.search(r"Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)\s", text)
    return match.group(1) if match else ""


def older(release: str, wanted: str) -> bool:
    """535.54 is older than 535.104: numbers, not text."""
    return [int(part) for part in release.split(".")] < [int(part) for part in wanted.split(".")]


def driver_faults(version: str, found: int, wanted: dict) -> list:
    """The kernel driver and the GPUs that it has."""
    release = driver_release(version)
    if not release:
        return [f"the kernel driver is not loaded (no {_VERSION}); install and load it"]
    faults = []
    if wanted["min_driver"] and older(release, wanted["min_driver"]):
        faults.append(f"driver {release} is older than {wanted['min_driver']}; update it")
    if found != wanted["count"]:
        faults.append(f"the kernel driver has {found} GPUs, the node has {wanted['count']}")
    return faults


def smi_faults(code: int, output: str, wanted: dict) -> list:
    """What nvidia-smi answers; it fails where its own release is not the kernel driver's."""
    if code:
        return [f"nvidia-smi says: {output.strip() or f'exit code {code}'}"]
    shown = len(output.splitlines())
    return (
        [] if shown == wanted["count"] else [f"nvidia-smi shows {shown} GPUs, the node has {wanted['count']}"]
    )


def persistence_faults(service: str, output: str) -> list:
    """The daemon, or each GPU set to it by hand."""
    modes = [line.rsplit(",", 1)[-1].strip() for line in output.splitlines()]
    if service == "active" or (modes and all(mode == "Enabled" for mode in modes)):
        return []
    return [f"nvidia-persistenced is {service} and persistence mode is off; enable the service"]


def fabric_faults(service: str, said: str, release: str) -> list:
    """Fabric manager runs, and is of the same release as the driver (it refuses to work with another)."""
    if service != "active":
        return [f"nvidia-fabricmanager is {service}; CUDA does not start on NVSwitch without it"]
    own = _NUMBER.search(said)
    if own and release and own.group(1) != release:
        return [f"fabric manager {own.group(1)} is not of driver {release}; install the same release"]
    return []


def device_faults(paths: list) -> list:
    """Device files that are not there, or are none."""
    missing, other = [], []
    for path in paths:
        try:
            if not stat.S_ISCHR(os.stat(path).st_mode):
                other.append(path)
        except OSError:
            missing.append(path)
    faults = [f"no {', '.join(missing)}"] if missing else []
    return faults + ([f"no device file: {', '.join(other)}"] if other else [])


def devices(wanted: dict) -> list:
    """All device files that jobs need, MIG's capabilities too."""
    return [
        "/dev/nvidiactl",
        "/dev/nvidia-uvm",
        "/dev/nvidia-uvm-tools",
        *(f"/dev/nvidia{minor}" for minor in wanted["minors"]),
        *(f"/dev/nvidia-caps/nvidia-cap{minor}" for minor in wanted["caps"]),
    ]


def look(wanted: dict) -> tuple:
    """(release of the driver, all faults) of this host."""
    code, output = _run(_QUERY)
    version = _text(_VERSION)
    found = len(os.listdir(_GPUS)) if os.path.isdir(_GPUS) else 0
    release = driver_release(version)
    faults = driver_faults(version, found, wanted) + smi_faults(code, output, wanted)
    faults += device_faults(devices(wanted))
    if wanted["persistence"] and release:
        faults += persistence_faults(_service("nvidia-persistenced"), "" if code else output)
    if wanted["fabric_manager"]:
        said = _run(["nv-fabricmanager", "--version"])
        faults += fabric_faults(_service("nvidia-fabricmanager"), "" if said[0] else said[1], release)
    return release, faults


def _service(name: str) -> str:
    return _run(["systemctl", "is-active", name])[1].strip() or "not there"


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def _run(argv: list) -> tuple:
    """(exit code, output or else error output)."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    except OSError as error:
        return 127, f"{argv[0]}: {error.strerror}"
    except subprocess.TimeoutExpired:
        return 124, f"{argv[0]} does not answer within 120 s"
    return done.returncode, done.stdout or done.stderr


def main() -> None:
    """Called by Ansible on the host."""
    module = AnsibleModule(
        argument_spec={
            "count": {"type": "int", "required": True},
            "minors": {"type": "list", "elements": "int", "required": True},
            "caps": {"type": "list", "elements": "int", "default": []},
            "min_driver": {"type": "str", "default": ""},
            "persistence": {"type": "bool", "default": True},
            "fabric_manager": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    if module.params["min_driver"] and not re.match(r"\d+(\.\d+)*\Z", module.params["min_driver"]):
        module.fail_json(
            msg=f"min_driver is '{module.params['min_driver']}'; expected numbers such as 535.104"
        )
    driver, faults = look(module.params)
    module.exit_json(changed=False, driver=driver, faults=faults)


if __name__ == "__main__":
    main()
