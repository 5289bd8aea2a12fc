"""The options of ``kafka produce``."""

import pathlib
import sys
from typing import IO, Any

import click

from kafka._compression import Compression
from kafka.cli.escapes import as_typed
from kafka.cli.file_formats import LINES, check_installed, format_of
from kafka.cli.options import complete_topic, connected, delivery, one
from kafka.cli.session import Session
from kafka.cli.typed_values import Translator, Typed, note_likely_mistakes, typed_bytes, with_typed_values

_FORMATS = (*LINES, "json", "csv", "parquet", "arrow")


@click.command(name="produce")
@click.argument("topic", required=False, shell_complete=complete_topic)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=pathlib.Path))
@click.option(
    "-t",
    "--topic",
    "topic_option",
    metavar="TOPIC",
    help="The same as TOPIC; arguments are files then.",
    shell_complete=complete_topic,
)
@click.option(
    "-f",
    "--format",
    "name",
    type=click.Choice(_FORMATS),
    help="[default: lines, or what a file's name says]",
)
@click.option("-K", "--key-separator", metavar="TEXT", help="Lines have a key, with this behind it.")
@click.option("-D", "--delimiter", default="\\n", show_default=True, help="What ends a line.")
@click.option("--null", metavar="TEXT", help="A value of this text is null, a tombstone (lines, CSV).")
@click.option("--encoding", help="What lines, of UTF-8, are sent in. [default: as they are]")
@click.option("-k", "--key", metavar="TEXT", help="The key of records that have none.")
@click.option(
    "-H", "--header", "headers", multiple=True, metavar="NAME=VALUE", help="A header of all; may be repeated."
)
@click.option("-p", "--partition", type=click.IntRange(0), help="Where all go. [default: by key, else spread]")
@click.option("--keep-partitions", is_flag=True, help="JSON, CSV and Arrow: to the partition that a record names.")
@click.option("--timestamp", type=int, metavar="MS", help="Milliseconds since 1970 of records that have none.")
@click.option(
    "--key-column", metavar="NAME", help="CSV, Parquet, Arrow: rows become JSON, with this column as the key."
)
@click.option("-z", "--compression", type=click.Choice([each.option for each in Compression]), help="The codec.")
@click.option("--acks", type=click.Choice(["0", "1", "all"]), help="Who has to have a record. [default: all]")
@click.option("--progress/--no-progress", default=None, help="Count on standard error.")
@with_typed_values
@connected
def command(
    session: Session,
    topic: str | None,
    files: tuple[pathlib.Path, ...],
    topic_option: str | None,
    name: str | None,
    compression: str | None,
    acks: str | None,
    progress: bool | None,
    typed: Typed,
    **form: Any,
) -> None:
    """Send records to a topic, from FILES or standard input.

    A line is a record's value, unless --format or the file's name says otherwise.
    """
    if topic_option is not None:
        files = (pathlib.Path(topic), *files) if topic is not None else files
        topic = topic_option
    topic = one("topic", [topic] if topic is not None else [])
    from kafka.cli.produce.sending import BadInputError, Sending

    fixed = _fixed(form)
    form["lines"] = _lines(form)
    note_likely_mistakes(typed, [] if form["key"] is None else [form["key"]], writes=True)
    formats = [name or format_of(file) for file in files] if files else [name or "text"]
    for each in formats:
        check_installed(each)
    if progress is None:
        progress = bool(files) and sys.stderr.isatty()
    with Translator(typed) as translator, session.producer(**delivery(compression, acks)) as producer:
        sending = Sending(producer, topic, fixed, progress, typed_bytes(translator, typed))
        try:
            for file, its_format in zip(files, formats, strict=False):
                with open(file, "rb") as opened:
                    _send(sending, opened, its_format, form)
            if not files:
                _send(sending, sys.stdin.buffer, formats[0], form)
        except BadInputError as error:
            raise sending.told(error) from None
        sending.finish()
    sending.report(session.output)


def _fixed(form: dict[str, Any]) -> Any:
    from kafka.cli.options import pairs
    from kafka.cli.produce.sending import Fixed

    headers = tuple((name, as_typed(value)) for name, value in pairs(form["headers"]).items())
    key = None if form["key"] is None else as_typed(form["key"])
    return Fixed(key, headers, form["partition"], form["timestamp"])


def _send(sending: Any, file: IO[bytes], name: str, form: dict[str, Any]) -> None:
    if name == "json":
        from kafka.cli.produce.documents import send_documents

        send_documents(sending, file, form["keep_partitions"])
    elif name == "csv":
        from kafka.cli.produce.tables import send_csv

        send_csv(sending, file, form["key_column"], form["keep_partitions"], form["null"])
    elif name in ("parquet", "arrow"):
        from kafka.cli.produce.tables import send_arrow

        send_arrow(sending, name, file, form["key_column"], form["keep_partitions"])
    else:
        from kafka.cli.produce.lines import send_lines

        send_lines(sending, file, *form["lines"])


def _lines(form: dict[str, Any]) -> tuple[bytes, bytes | None, bytes | None, str | None]:
    """How lines are taken apart, as `send_lines` has it. Raises `click.UsageError`."""
    from kafka.cli.escapes import unescaped_option

    try:
        delimiter = unescaped_option("--delimiter", form["delimiter"]) or b""
        separator = unescaped_option("--key-separator", form["key_separator"])
        if not delimiter or separator == b"":
            raise ValueError("--delimiter and --key-separator expect at least one character")
        "".encode(form["encoding"] or "utf-8")
    except LookupError as error:
        raise click.UsageError(f"--encoding: {error}") from None
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    null = None if form["null"] is None else as_typed(form["null"])
    return delimiter, separator, null, form["encoding"]
