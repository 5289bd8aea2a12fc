"""The arguments and options that the commands of ``kafka pipeline`` share."""

import difflib
import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kafka.cli.command_output import Output
from kafka.cli.common_options import given_before, output_options

if TYPE_CHECKING:
    from kafka.pipelines import Declaration
    from kafka.pipelines.pipeline_files import LoadedFile

R = TypeVar("R")
Change = Callable[[dict[str, Any]], dict[str, Any]]
"""Replaces servers in the content of a declaration; see `with_servers`."""

_ENDINGS = (".yaml", ".yml", ".py")


class _PipelineFile(click.Path):
    """An existing file. The error for a missing one suggests files with similar names, or with the same name below."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, readable=True, path_type=Path)

    def convert(
        self, value: "str | os.PathLike[str]", param: click.Parameter | None, ctx: click.Context | None
    ) -> "str | bytes | os.PathLike[str]":
        """See `click.Path`."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            path = Path(value)
            if os.path.exists(path):  # unlike Path.exists(), this is False for a name that is too long
                raise
            raise click.BadParameter(f"{error.message.rstrip('.')}{_near_files(path)}", ctx, param) from None


def _near_files(path: Path) -> str:
    """Return a hint for a file that does not exist: "; did you mean ...?", or the reason why there is none."""
    folder = path.parent
    if not os.path.isdir(folder):
        return f": there is no folder {str(folder)!r}."
    try:
        files = sorted(each for each in folder.iterdir() if each.suffix in _ENDINGS and each.is_file())
        below = sorted(each for each in folder.glob("*/*") if each.suffix in _ENDINGS and each.stem == path.stem)
    except OSError:  # the folder is not readable
        return "."
    same = [each for each in files if each.stem == path.stem]
    similar = difflib.get_close_matches(path.name, [each.name for each in files], n=_MOST_FILES)
    found = (same or below or [folder / name for name in similar])[:_MOST_FILES]
    if found:
        return f"; did you mean {' or '.join(repr(str(each)) for each in found)}?"
    return "."


_MOST_FILES = 3
file_argument = click.argument("file", metavar="FILE", type=_PipelineFile())
"""FILE, the YAML file or Python file of a pipeline. The command gets a `Path`."""


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


def with_query(command: Callable[..., R]) -> Callable[..., R]:
    """Add FILE and the options of `with_servers` and `with_output`, for commands that evaluate the query.

    The command gets the `Output`, the `Declaration`, the `Path` of the file, and the keyword argument `function`: the
    query if it is a Python function, otherwise None. An invalid declaration ends the command with the exit status 2,
    and one line for each problem.
    """

    @functools.wraps(command)
    def run(output: Output, file: Path, change: Change, **given: Any) -> R:
        loaded = loaded_file(file)
        return command(output, changed(loaded.declaration, change), file, function=loaded.function, **given)

    return file_argument(with_servers(with_output(run)))


def with_pipeline(command: Callable[..., R]) -> Callable[..., R]:
    """Add the same as `with_query`, for commands that do not evaluate the query."""

    @functools.wraps(command)
    def run(*args: Any, function: object, **given: Any) -> R:
        return command(*args, **given)

    return with_query(run)


def loaded_file(file: Path) -> "LoadedFile":
    """Read the pipeline in a file; a `click.UsageError` has a line for each problem."""
    from kafka.pipelines import InvalidDeclaration
    from kafka.pipelines.pipeline_files import load_file

    try:
        return load_file(file)
    except InvalidDeclaration as error:
        raise click.UsageError("the declaration is invalid:\n" + str(error)) from error


def changed(declaration: "Declaration", change: Change) -> "Declaration":
    """Return the declaration with the servers of the command line; see `with_servers`."""
    return declaration.model_copy(update=change({"kafka": declaration.kafka, "registry": declaration.registry}))
