"""The commands by name. Each is imported when it is used.

To add a command, add its row to `COMMANDS`, and ``command``, a `click.Command`, to a module or package of that name in
this package. Import slow modules inside functions. Then run ``python scripts/command_line.py``, which writes
docs/COMMAND_LINE.md. Tests are in tests/unit/cli.
"""

import importlib
import logging
import os
from collections.abc import Sequence
from typing import Any

import click

from kafka.cli.common_options import LEVELS, common_options, log_from, remember
from kafka.cli.failures import ending, exit_status
from kafka.cli.suggestions import CommandGroup
from kafka.version import DISTRIBUTION_VERSION

COMMANDS = {
    "topics": "List, describe, create, delete and alter topics.",
    "produce": "Send records from lines, JSON, CSV, Parquet or Arrow.",
    "consume": "Read records, as text, JSON, CSV, Parquet or Arrow.",
    "groups": "List, describe, reset and delete consumer and share groups; show their lag.",
    "offsets": "Show offsets of topics; delete records before an offset.",
    "partitions": "Describe, add and reassign partitions; elect leaders.",
    "configs": "Describe and change configs of topics, brokers and groups.",
    "acls": "List, create and delete access control lists.",
    "users": "List SCRAM users; set and delete their passwords.",
    "schemas": "List, show, register, check and delete schemas of a schema registry.",
    "quotas": "List, set and delete client quotas.",
    "cluster": "Describe brokers, features, API versions, log directories and the quorum.",
    "transactions": "List and describe transactions; find and abort hanging ones.",
    "pipeline": "Check, test and run pipelines that are declared in YAML files.",
    "copy": "Copy a topic within a cluster or to another one; resumable.",
    "perf": "Measure producer, consumer and round-trip performance.",
    "ui": "Serve a web UI for topics, groups, messages, schemas and Spark queries.",
    "profiles": "List, show, set and remove profiles: named settings for clusters.",
    "probe": "Check a process, for probes of Kubernetes and containers' health checks.",
    "completion": "Print a shell completion script.",
    "broker": "Run the embedded broker for development and tests.",
    "demo": "Stream a year of flights through a broker and Spark.",
    "doctor": "Check the installation and the connection to a cluster.",
}
"""The name and summary of each command; the command ``x`` is ``command`` in ``kafka.cli.x``."""


class LazyCommands(CommandGroup):
    """A group that imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"kafka.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the summaries from the table, so that no command is imported."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """See `click.Group`. Errors become a line on standard error and an exit status; see `failures`."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        try:
            with ending():
                status = super().main(args, prog_name, complete_var, False, **extra)
        except BaseException as error:
            raise SystemExit(exit_status(error)) from None
        raise SystemExit(status if isinstance(status, int) else 0)


def _log_level(verbose: int) -> str:
    given = os.environ.get("KAFKA_LOG_LEVEL")
    if not given:
        return {0: "WARNING", 1: "INFO"}.get(verbose, "DEBUG")
    if given.upper() not in LEVELS:
        raise click.UsageError(f"KAFKA_LOG_LEVEL is {given!r}; expected one of {', '.join(LEVELS)}")
    return given.upper()


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(DISTRIBUTION_VERSION, prog_name="kafka-columnar")
@click.option("-v", "--verbose", count=True, help="Show log messages from level INFO on; -vv from DEBUG.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["raw", "json"]),
    hidden=True,
    help="Accepted for compatibility with kafka-python.",
)
@common_options
@click.pass_context
def commands(context: click.Context, /, verbose: int, form: str | None, **common: Any) -> None:
    """Apache Kafka for Python: topics, records, groups, a development broker and a Spark pipeline.

    Connection options may be given before or after the command.
    """
    level = common["log_level"] or _log_level(verbose)
    common["as_json"] |= form == "json"
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if level == "WARNING":  # the error that ends the command contains the same information
        log_from(context, "kafka.cluster.bootstrap", "ERROR")
        log_from(context, "kafka.formats.registry.exchange", "ERROR")
    remember(context, common)
