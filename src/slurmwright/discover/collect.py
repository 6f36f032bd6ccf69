"""Asks many hosts at once for their sections; each gives sections or a reason, and none stops the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from slurmwright.core.errors import InputError
from slurmwright.discover.sections import script, split_output
from slurmwright.discover.ssh import HostError, Reader


@dataclass(frozen=True)
class Collected:
    """What one host gave: its sections, or the reason why there are none."""

    host: str
    sections: dict[str, str]
    error: str = ""


def collect(
    hosts: Sequence[str],
    reader: Reader,
    at_once: int,
    ended: Callable[[Collected], None],
    text: str | None = None,
) -> tuple[Collected, ...]:
    """In the order of `hosts`; `ended` is called for each as it ends. `text` is another script that prints
    sections as discover's does."""
    text = text or script()
    found: dict[str, Collected] = {}
    pool = ThreadPoolExecutor(max_workers=max(1, min(at_once, len(hosts))))
    try:
        waiting = [pool.submit(_one, host, reader, text) for host in hosts]
        for done in as_completed(waiting):
            one = done.result()
            found[one.host] = one
            ended(one)
    except BaseException:
        reader.stop()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return tuple(found[host] for host in hosts)


def _one(host: str, reader: Reader, text: str) -> Collected:
    try:
        return Collected(host, split_output(reader.read(host, text), host))
    except HostError as error:
        return Collected(host, {}, str(error))
    except InputError as error:
        return Collected(host, {}, error.problems[0].message)
