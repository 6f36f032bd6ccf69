"""Turns a few answers into the text of a first cluster.yaml, with comments, that renders at once."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from slurmwright.core.errors import InputError, Problem
from slurmwright.model.load import FILE, cluster_from
from slurmwright.model.yaml_scalars import read_plain
from slurmwright.model.yaml_source import parse_yaml

#: Comments begin in this column.
_COLUMN = 40
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[0-9,-]+\])?[A-Za-z0-9._-]*\Z")
_KEY = re.compile(r"[ -]*(\w+):")
#: Which answer a key of the draft comes from.
_ANSWERS = {
    "name": "--name",
    "release": "--release",
    "controllers": "--controller",
    "hosts": "--hosts",
    "type": "--type",
    "address": "--address",
}


@dataclass(frozen=True)
class Answers:
    """What `slurmwright init` asks for."""

    name: str
    node_type: str
    hosts: str
    release: str
    controllers: Sequence[str] = ("ctl1",)
    address: str | None = None


def draft(answers: Answers) -> str:
    """The text of cluster.yaml; raises InputError, naming the options, when they do not make a cluster."""
    text = "".join(_lined(line) for line in _lines(answers))
    try:
        cluster_from(parse_yaml(text, FILE))
    except InputError as error:
        raise InputError(_of_answer(problem, text) for problem in error.problems) from None
    return text


def _of_answer(problem: Problem, text: str) -> Problem:
    """The draft is not on disk, so its line numbers would help nobody: name the answer instead."""
    line = text.splitlines()[problem.line - 1] if problem.line else ""
    key = _KEY.match(line)
    return Problem(_ANSWERS.get(key[1], "init") if key else "init", 0, 0, problem.message)


def _scalar(text: str) -> str:
    """A value as YAML takes it: in quotes wherever it could be read as anything but this very text."""
    plain = _PLAIN.match(text) is not None and read_plain(text) == (text, None)
    return text if plain else json.dumps(text)


def _lined(line: str | tuple[str, str]) -> str:
    if isinstance(line, str):
        return line + "\n"
    text, comment = line
    return f"{text:<{_COLUMN - 2}}  # {comment}\n"


def _lines(answers: Answers) -> list[str | tuple[str, str]]:
    several = len(answers.controllers) > 1
    controllers = ", ".join(map(_scalar, answers.controllers))
    return [
        "# What this cluster is made of; everything in Slurm's files follows from here.",
        "#   slurmwright render -i . -o ../build    writes them",
        "#   slurmwright rehearse -i .              runs them in a real Slurm on this machine",
        "#   slurmwright types                      lists the node types",
        "#   slurmwright schema                     prints a JSON Schema for your editor",
        "",
        (f"name: {_scalar(answers.name)}", "a-z, 0-9, _ and -; its name in the accounting database"),
        "",
        "slurm:",
        (f"  release: {json.dumps(answers.release)}", "decides which options may be written at all"),
        ("  nvml: false", "true where your Slurm was built with NVML"),
        "",
        "control:",
        (f"  controllers: [{controllers}]", "hosts of slurmctld, the primary first"),
        ("  state_dir: /shared/slurm/state", "on storage that every controller sees")
        if several
        else ("  # state_dir: /var/spool/slurmctld", "on shared storage once there are two controllers"),
        ("  # database: db1", "host of slurmdbd; turns accounting on"),
        ("  # login: [login1]", "hosts from which users submit"),
        "",
        "nodes:",
        f"  - hosts: {_scalar(answers.hosts)}",
        f"    type: {_scalar(answers.node_type)}",
        f"    address: {_scalar(answers.address)}"
        if answers.address
        else ("    # address: 10.20.1.[1-64]", "one per host, where the names are not in DNS"),
        ("    # racks: {size: 4}", "hosts in one rack"),
        ("    # features: [air-cooled]", "words for --constraint"),
        "",
        "partitions:",
        "  - name: gpu",
        ("    nodes: all", "or {type: ...}, {feature: ...}, {hosts: ...}"),
        "    default: true",
        "    max_time: 7-00:00:00",
        ("    default_time: 1-00:00:00", "of jobs that ask for no time"),
        "",
        "# Any other option of the release, checked against it:",
        "# overrides:",
        "#   slurm.conf:",
        "#     SchedulerParameters: {bf_window: 10080}",
    ]
