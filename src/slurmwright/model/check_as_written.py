"""Finds what `as_written` says that could not stand in Slurm's files or would not be seen there."""

from __future__ import annotations

from slurmwright.catalogue.options import check_setting
from slurmwright.core.release import Release
from slurmwright.model import names
from slurmwright.model.check_hosts import Groups
from slurmwright.model.faults import Faults
from slurmwright.model.yaml_source import Where


def check_as_written(faults: Faults, groups: Groups, release: Release | None) -> None:
    """Each text can be written, and each line of gres.conf has keys of the release."""
    for at, group in groups:
        where: Where = ("nodes", at, "as_written")
        kept = group.as_written
        if kept.gres and (wrong := names.bad_value(kept.gres) or _blank(kept.gres)):
            faults.add((*where, "gres"), wrong)
        if kept.gpu_type and (wrong := names.bad_word("GPU type", kept.gpu_type)):
            faults.add((*where, "gpu_type"), wrong)
        if kept.gres_conf and kept.gres is None:
            faults.add((*where, "gres_conf"), "lines of gres.conf need the gres that they describe")
        if kept.gres_conf and (group.autodetect or group.mig or group.shards_per_gpu or group.mps_per_gpu):
            faults.add(
                (*where, "gres_conf"),
                "these lines take the place of autodetect, mig, shards_per_gpu and mps_per_gpu; keep one way",
            )
        for number, line in enumerate(kept.gres_conf):
            _check_line(faults, (*where, "gres_conf", number), line, release)


def _check_line(faults: Faults, where: Where, line: dict[str, str], release: Release | None) -> None:
    if not line:
        faults.add(where, "the line is empty; expected for example {Name: gpu, File: /dev/nvidia0}")
    for key, value in line.items():
        wrong = names.bad_key(key) or names.bad_value(value)
        if key.lower() == "nodename":
            wrong = "the hosts of the group are written before this line; leave NodeName out"
        if wrong is None and release is not None:
            wrong = check_setting(release, "gres.conf", "line", key, value)
        if wrong:
            faults.add((*where, key), wrong, key=True)


def _blank(value: str) -> str | None:
    return "holds a blank; write each entry behind a comma" if " " in value else None
