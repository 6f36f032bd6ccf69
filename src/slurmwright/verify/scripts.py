"""Turns the probes that travel with the package into the text that a shell on any host can run from stdin.

One text holds both variants: Python where the host or image has it, the shell itself where not.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "job"
PROBE_PY, PROBE_SH, HOST_PY = (FOLDER / name for name in ("probe.py", "probe.sh", "host.py"))
_END = "END_OF_PROBE"
#: The test must not read the script that the shell still reads.
_LAUNCH = f"""\
#!/bin/sh
if python3 -c 'import sys; sys.exit(sys.version_info < (3, 6))' </dev/null >/dev/null 2>&1; then
python3 - "$@" <<'{_END}'
{{python}}
{_END}
else
{{shell}}
fi
"""


@cache
def probe_script() -> str:
    """For `sh -s -- [OPTIONS]`: prints one document."""
    python, shell = (path.read_text(encoding="utf-8") for path in (PROBE_PY, PROBE_SH))
    return _LAUNCH.format(python=python, shell=shell.partition("\n")[2])


@cache
def host_script() -> str:
    """For `sh -s -- [OPTIONS]` on a host: it has Python, as Slurm's hosts do."""
    python = HOST_PY.read_text(encoding="utf-8")
    return f"exec python3 - \"$@\" <<'{_END}'\n{python}\n{_END}\n"
