"""Which key, value and word may be written for which release, and the sentence when it may not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from slurmwright.catalogue import options
from slurmwright.catalogue.options import check_setting, check_value, conf_file, keys, lookup, token
from slurmwright.catalogue.words import vocabularies, vocabulary
from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES, Release


def check(release: str, file: str, section: str, key: str, value: str) -> str | None:
    return check_setting(Release.parse(release), file, section, key, value)


def test_section_and_key_are_found_in_any_letter_case() -> None:
    found = lookup("slurm.conf", "GLOBAL", "taskplugin")
    assert found is not None
    assert found.key == "TaskPlugin"


def test_a_file_without_table_has_no_options() -> None:
    assert lookup("../gpu_models", "global", "a100-40") is None
    assert keys("nope.conf", "global") == ()


def test_the_key_that_begins_a_line_is_a_key_of_its_section() -> None:
    assert {"NodeName", "CPUs"} <= set(keys("slurm.conf", "NodeName"))
    assert {"NodeName", "Cores"} <= set(keys("gres.conf", "line"))
    assert "BlockName" in keys("topology.conf", "BlockName")


def test_a_type_that_changed_is_that_of_the_release() -> None:
    prolog = lookup("slurm.conf", "global", "Prolog")
    assert prolog is not None
    assert [prolog.type_in(Release.parse(text)) for text in ("23.11", "24.05")] == ["string", "lines"]


def test_the_default_is_that_of_the_release() -> None:
    width = lookup("slurm.conf", "global", "TreeWidth")
    assert width is not None
    assert [width.default_in(Release.parse(text)) for text in ("23.02", "23.11")] == ["50", "16"]


@pytest.mark.parametrize(
    ("release", "file", "section", "key", "value"),
    [
        ("22.05", "slurm.conf", "global", "TaskPlugin", "task/affinity,task/cgroup"),
        ("24.11", "slurm.conf", "global", "SchedulerParameters", "bf_window=10080,bf_continue"),
        ("24.11", "slurm.conf", "PartitionName", "OverSubscribe", "FORCE:4"),
        ("24.11", "slurm.conf", "global", "JobSubmitPlugins", "lua"),
        ("24.11", "slurm.conf", "global", "JobSubmitPlugins", "job_submit/lua"),
        ("24.11", "slurm.conf", "global", "PrivateData", "jobs,usage"),
        ("24.11", "slurm.conf", "global", "GresTypes", "gpu,licence"),
        ("26.05", "slurm.conf", "global", "SwitchType", "switch/none"),
        ("24.11", "slurm.conf", "global", "SwitchParameters", "def_txqs=4"),
        ("24.11", "slurm.conf", "global", "TopologyPlugin", "topology/default"),
        ("25.11", "slurm.conf", "NodeName", "Parameters", "numa_node_as_socket"),
        ("22.05", "slurm.conf", "global", "RoutePlugin", "route/topology"),
        ("24.11", "gres.conf", "line", "AutoDetect", "nvidia"),
        ("24.11.5", "slurm.conf", "global", "ReconfigFlags", "KeepNodeStateFuture"),
        ("23.02.1", "cgroup.conf", "global", "EnableControllers", "yes"),
        ("24.11", "slurm.conf", "global", "MailProg", '""'),
        ("24.11", "slurm.conf", "global", "AuthInfo", "cred_expire=300"),
        ("24.11", "slurmdbd.conf", "global", "AuthInfo", "/run/munge/munge.socket.2"),
        ("24.11", "slurm.conf", "global", "ControlMachine", "ctl1"),
    ],
)
def test_allowed(release: str, file: str, section: str, key: str, value: str) -> None:
    assert check(release, file, section, key, value) is None


@pytest.mark.parametrize(
    ("release", "file", "section", "key", "value", "says"),
    [
        # keys of another release
        ("24.11", "slurm.conf", "global", "SlurmctldPlugstack", "x", "dropped in Slurm 23.02"),
        ("22.05", "slurm.conf", "global", "NamespaceType", "namespace/linux", "came with Slurm 25.11"),
        ("24.11", "slurm.conf", "NodeName", "Parameters", "numa_node_as_socket", "came with Slurm 25.11"),
        ("23.02", "cgroup.conf", "global", "EnableControllers", "yes", "came with Slurm 23.02.1"),
        ("24.11", "topology.conf", "global", "BlockLevels", "0", "dropped in Slurm 24.05"),
        ("26.05", "slurm.conf", "global", "DefRuntimePlugin", "x", "came with Slurm 26.11"),
        # unknown keys
        ("24.11", "slurm.conf", "global", "SlurmctldTimout", "9", "did you mean 'SlurmctldTimeout'?"),
        ("24.11", "slurm.conf", "global", "SlurmctldTimout", "9", "fatal in slurmctld, slurmd and every"),
        ("24.11", "slurm.conf", "global", "RealMemory", "9", "it belongs to NodeName"),
        ("24.11", "slrm.conf", "global", "TaskPlugin", "x", "did you mean 'slurm.conf'?"),
        # keys that parse and do harm or nothing
        ("24.11", "slurm.conf", "global", "FastSchedule", "1", "is not to be written"),
        ("25.11", "slurm.conf", "global", "AccountingStorageUser", "slurm", "defunct since Slurm 25.11"),
        ("24.11", "slurm.conf", "global", "RoutePlugin", "route/topology", "use TopologyParam=RouteTree"),
        ("22.05", "cgroup.conf", "global", "MinKmemSpace", "30", "it is gone from Slurm 23.11"),
        # values
        ("24.11", "slurm.conf", "global", "SlurmctldTimeout", "70000", "greater than 65535"),
        ("24.11", "cgroup.conf", "global", "ConstrainCores", "enabled", "not a truth value"),
        ("24.11", "slurm.conf", "global", "ClusterName", "a\nSlurmUser=root", "line break"),
        # words
        ("24.11", "slurm.conf", "global", "TaskPlugin", "task/afinity", "did you mean 'task/affinity'?"),
        ("24.11", "slurm.conf", "global", "TopologyPlugin", "topology/flat", "came with Slurm 25.05"),
        ("24.11", "slurm.conf", "global", "ReconfigFlags", "KeepNodeStateFuture", "release: 24.11.4"),
        ("25.05", "slurm.conf", "global", "ReconfigFlags", "KeepNodeStateFuture", "dropped in Slurm 25.05"),
        ("24.11", "slurm.conf", "global", "MpiDefault", "mpi/pmix", "did you mean 'pmix'?"),
        ("24.05", "gres.conf", "line", "AutoDetect", "nvidia", "came with Slurm 24.11"),
        ("24.11", "slurm.conf", "global", "SlurmdParameters", "config_overides", "ignores it in silence"),
        ("24.11", "slurm.conf", "global", "SchedulerParameters", "bf_window", "needs a value"),
        ("24.11", "slurm.conf", "global", "SlurmctldParameters", "cloud_reg_addrs", "not to be written"),
        (
            "24.11",
            "slurm.conf",
            "global",
            "AccountingStorageType",
            "accounting_storage/mysql",
            "slurmdbd.conf",
        ),
        ("24.11", "slurm.conf", "PartitionName", "State", "UPP", "did you mean 'UP'?"),
    ],
)
def test_refused(release: str, file: str, section: str, key: str, value: str, says: str) -> None:
    problem = check(release, file, section, key, value)
    assert problem is not None
    assert says in problem
    assert problem.startswith((key, file))


def test_a_key_that_harms_is_never_suggested() -> None:
    assert "FastSchedule" not in str(check("24.11", "slurm.conf", "global", "FastShedule", "1"))


def test_a_value_is_judged_without_a_release_too() -> None:
    width = lookup("slurm.conf", "global", "TreeWidth")
    assert width is not None
    assert check_value(width, "16") is None
    assert check_value(width, "-1") == "TreeWidth '-1' is less than zero; expected 0 to 65535"


def test_a_token_knows_its_releases() -> None:
    found = token("enums", "PrologFlags", "runinjob")
    assert found is not None
    assert [s for s in SERIES if found.known_in(Release(s))] == ["24.05", "24.11", "25.05", "25.11", "26.05"]
    assert token("enums", "PrologFlags", "Sideways") is None
    assert token("parameters", "Sideways", "x") is None


def test_a_wrong_reference_to_words_is_an_error() -> None:
    with pytest.raises(InputError, match="no vocabulary 'enums:Nothing'"):
        vocabulary("enums:Nothing")


@pytest.mark.parametrize("file", options.file_names())
class TestEveryFile:
    def test_loads_with_its_source(self, file: str) -> None:
        table = conf_file(file)
        assert table is not None
        assert table.source

    def test_every_words_reference_leads_somewhere(self, file: str) -> None:
        table = conf_file(file)
        assert table is not None
        for option in table.options.values():
            if option.words:
                assert vocabulary(option.words).words or vocabulary(option.words).open


# --- against the collection -------------------------------------------------------------------------------

LAST_PATCH = {
    "22.05": 11,
    "23.02": 8,
    "23.11": 11,
    "24.05": 8,
    "24.11": 7,
    "25.05": 8,
    "25.11": 7,
    "26.05": 3,
}

# Words that the mechanical reading took from running text of a man page.
NO_WORDS = {("AuthInfo", "Partition"), ("AuthInfo", "Reservation"), ("AuthInfo", "The")}

# `X/none` is gone as a plugin from 23.11 but unsets the plugin (src/common/read_config.c); the others are
# rewritten to the new name.
KEPT = ("/none", "topology/default", "job_container/tmpfs", "acct_gather_energy/rsmi")


@pytest.fixture(scope="module")
def collected(field_data: Path) -> dict[str, Any]:
    text = (field_data / "slurm" / "options.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # noqa: S506


def rows(
    tree: dict[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every option row of the collection with its path file, (plugin,) section, key."""
    for name, node in tree.items():
        if isinstance(node, dict) and isinstance(node.get("type"), str) and "since" in node:
            yield (*path, name), node
        elif isinstance(node, dict):
            yield from rows(node, (*path, name))


