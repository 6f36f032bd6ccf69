"""What `explain` says is written is what render writes, in all examples and releases."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
import yaml

from slurmwright.catalogue.explain import Explanation, explanations
from slurmwright.conf import parse
from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES, Release
from slurmwright.model.load import load_cluster
from slurmwright.render import render

EXAMPLES = sorted(path.parent for path in (Path(__file__).parents[2] / "inventories").glob("*/cluster.yaml"))
LINES = ("NodeName", "PartitionName", "SwitchName", "BlockName")
#: (file, section, key) → example → every value that it has there.
Written = dict[tuple[str, str, str], dict[str, set[str]]]


@pytest.fixture(scope="module")
def written() -> Written:
    found: Written = defaultdict(lambda: defaultdict(set))
    for folder in EXAMPLES:
        for series in SERIES:
            try:
                bundle = render(load_cluster(folder, Release(series)), {})
            except InputError:  # a release that lacks what the example needs; test_bundle.py names these
                continue
            for file in bundle.files:
                name = file.path.rpartition("/")[2]
                if name.endswith(".conf"):
                    for statement in parse(file.text, name).statements:
                        first = statement.pairs[0].key if statement.pairs else ""
                        section = "line" if name == "gres.conf" else first if first in LINES else "global"
                        for pair in statement.pairs:
                            found[name, section, pair.key][folder.name].add(pair.value)
    return found


@pytest.fixture(scope="module")
def asked_for() -> set[str]:
    """Keys that some example sets itself."""
    keys: set[str] = set()
    for folder in EXAMPLES:
        raw = yaml.safe_load((folder / "cluster.yaml").read_text(encoding="utf-8"))
        for part in (*raw["nodes"], *raw["partitions"]):
            keys.update(part.get("options", ()))
        for settings in raw.get("overrides", {}).values():
            keys.update(settings)
    return keys


def _of_conf_files(entry: Explanation) -> bool:
    return entry.file in ("slurm.conf", "gres.conf", "cgroup.conf")


ENTRIES = [entry for entry in explanations() if _of_conf_files(entry)]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_key_that_is_said_to_be_left_out_is_left_out_and_the_others_are_written(
    entry: Explanation, written: Written, asked_for: set[str]
) -> None:
    seen = (entry.file, entry.section, entry.key) in written
    if entry.key in asked_for:
        return
    if entry.value.startswith("not written"):
        assert not seen
    elif not seen:
        # Examples do not show every choice of cluster.yaml; the text must then name the choice.
        assert "where" in entry.value or "otherwise not written" in entry.value


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_value_that_never_differs_stands_in_the_explanation(
    entry: Explanation, written: Written, asked_for: set[str]
) -> None:
    examples = written.get((entry.file, entry.section, entry.key), {})
    values = set[str]().union(*examples.values())
    if len(examples) > 2 and len(values) == 1 and entry.key not in asked_for:
        assert values.pop().removeprefix("/etc/slurm/").lower() in entry.value.lower()
