"""Prints results on stdout: folded and styled on a terminal, one plain line for each fact when piped."""

from __future__ import annotations

import io
import sys

from rich.console import Console, RenderableType

# Wider than any line we print, so that nothing is folded for a program that reads it.
_PIPED_WIDTH = 4000


def print_result(renderable: RenderableType) -> None:
    """Print to stdout; rich honours NO_COLOR on a terminal, and a pipe gets neither colour nor padding."""
    if sys.stdout.isatty():
        Console(highlight=False).print(renderable)
        return
    # rich draws with plain ASCII for an encoding that has no lines and boxes.
    encoding = sys.stdout.encoding or "utf-8"
    plain = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="replace", newline="")
    Console(file=plain, width=_PIPED_WIDTH, color_system=None, highlight=False).print(renderable)
    plain.seek(0)
    for line in plain.read().splitlines():
        print(line.rstrip())