def known(row: dict[str, Any], release: Release) -> bool:
    """The collection's own rule, patch by patch, for a release without patch level."""

    def number(version: str) -> tuple[int, ...]:
        return tuple(int(part) for part in version.split("."))

    since, until = row["since"], row.get("until")
    if since == "26.11dev":
        return False
    first = number(f"{release.series}.0")
    last = number(f"{release.series}.{LAST_PATCH[release.series]}")
    came = since[0] in "p<" or number(since) <= first
    if until is not None and until.count(".") == 1:
        return came and number(until) >= first[:2]
    return came and (until is None or number(until) >= last)


def section_of(path: tuple[str, ...]) -> str:
    section = path[-2]
    return "global" if section == "file" or path[0] in ("acct_gather.conf", "mpi.conf") else section


def test_no_key_of_any_file_is_lost(collected: dict[str, Any]) -> None:
    files = {f: t for f, t in collected["files"].items() if f not in ("topology.yaml", "namespace.yaml")}
    seen = 0
    for path, row in rows(files):
        option = lookup(path[0], section_of(path), path[-1])
        assert option is not None, path
        assert option.type == row["type"].replace("line-array", "lines"), path
        assert option.write == (row.get("write") if row.get("write") in ("never", "avoid") else None), path
        assert bool(option.defunct) is ("defunct_since" in row), path
        for series in SERIES:
            assert option.known_in(Release(series)) is known(row, Release(series)), (path, series)
        seen += 1
    assert seen > 600


