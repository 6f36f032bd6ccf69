"""Clusters drawn from the model's own rules, rendered, imported and rendered again, mean the same.

The draws are those of tests/rehearse/test_drawn_clusters.py. What a rendered file cannot tell back is listed
with its line; how often that may be is counted, so that import cannot give up in silence.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.core.finding import Severity
from slurmwright.core.release import SERIES, Release
from slurmwright.importing.command import import_folder
from slurmwright.model.facts import check_facts, load_facts
from slurmwright.model.load import load_cluster
from slurmwright.render import render

DRAWS = 40


def _draws() -> ModuleType:
    """The module that draws; tests are no package."""
    path = Path(__file__).parents[1] / "rehearse/test_drawn_clusters.py"
    spec = importlib.util.spec_from_file_location("drawn_clusters", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


DRAWN = _draws()


def _rendered(folder: Path, drawn: Any) -> Path | None:
    """The folder of slurm.conf of a draw; None where the draw itself is refused."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "facts").mkdir(parents=True)
    for name, data in {"cluster": drawn.cluster, **{f"facts/{h}": f for h, f in drawn.facts.items()}}.items():
        text = yaml.dump(data, Dumper=DRAWN._Plain, sort_keys=False)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    try:
        cluster = load_cluster(folder)
        facts = load_facts(folder)
        check_facts(cluster, facts, folder)
        bundle = render(cluster, facts)
    except InputError:
        return None
    bundle.write(folder / "out")
    return next((folder / "out").rglob("slurm.conf")).parent


def test_drawn_clusters_come_back_with_the_same_meaning(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()

    @settings(
        max_examples=DRAWS,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(SERIES).flatmap(lambda series: DRAWN.inventories(series, amd=False)))
    def draw(drawn: Any) -> None:
        source = _rendered(tmp_path / "drawn", drawn)
        if source is None:
            return
        found = import_folder(source, Release.parse(str(drawn.cluster["slurm"]["release"])))
        differing = [finding for finding in found.findings if finding.severity is not Severity.INFO]
        counts["listed" if differing else "equal"] += 1
        for finding in differing:
            counts[finding.message] += 1
            assert finding.line or finding.name == "added"

    draw()
    print(counts.most_common(20))
    assert counts["equal"] >= 9 * counts["listed"]
    assert counts["equal"] > DRAWS / 2
