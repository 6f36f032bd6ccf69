"""Results on disk: without secrets, and found again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.nccl.keep import earlier, keep, scrub


@pytest.mark.parametrize(
    "text",
    [
        "HF_TOKEN=hunter2",
        "export WANDB_API_KEY='hunter2'",
        '"AWS_SECRET_ACCESS_KEY=hunter2",',
        'db_password: "hunter2"',
        "http_proxy=http://me:hunter2@proxy:3128",
        "Authorization: Bearer hunter2hunter2",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n-----END OPENSSH PRIVATE KEY-----",
    ],
)
def test_secrets_do_not_reach_the_disk(text: str) -> None:
    assert "hunter2" not in scrub(f"# before\n{text}\n# after")
    assert scrub(f"# before\n{text}\n# after").endswith("# after")


def test_results_stay_as_they_are() -> None:
    line = "  1073741824     268435456     float     sum      -1  5149.13  208.53  364.93       0\n"
    assert scrub(line) == line
    assert scrub("NCCL_IB_HCA==mlx5_0,mlx5_3\n") == "NCCL_IB_HCA==mlx5_0,mlx5_3\n"


def test_the_newest_result_of_the_same_kind_comes_first(tmp_path: Path) -> None:
    for name, nodes in (("a-1", 4), ("a-2", 4), ("a-3", 8)):
        keep(tmp_path, name, {"node_count": nodes, "name": name}, {"whole": "TOKEN=x"})
    (tmp_path / "z.json").write_text("[broken", encoding="utf-8")
    assert [one["name"] for one in earlier(tmp_path, {"node_count": 4})] == ["a-2", "a-1"]
    assert (tmp_path / "a-1.whole.txt").read_text(encoding="utf-8") == "TOKEN=[removed]"


@given(st.text(max_size=200))
@settings(max_examples=60)
def test_scrubbing_twice_changes_nothing_more(text: str) -> None:
    assert scrub(scrub(text)) == scrub(text)
