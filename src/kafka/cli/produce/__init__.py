"""``kafka produce``: sends records from standard input or files.

Contains the options. `lines.py` (lines and JSON) and `tables.py` read the input; `sending.py` sends and counts records.
"""

import pathlib
import sys
from typing import IO, Any

import click

from kafka.cli.command_output import note
from kafka.cli.common_options import (
    WholeNumber,
    acks_option,
    complete_topic,
    compression_option,
    connected,
    delivery,
    one,
)
from kafka.cli.escapes import as_typed
from kafka.cli.file_formats import LINES, check_installed, format_of
from kafka.cli.session import Session
from kafka.cli.typed_values import Translator, Typed, note_likely_mistakes, typed_bytes, with_typed_values

_TABLES = ("csv", "parquet", "arrow")
_FORMATS = (*LINES, "json", *_TABLES)
_APPLY_TO = {
    "key_separator": LINES,
    "encoding": LINES,
    "null": (*LINES, "csv"),
    "keep_partitions": ("json", *_TABLES),
    "key_column": _TABLES,
}
"""Options that only some formats have, and these formats."""


@click.command(name="produce")
@click.argument("topic", required=False, shell_complete=complete_topic)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=pathlib.Path))
@click.option(
    "-t",
    "--topic",
    "topic_option",
    metavar="TOPIC",
    help="Same as TOPIC; all arguments are then FILES.",
    shell_complete=complete_topic,
)
@click.option(
    "-f",
    "--format",
    "name",
    type=click.Choice(_FORMATS),
    help="Input format. [default: from the file name, otherwise lines]",
)
@click.option("-K", "--key-separator", metavar="TEXT", help="Separator between key and value in each line.")
@click.option("-D", "--delimiter", default="\\n", show_default=True, help="Delimiter at the end of each line.")
@click.option("--null", metavar="TEXT", help="Send values equal to TEXT as null, a tombstone (lines, CSV).")
@click.option(
    "--encoding", metavar="NAME", help="Encode the UTF-8 lines in this encoding. [default: send bytes unchanged]"
)
@click.option("-k", "--key", metavar="TEXT", help="Key of records without one.")
@click.option(
    "-H", "--header", "headers", multiple=True, metavar="NAME=VALUE", help="Header to add to all records; repeatable."
)
@click.option(
    "-p",
    "--partition",
    type=WholeNumber(0),
    metavar="NUMBER",
    help="Partition of all records. [default: by key, otherwise spread]",
)
@click.option("--keep-partitions", is_flag=True, help="Send each record to the partition it names (JSON, CSV, Arrow).")
@click.option(
    "--timestamp", type=int, metavar="MS", help="Timestamp of records without one, in milliseconds since 1970."
)
@click.option(
    "--key-column", metavar="NAME", help="Send rows as JSON, with this column as the key (CSV, Parquet, Arrow)."
)
@compression_option
@acks_option
@click.option("--progress/--no-progress", default=None, help="Show the number of records on standard error.")
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

    Each line is the value of a record, unless --format or the file name says otherwise.
    """
    if topic_option is not None:
        files = (pathlib.Path(topic), *files) if topic is not None else files
        topic = topic_option
    topic = one("topic", [topic] if topic is not None else [])
    from kafka.cli.produce.new_topics import new_topic
    from kafka.cli.produce.sending import BadInputError, Sending

    fixed = _fixed(form)
    form["lines"] = _lines(form)
    note_likely_mistakes(typed, [] if form["key"] is None else [form["key"]], writes=True)
    formats = [name or format_of(file) for file in files] if files else [name or "text"]
    _check_options(form, formats)
    for each in formats:
        check_installed(each)
    if progress is None:
        progress = bool(files) and sys.stderr.isatty()
    new = new_topic(session, topic)
    with Translator(typed) as translator, session.producer(**delivery(compression, acks)) as producer:
        sending = Sending(producer, topic, fixed, progress, typed_bytes(translator, typed))
        try:
            for file, its_format in zip(files, formats, strict=False):
                sending.begin_input()
                with open(file, "rb") as opened:
                    _send_file(sending, opened, file, its_format, form)
            if not files:
                _send_input(sending, formats[0], form)
        except BadInputError as error:
            raise sending.told(error) from None
        sending.finish()
    if new and sending.records:
        note(f"topic {topic} did not exist, so the broker created it{new.hint}")
    sending.report(session.output)


def _check_options(form: dict[str, Any], formats: list[str]) -> None:
    """Raise `click.UsageError` for an option that does not apply to any of the formats, and would have no effect."""
    for option, those in _APPLY_TO.items():
        if form[option] and not set(those) & set(formats):
            name = "--" + option.replace("_", "-")
            raise click.UsageError(f"{name} applies to the formats {', '.join(those)}; the input is {formats[0]}")


def _fixed(form: dict[str, Any]) -> Any:
    from kafka.cli.common_options import pairs
    from kafka.cli.produce.sending import Fixed

    headers = tuple((name, as_typed(value)) for name, value in pairs(form["headers"]).items())
    key = None if form["key"] is None else as_typed(form["key"])
    return Fixed(key, headers, form["partition"], form["timestamp"])


def _send_file(sending: Any, opened: IO[bytes], file: pathlib.Path, name: str, form: dict[str, Any]) -> None:
    """Send the records of a file. Errors about its content begin with the name of the file."""
    from kafka.cli.produce.sending import BadInputError

    try:
        _send(sending, opened, name, form)
    except (BadInputError, click.UsageError) as error:
        raise type(error)(f"{file}: {error.message}") from None


def _send_input(sending: Any, name: str, form: dict[str, Any]) -> None:
    """Send the records of standard input. Errors about reading it name it."""
    try:
        _send(sending, sys.stdin.buffer, name, form)
    except OSError as error:  # for example because the caller has closed it
        error.filename = error.filename or "standard input"
        raise


def _send(sending: Any, file: IO[bytes], name: str, form: dict[str, Any]) -> None:
    if name == "json":
        from kafka.cli.produce.lines import send_documents

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
    """Return the delimiter, separator, null text and encoding for `send_lines`. Raises `click.UsageError`."""
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
