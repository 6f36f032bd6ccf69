"""containers in cluster.yaml: what the release of pyxis does not know, and what must not stand there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slurmwright.catalogue.container_options import container_options, version

Change = Callable[[str, str], list[str]]


def asked(change: Change, words: str) -> list[str]:
    return change("partitions:\n", f"containers: {{runtime: enroot-pyxis, {words}}}\npartitions:\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("importer: /usr/bin/fetch", "pyxis knows importer from 0.21 on; say which one is installed"),
        ('pyxis: "0.20.1", importer: /usr/bin/fetch', "pyxis knows importer from 0.21 on; it is 0.20.1 here"),
        ('pyxis: "0.21", squashfuse: true', "pyxis knows use_squashfuse from 0.22 on; it is 0.21 here"),
        ('pyxis: "0.8"', "pyxis knows container_scope from 0.9 on"),
        ('enroot: "3.0.2"', "pyxis needs enroot 3.1 or newer"),
        ('enroot: "new"', "is no version; expected such as 4.1"),
        ("images: [images]", "images"),
        ("credentials: '/x/$(id)'", "$(id)"),
        ("registry: {proxy: 'http://me:secret@proxy:3128'}", "a password would stand in a file"),
        ("registry: {proxy: 'http://p$(id):1'}", "no address; expected such as http://proxy:3128"),
        ("registry: {no_proxy: 'a b'}", "no list of hosts"),
        ("registry: {ca_file: certs.pem}", "certs.pem"),
        ("cache: {keep_days: 0}", "keep_days"),
        ("hooks: [pmix]", "pmix"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_way_out(change: Change, words: str, said: str) -> None:
    lines = asked(change, words)
    assert len(lines) == 1
    assert said in lines[0]


def test_a_release_that_knows_the_words_loads(change: Change) -> None:
    words = 'enroot: "4.1.2", pyxis: "0.24", importer: /usr/bin/fetch, squashfuse: true, scope: global'
    assert asked(change, words) == []


def test_a_password_of_a_proxy_is_not_repeated(change: Change) -> None:
    assert "secret" not in "".join(asked(change, "registry: {proxy: 'http://me:secret@proxy:3128'}"))


def test_each_option_of_the_table_is_known_from_its_release_on() -> None:
    for program in ("enroot", "pyxis"):
        for option in container_options(program).values():
            assert option.known_in(option.since)
            assert not option.known_in("0.1")
    assert not container_options("pyxis")["remap_root"].known_in("0.24")
    assert version("v4.1.2-1") == (4, 1)
