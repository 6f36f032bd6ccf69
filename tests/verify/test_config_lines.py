"""Lines that a host sent of its files, to keys and values with their place."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.verify.config_lines import cores_by_file, last, lines_of


def host(name: str, *texts: str) -> dict[str, object]:
    rows = [[at, text] for at, text in enumerate(texts, 1)]
    return {"configuration": {name: {"path": f"/etc/slurm/{name}", "sha256": "", "lines": rows}}}


def test_the_last_line_of_a_key_counts() -> None:
    lines = lines_of(host("slurm.conf", "TaskPlugin=task/cgroup", "taskplugin = task/none # x"), "slurm.conf")
    one = last(lines, "taskplugin")
    assert one is not None
    assert (one.file, one.number, one.value) == ("/etc/slurm/slurm.conf", 2, "task/none")


def test_device_ranges_are_files_with_their_cores() -> None:
    lines = lines_of(
        host("gres.conf", "NodeName=gpu[1-4] Name=gpu File=/dev/nvidia[0-1] Cores=0-2"), "gres.conf"
    )
    assert list(cores_by_file(lines)) == [("/dev/nvidia0", (0, 1, 2)), ("/dev/nvidia1", (0, 1, 2))]
    assert lines[0].names("gpu2")
    assert not lines[0].names("gpu9")


def test_a_line_without_nodes_holds_for_every_node() -> None:
    (line,) = lines_of(host("gres.conf", "Name=gpu File=/dev/nvidia0"), "gres.conf")
    assert line.names("anything")


def test_a_file_that_was_not_sent_has_no_lines() -> None:
    assert lines_of({}, "slurm.conf") == ()


@settings(max_examples=80)
@given(st.text())
def test_any_line_is_read_without_an_error(text: str) -> None:
    lines = lines_of(
        host("gres.conf", text, f"NodeName={text} Name=gpu File={text} Cores={text}"), "gres.conf"
    )
    list(cores_by_file(lines))
    [line.names("gpu1") for line in lines]
