"""Many hosts are asked at a time, and answered for in their order."""

from __future__ import annotations

from slurmwright.apply.hosts import on_each


def test_every_host_is_asked_once_and_answers_in_order() -> None:
    asked: list[str] = []

    def task(host: str) -> str:
        asked.append(host)
        return host.upper()

    names = [f"n{number}" for number in range(50)]
    assert list(on_each(names, task).items()) == [(name, name.upper()) for name in names]
    assert sorted(asked) == sorted(names)


def test_nobody_is_asked_where_there_is_no_host() -> None:
    assert on_each((), lambda host: host) == {}
