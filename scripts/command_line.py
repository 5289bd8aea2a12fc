"""Writes the reference in docs/COMMAND_LINE.md from the commands themselves: ``python scripts/command_line.py``.

A test compares, so that no option is missing there, and none is left.
"""

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from kafka.cli.commands import commands
from kafka.cli.common_options import common_options

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "COMMAND_LINE.md"
BEGIN = "## Reference\n"


def reference() -> str:
    """The part of the document behind its last heading."""
    common = click.command()(common_options(_nothing))
    lines = [BEGIN, "All commands that connect to a cluster accept these options:", "", *_table(common, ()), ""]
    shared = tuple(_names(parameter) for parameter in common.params)
    for path, command in _walk((), commands):
        if not path:
            continue
        lines += [f"### kafka {' '.join(path)}", *_help(inspect.cleandoc(command.help or ""))]
        if not isinstance(command, click.Group):
            lines += ["```shell", " ".join(["kafka", *path, *_arguments(command)]), "```", ""]
            if table := _table(command, shared):
                lines += [*table, ""]
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _help(text: str) -> Iterator[str]:
    """The help of a command, in which what click does not wrap (after a backspace) is a list or a block of code."""
    for paragraph in text.split("\n\n"):
        if not paragraph.startswith("\b\n"):
            yield from (_marked(paragraph), "")
            continue
        title, *rows = paragraph.removeprefix("\b\n").splitlines()
        pairs = [re.match(r"\s*(\S+)  +(\S.*)", row) for row in rows]
        if title.endswith(":") and pairs and all(pairs):
            yield from (title, "", *(f"- {pair[1]}: {_marked(pair[2])}" for pair in pairs if pair), "")
        else:
            yield from ("```shell", textwrap.dedent("\n".join([title, *rows])), "```", "")


def _marked(text: str) -> str:
    """A text in which the names of options are code."""
    return re.sub(r"(?<![\w`/-])(--?[a-zA-Z][\w-]*(?:\.\.\.)?)(?![\w`])", r"`\1`", text)


def _range(text: str) -> str:
    """A text of click in which ranges, such as `0<=x<=9`, are words."""
    text = re.sub(r"(-?[\d.]+)<=x<=([\d.]+)", r"from \1 to \2", text)
    return re.sub(r"x>=(-?[\d.]+)", r"at least \1", text)


def _nothing(**_: object) -> None:
    """A command that has the common options alone."""


def _walk(path: tuple[str, ...], command: click.Command) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _walk((*path, name), inner)


def _names(parameter: click.Parameter) -> str:
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _arguments(command: click.Command) -> list[str]:
    return [each.make_metavar(click.Context(command)) for each in command.params if isinstance(each, click.Argument)]


def _table(command: click.Command, without: tuple[str, ...]) -> list[str]:
    rows = []
    for each in command.params:
        if isinstance(each, click.Option) and not each.hidden and _names(each) not in without:
            record = each.get_help_record(click.Context(command))
            assert record is not None
            rows.append(f"| {_names(each)} | {_marked(_range(' '.join(record[1].split())))} |")
    return ["| option | |", "|---|---|", *rows] if rows else []


def main() -> None:
    """Write it."""
    text = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)[0]
    DOCUMENT.write_text(text + reference(), encoding="utf-8")
    print(f"wrote {DOCUMENT}", file=sys.stderr)


if __name__ == "__main__":
    main()
