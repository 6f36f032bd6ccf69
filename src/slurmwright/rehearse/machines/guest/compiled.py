"""Keeps what Python makes of modules in zip files, which it otherwise compiles anew at each start.

Each task of Ansible brings its modules in a new zip file, and an emulated guest spends a third of a task on
compiling them. A key is the text alone, so that nothing stale can be taken.
"""

from __future__ import annotations

import _imp
import marshal
import os
import sys
import zipimport

TYPE_CHECKING = False
if TYPE_CHECKING:  # every start of Python reads this file
    from collections.abc import Callable
    from types import CodeType

FOLDER = "/var/cache/guest-python"


def kept(make: Callable[..., CodeType], folder: str) -> Callable[..., CodeType]:
    """`make(path, source, …)`, which compiles, with a memory in `folder`."""

    def compiled(path: str, source: bytes, *more: object) -> CodeType:
        name = f"{folder}/{sys.implementation.cache_tag}-{_imp.source_hash(0, source).hex()}-{len(source)}"
        try:
            with open(name, "rb") as file:
                code: CodeType = marshal.load(file)  # noqa: S302 - root's own file
                return code
        except (OSError, EOFError, ValueError, TypeError):
            pass
        code = make(path, source, *more)
        own = f"{name}.{os.getpid()}"
        try:
            with open(own, "wb") as file:
                marshal.dump(code, file)
            os.replace(own, name)
        except OSError:
            pass
        return code

    return compiled


zipimport._compile_source = kept(zipimport._compile_source, FOLDER)  # type: ignore[attr-defined]
