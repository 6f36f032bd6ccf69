"""The whole bundle: in every release only what it knows, the same bytes each time, every key explained."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from slurmwright.catalogue.explain import explanations
from slurmwright.catalogue.option_tables import conf_file
from slurmwright.catalogue.options import check_setting
from slurmwright.conf import parse
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import InputError
from slurmwright.core.finding import Severity
from slurmwright.core.release import SERIES, Release
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.render import render, render_notes

Make = Callable[..., Cluster]
Seen = Callable[..., HostFacts]
EXAMPLES = Path(__file__).parents[2] / "inventories"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/cluster.yaml"))
#: Examples that cannot exist in a release, with a word of the reason that the tool must give.
IMPOSSIBLE = {
    ("gb200-nvl72", "22.05"): "block",
    ("gb200-nvl72", "23.02"): "block",
    ("gb200-nvl72", "23.11"): "imex",
}
LINES = {"NodeName", "PartitionName", "SwitchName", "BlockName"}


def example(name: str, release: str) -> Cluster:
    text = (EXAMPLES / name / "cluster.yaml").read_text(encoding="utf-8")
    changed, times = re.subn(r'release: "[\d.]+"', f'release: "{release}"', text)
    assert times == 1
    return cluster_from(parse_yaml(changed, "cluster.yaml"))


def confs(bundle: Bundle) -> Iterator[tuple[str, BundleFile]]:
    """Slurm's own files of a bundle, those of which the catalogue knows the keys; plugstack.conf has none."""
    for file in bundle.files:
        name = file.path.rpartition("/")[2]
        known = conf_file(name)
        if name.endswith(".conf") and known is not None and known.options:
            yield name, file


def pairs(name: str, text: str) -> Iterator[tuple[str, str, str]]:
    """(section, key, value) of everything in a file, as Slurm's grammar reads it."""
    for statement in parse(text, name).statements:
        assert not statement.rest
        first = statement.pairs[0].key
        section = "line" if name == "gres.conf" else first if first in LINES else "global"
        for pair in statement.pairs:
            yield section, pair.key, pair.value


@pytest.mark.parametrize("release", SERIES)
@pytest.mark.parametrize("name", NAMES)
def test_a_release_reads_nothing_that_it_does_not_know(name: str, release: str) -> None:
    if (name, release) in IMPOSSIBLE:
        with pytest.raises(InputError, match=IMPOSSIBLE[name, release]):
            example(name, release)
        return
    wanted = Release.parse(release)
    found = dict(confs(render(example(name, release), {})))
    assert {"slurm.conf", "gres.conf", "cgroup.conf"} <= found.keys()
    for file, row in found.items():
        for section, key, value in pairs(file, row.text):
            assert check_setting(wanted, file, section, key, value) is None


@pytest.mark.parametrize("name", NAMES)
def test_every_key_that_is_written_is_explained(name: str) -> None:
    known = {(entry.file, entry.section, entry.key) for entry in explanations()}
    for release in ("24.11", "25.11", "26.05"):
        for file, row in confs(render(example(name, release), {})):
            written = {(file, section, key) for section, key, _ in pairs(file, row.text)}
            assert written - known == set()


def test_the_order_of_facts_does_not_matter(make: Make, seen: Seen) -> None:
    facts = {
        host: seen(host, gpus=[(minor ^ swap, minor // 2) for minor in range(4)], memory=64000 + swap)
        for swap, host in enumerate(("n1", "n2", "n3", "n4"))
    }
    backwards = dict(reversed(facts.items()))
    assert render(make(), facts) == render(make(), backwards)


def test_nothing_of_the_machine_that_renders_is_in_the_files(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = render(make(), {})
    for name, value in {
        "HOSTNAME": "elsewhere",
        "USER": "other",
        "TZ": "Asia/Tokyo",
        "LANG": "ja_JP",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("time.time", lambda: 0.0)
    monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
    assert render(make(), {}) == before


@pytest.mark.parametrize(
    ("release", "hosts"),
    [("22.05", "ctl[1-2],login[1-2]"), ("23.02", "ctl[1-2],login[1-2]"), ("23.11", "ctl[1-2]")],
)
def test_login_hosts_hold_files_until_they_can_fetch_them(make: Make, release: str, hosts: str) -> None:
    control = "{controllers: [ctl1, ctl2], state_dir: /shared/s, login: 'login[1-2]'}"
    bundle = render(make(control=control, release=release), {})
    for name in ("slurm.conf", "gres.conf", "cgroup.conf"):
        file = bundle.find(f"/etc/slurm/{name}")
        assert file is not None
        assert (file.hosts, file.owner, file.group, file.mode) == (hosts, "root", "root", "0644")
        assert file.source == f"etc/slurm/{name}"


@pytest.mark.parametrize(
    ("value", "everywhere"),
    [
        ("{idle_on_node_suspend: true}", False),
        ("{enable_configless: false}", True),
        ("idle_on_node_suspend", True),
        ("null", True),
    ],
)
def test_every_host_holds_files_where_an_override_takes_configless_away(
    make: Make, value: str, everywhere: bool
) -> None:
    control = "{controllers: [ctl1], login: login1}"
    overrides = f"overrides: {{slurm.conf: {{SlurmctldParameters: {value}}}}}"
    bundle = render(make(control=control, more=overrides), {})
    file = bundle.find("/etc/slurm/gres.conf")
    assert file is not None
    assert file.hosts == ("ctl1,login1,n[1-4]" if everywhere else "ctl1")
    assert (bundle.find("/etc/default/slurmd") is None) == everywhere


def test_files_lie_in_the_folder_that_cluster_yaml_names() -> None:
    text = (EXAMPLES / "lab-1node" / "cluster.yaml").read_text(encoding="utf-8")
    moved = text.replace('{release: "24.11"}', '{release: "24.11", config_dir: /opt/slurm/etc}')
    bundle = render(cluster_from(parse_yaml(moved, "cluster.yaml")), {})
    assert bundle.find("/opt/slurm/etc/slurm.conf") is not None
    assert bundle.find("/etc/slurm/slurm.conf") is None


def test_what_is_assumed_is_told_with_the_way_to_make_it_sure(make: Make) -> None:
    notes = render_notes(make("{hosts: 'n[1-2]', type: dgx-a100-80gb}"), {})
    assert {(note.name, note.severity) for note in notes} == {
        ("memory-assumed", Severity.INFO),
        ("minors-assumed", Severity.INFO),
    }
    assert all(note.message.startswith("n[1-2]: ") and note.fix for note in notes)


def test_a_cluster_without_a_default_partition_is_told_what_follows(make: Make) -> None:
    (note,) = (
        note
        for note in render_notes(make(partitions="{name: p, nodes: all}"), {})
        if note.name == "no-default-partition"
    )
    assert "a job that names none is refused" in note.message


def test_what_facts_say_is_not_told_as_assumed(make: Make, seen: Seen) -> None:
    facts = {"n1": seen("n1", gpus=[(0, 0), (1, 0), (2, 1), (3, 1)], memory=64000)}
    assert render_notes(make("{hosts: n1, type: small}"), facts) == ()


def test_all_that_is_missing_comes_as_one_error(make: Make) -> None:
    with pytest.raises(InputError) as error:
        render(make("{hosts: a1, type: mi300x-8gpu}\n{hosts: b1, type: gcp-a3-highgpu-8g}"), {})
    lines = str(error.value).splitlines()
    assert any("AMD GPUs are listed but not rendered" in line for line in lines)
    assert any(line.startswith("node type 'gcp-a3-highgpu-8g'") for line in lines)
