"""``kafka pipeline``: checks, tests, runs and inspects pipelines that are declared in YAML or Python files.

Each command is a module of this package with the command's name, which contains ``command``, a `click.Command`.
`pipeline_options` has the arguments and options that the commands share.

To add a command, add its module, and run ``python scripts/command_line.py``, which writes docs/COMMAND_LINE.md. If the
name is not in `ORDER`, add it there, too. Import `kafka.pipelines` and other slow modules inside functions. A command
contains no logic: it calls `kafka.pipelines`, prints the result with `Output`, and ends with one of the exit statuses
in `kafka.cli.failures`: 0; 1 for a problem that the command found (``raise click.exceptions.Exit(1)``); 2 for wrong
use, such as an invalid declaration; and 3 for unreachable servers.
"""

import importlib
import importlib.util

import click

from kafka.cli.suggestions import CommandGroup

ORDER = ("init", "check", "test", "run", "status", "dead", "replay", "backfill", "audit", "reset", "schema")
"""The names of the commands, in the order of the help. A name without a module is not a command."""


class _Commands(CommandGroup):
    """A group that imports a command's module when the command is used or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the help."""
        return [name for name in ORDER if importlib.util.find_spec(f"{__name__}.{name}") is not None]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return command


@click.group(name="pipeline", cls=_Commands)
def command() -> None:
    """Check, test and run pipelines.

    FILE is a YAML file, or a Python file (.py) that declares a Pipeline. A Python file is executed until it runs the
    pipeline itself.
    """


__all__ = ["ORDER", "command"]
