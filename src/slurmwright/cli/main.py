"""The command `slurmwright`: finds the verb, and turns every error into one clear line and an exit code.

Verbs are imported when they are called, so that `slurmwright render` does not pay for the others.
"""

from __future__ import annotations

import importlib
import io
import keyword
import os
import signal
import sys
from types import FrameType

import click

from slurmwright import __version__
from slurmwright.core.errors import SlurmwrightError

VERBS = (
    "init",
    "types",
    "render",
    "plan",
    "node",
    "rehearse",
    "apply",
    "verify",
    "lint",
    "nccl",
    "import",
    "explain",
    "discover",
    "facts",
    "doctor",
    "schema",
)


class LazyGroup(click.Group):
    """A group whose commands are the modules of slurmwright.cli named in VERBS."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        module = f"{name}_" if keyword.iskeyword(name) else name
        command = getattr(importlib.import_module(f"slurmwright.cli.{module}"), module)
        assert isinstance(command, click.Command)  # noqa: S101 - each verb's module names its command so
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from slurmwright.core.errors import did_you_mean

        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"no such command '{args[0]}'; {did_you_mean(args[0], VERBS)}", ctx)
        return super().resolve_command(ctx, args)


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="slurmwright")
@click.option("--debug", is_flag=True, help="Show tracebacks instead of one-line errors.")
def main(debug: bool) -> None:
    """From one inventory to a Slurm GPU cluster whose jobs see exactly the GPUs they asked for."""


def run() -> None:
    """The entry point of the console script; never shows a traceback unless --debug is given."""
    signal.signal(signal.SIGTERM, _terminate)
    for stream in (sys.stdout, sys.stderr):
        # Where the terminal knows no such character, a stand-in is better than no answer.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    debug = "--debug" in sys.argv
    try:
        main.main(standalone_mode=False)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        _say("stopped")
        sys.exit(130)
    except SlurmwrightError as error:
        if debug:
            raise
        for line in str(error).splitlines():
            _say(line)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if debug:
            raise
        _say(f"{error.filename or 'system'}: {error.strerror or error}")
        sys.exit(2)
    except Exception as error:
        if debug:
            raise
        _say(
            f"unexpected {type(error).__name__}: {error}; this is a defect of slurmwright, "
            "run again with --debug before the verb and report what it prints"
        )
        sys.exit(2)


def _say(line: str) -> None:
    print(f"slurmwright: {line}", file=sys.stderr)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    run()
