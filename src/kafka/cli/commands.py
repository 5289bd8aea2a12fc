"""The commands by name, and the one place where errors become a line on standard error."""

import importlib
import logging
import os
from typing import Any

import click

from kafka.errors import KafkaError
from kafka.spark.requirements import SparkRequirementError
from kafka.version import DISTRIBUTION_VERSION

COMMANDS = {
    "broker": "Run the embedded broker.",
    "demo": "Stream a year of flights through a broker and Spark.",
    "doctor": "Show what is installed and which variant is loaded.",
}
"""Name and summary of each command; the command ``x`` is ``command`` in ``kafka.cli.x``."""

_LEVELS = ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG")


class LazyCommands(click.Group):
    """A group that imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        try:
            command: click.Command = importlib.import_module(f"kafka.cli.{cmd_name}").command
        except ModuleNotFoundError as error:
            raise _not_installed(error) from error
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # nobody reads the output: an end without a word
        except ModuleNotFoundError as error:
            raise _not_installed(error) from error
        except (KafkaError, OSError, SparkRequirementError) as error:
            raise click.ClickException(str(error)) from error
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j"):
                raise
            raise click.ClickException(f"Spark failed: {error}") from error


def _not_installed(error: ModuleNotFoundError) -> click.ClickException:
    """The line about a missing library; a missing module of our own is raised as it is."""
    name = (error.name or "").partition(".")[0]
    if name in ("", "kafka", "kafka_columnar", "pyspark_kafka_columnar"):
        raise error
    return click.ClickException(
        f"this command needs {name!r}, which is not installed; install it with: pip install 'kafka-columnar[demo]'"
    )


def _log_level(verbose: int) -> str:
    given = os.environ.get("KAFKA_LOG_LEVEL")
    if not given:
        return {0: "WARNING", 1: "INFO"}.get(verbose, "DEBUG")
    if given.upper() not in _LEVELS:
        raise click.UsageError(f"KAFKA_LOG_LEVEL is {given!r}, which is none of {', '.join(_LEVELS)}")
    return given.upper()


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(DISTRIBUTION_VERSION, prog_name="kafka-columnar")
@click.option("-v", "--verbose", count=True, help="Show log lines; twice for all of them.")
def commands(verbose: int) -> None:
    """Apache Kafka for Python: a broker for development, and a pipeline through Spark."""
    logging.basicConfig(level=_log_level(verbose), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