@pytest.mark.parametrize("file", ["topology.yaml", "namespace.yaml"])
def test_no_field_of_the_yaml_files_is_lost(collected: dict[str, Any], file: str) -> None:
    structure = {
        "topology", "mapping", "list_of", "fields", "options", "item", "type", "since", "note", "default",
        "values", "root", "rule", "plugin", "unknown_field", "required",
    }  # fmt: skip
    table = conf_file(file)
    assert table is not None
    have = {option.key for option in table.options.values()}

    def names(tree: object) -> Iterator[str]:
        for name, node in tree.items() if isinstance(tree, dict) else ():
            yield name
            yield from names(node)

    assert set(names(collected["files"][file])) - structure - have == set()


@pytest.mark.parametrize("kind", ["plugin_values", "enums", "parameter_tokens"])
def test_no_word_is_lost(collected: dict[str, Any], kind: str) -> None:
    ours = {"plugin_values": "plugins", "enums": "enums", "parameter_tokens": "parameters"}[kind]
    for key, body in collected[kind].items():
        name = {"gpu_autodetect_backends": "GpuPlugin"}.get(key, key.removeprefix("gres.conf "))
        words = vocabularies(ours)[name]  # type: ignore[index]
        for text, row in (body.get("values") or body.get("tokens")).items():
            word = words.find(text.removeprefix("mpi/"))
            if (key, text) in NO_WORDS:
                assert word is None
                continue
            assert word is not None, (key, text)
            for series in SERIES:
                if not text.endswith(KEPT):
                    assert word.known_in(Release(series)) is known(row, Release(series)), (key, text, series)
