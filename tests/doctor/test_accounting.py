"""Troubles of slurmdbd with its database and of slurmctld with slurmdbd, from the lines that they write."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.core.finding import Finding, Severity
from slurmwright.doctor.judge import judge
from slurmwright.doctor.reading import read_hosts

#: Texts of Slurm 22.05.8 to 26.05.3 in src/database/mysql_common.c and src/plugins/accounting_storage.
LINES = {
    "fatal: mysql gave ER_LOCK_WAIT_TIMEOUT as an error. The only way to fix this is restart the": (
        "DR045",
        "a lock was not given in time",
    ),
    "error: mysql_query failed: 1206 The total number of locks exceeds the lock table size": (
        "DR045",
        "exceeds the lock table size",
    ),
    "fatal: _handle_mysql_error: unable to resolve deadlock with attempts 10/10: 1213 Deadlock found": (
        "DR045",
        "purge or a rollup",
    ),
    "error: Couldn't commit cluster (pod1) purge": ("DR045", "the purge of cluster pod1"),
    "error: mysql_query failed: 1114 The table 'pod1_job_table' is full": (
        "DR046",
        "'pod1_job_table' is full",
    ),
    "fatal: _handle_mysql_error: a concurrent transaction modified a row read by this transaction: 1020 R": (
        "DR047",
        "innodb_snapshot_isolation=ON",
    ),
    "error: mysql_real_connect failed: 1045 Access denied for user 'slurm'@'localhost'": (
        "DR048",
        "password (1045)",
    ),
    "error: mysql_real_connect failed: 2002 Can't connect to local server through socket '/run/mysqld/x'": (
        "DR048",
        "does not reach MariaDB: Can't connect",
    ),
    "fatal: Database schema is too old for this version of Slurm to upgrade.": ("DR049", "too far back"),
}
STARTED = "slurmdbd version 24.11.5 started"


def judged(folder: Path, **logs: str) -> tuple[Finding, ...]:
    for name, text in logs.items():
        (folder / f"{name}.log").write_text(text, encoding="utf-8")
    return judge(read_hosts(folder))


@pytest.mark.parametrize("line", LINES)
def test_each_line_of_slurmdbd_is_one_cause(line: str, tmp_path: Path) -> None:
    rule, words = LINES[line]
    (found,) = judged(tmp_path, slurmdbd=f"[2026-11-02T02:00:00.100] {line}\n" * 3)
    assert (found.rule, words in found.message) == (rule, True), found.message


def test_small_settings_and_a_purge_that_failed_are_one_cause(tmp_path: Path) -> None:
    small = (
        "error: Database settings not recommended values: innodb_buffer_pool_size innodb_lock_wait_timeout\n"
    )
    (found,) = judged(tmp_path, slurmdbd=small + next(iter(LINES)) + "\n")
    assert found.rule == "DR045"
    assert "innodb_buffer_pool_size, innodb_lock_wait_timeout are below" in found.message


def test_a_database_that_came_up_after_slurmdbd_is_no_finding(tmp_path: Path) -> None:
    early = next(line for line in LINES if "2002" in line)
    assert judged(tmp_path, slurmdbd=f"{early}\n{STARTED}\n") == ()


def test_a_queue_that_fills_is_an_error_and_lost_records_are_critical(tmp_path: Path) -> None:
    filling = "[x] error: slurmdbd: agent queue filling (12000), MaxDBDMsgs=20000, RESTART SLURMDBD NOW\n"
    (found,) = judged(tmp_path, slurmctld=filling)
    assert (found.rule, found.severity) == ("DR036", Severity.ERROR)
    lost = "[x] error: slurmdbd: agent queue is full (20000), discarding DBD_STEP_START:1442 request\n"
    (found,) = judged(tmp_path, slurmctld=filling + lost * 40)
    assert (found.severity, "20000 records wait" in found.message) == (Severity.CRITICAL, True)


def test_a_query_that_failed_for_another_reason_is_none_of_these(tmp_path: Path) -> None:
    assert (
        judged(tmp_path, slurmdbd="[x] error: mysql_query failed: 1064 You have an error in your SQL\n") == ()
    )
