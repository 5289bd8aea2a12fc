"""The arguments and options that the commands of ``kafka pipeline`` share."""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kafka.cli.command_output import Output
from kafka.cli.common_options import given_before, output_options

if TYPE_CHECKING:
    from kafka.pipelines import Declaration

R = TypeVar("R")

file_argument = click.argument(
    "file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
)
"""FILE, the YAML file of a pipeline. The command gets a `Path`."""


def with_output(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options for the output; the command gets an `Output` as its first argument."""

    @functools.wraps(command)
    def run(*args: Any, output: Output, **given: Any) -> R:
        return command(output, *args, **given)

    return output_options(run)


_SERVERS = click.option(
    "-b",
    "--bootstrap-servers",
    "--bootstrap-server",
    multiple=True,
    metavar="HOST:PORT",
    help="Bootstrap brokers, instead of those in FILE; repeatable.",
)
_REGISTRY = click.option(
    "--registry", "registry_url", metavar="URL", help="Schema registry, instead of the one in FILE."
)


def with_servers(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options ``-b`` and ``--registry``.

    The command gets the keyword argument `change`, a function that replaces the servers in the content of a declaration
    file: a mapping of keys to values, such as ``declaration.model_dump()``.
    """

    @functools.wraps(command)
    def run(*args: Any, bootstrap_servers: tuple[str, ...], registry_url: str | None, **given: Any) -> R:
        servers = bootstrap_servers or tuple(given_before()["bootstrap_servers"] or ())

        def change(content: dict[str, Any]) -> dict[str, Any]:
            changed = dict(content)
            for key, option, value in (
                ("kafka", "bootstrap.servers", ",".join(servers)),
                ("registry", "url", registry_url),
            ):
                given = content.get(key) or {}
                if value and isinstance(given, Mapping):  # anything else is an error, which remains
                    changed[key] = {**given, option: value}
            return changed

        return command(*args, change=change, **given)

    noted: Callable[..., R] = _SERVERS(_REGISTRY(run))
    return noted


def with_pipeline(command: Callable[..., R]) -> Callable[..., R]:
    """Add FILE and the options of `with_servers` and `with_output`.

    The command gets the `Output`, the `Declaration` and the `Path` of the file. An invalid declaration ends the command
    with the exit status 2, and one line for each problem.
    """

    @functools.wraps(command)
    def run(output: Output, file: Path, change: Callable[[dict[str, Any]], dict[str, Any]], **given: Any) -> R:
        return command(output, _declaration(file, change), file, **given)

    return file_argument(with_servers(with_output(run)))


def _declaration(file: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> "Declaration":
    from kafka.pipelines import InvalidDeclaration, load

    try:
        declaration = load(file)
    except InvalidDeclaration as error:
        raise click.UsageError("the declaration is invalid:\n" + str(error)) from error
    return declaration.model_copy(update=change({"kafka": declaration.kafka, "registry": declaration.registry}))
