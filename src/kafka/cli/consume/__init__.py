"""``kafka consume``: prints records from topics, or writes them to a file.

Contains the options and the main loop. `source.py` reads the records, `selection.py` filters them, `formats.py` and
`arrow_formats.py` write them. Data stays in columns throughout; only formats that need records create them.
"""

import datetime
import pathlib
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.command_output import note
from kafka.cli.common_options import at_least_one, complete_group, connected, count_option, topic_option
from kafka.cli.name_search import matching_topics, name_pattern, regex_option
from kafka.cli.position_syntax import DURATION, POSITION, Position, instant
from kafka.cli.session import Session
from kafka.cli.typed_values import Typed, note_likely_mistakes, with_typed_values

if TYPE_CHECKING:
    from kafka.cli.consume.record_sink import RecordSink
    from kafka.cli.consume.selection import Selection
    from kafka.cli.consume.source import Source
    from kafka.structs import TopicPartition

_OPTIONS: list[Callable[[Callable[..., None]], Callable[..., None]]] = [
    click.option(
        "--from", "--start", "--offset", "start", type=POSITION, help="Position to start at. [default: earliest]"
    ),
    click.option(
        "--to", "--until", "--end", "end", type=POSITION, help="Position to stop at. [default: the current end]"
    ),
    click.option(
        "-F",
        "--follow",
        is_flag=True,
        help="Keep reading new records; starts at the end unless --from or --last is given.",
    ),
    count_option(
        "--last",
        metavar="N",
        help="Read only the last N records of each partition; filters such as --key and --grep apply to these.",
    ),
    count_option("-n", "-c", "--max-records", "--max-messages", help="Stop after this many records."),
    count_option(
        "-p",
        "--partition",
        "partitions",
        minimum=0,
        metavar="NUMBER",
        multiple=True,
        help="Read only this partition; repeatable.",
    ),
    click.option(
        "-g",
        "--group",
        metavar="GROUP",
        help="Read as a member of this group and commit its offsets.",
        shell_complete=complete_group,
    ),
    click.option("-i", "--group-instance-id", metavar="ID", help="Static member id (group.instance.id)."),
    click.option(
        "--share-group",
        metavar="GROUP",
        help="Read as a member of this share group (Kafka 4.2) and acknowledge what is written.",
        shell_complete=complete_group,
    ),
    click.option(
        "-f",
        "--format",
        "name",
        metavar="NAME",
        help="Output format: text, hex, json, csv, parquet, arrow, or a template such as '%t %p %o %T %k %s %h\\n'. "
        "[default: from the file name, otherwise text]",
    ),
    click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=pathlib.Path), help="Write to this file."),
    click.option(
        "--tee",
        type=click.Path(dir_okay=False, path_type=pathlib.Path),
        help="Also write the records to this file, in the format of its name.",
    ),
    click.option("--as-text", is_flag=True, help="Write JSON values as text instead of nested JSON (json)."),
    click.option(
        "-K", "--key-separator", metavar="TEXT", help="Write keys too, followed by this separator (text, hex)."
    ),
    click.option(
        "-D", "--delimiter", default="\\n", show_default=True, help="Delimiter after each record (text, hex)."
    ),
    click.option("--null", default="", metavar="TEXT", help="Text to write for null (text, hex, csv)."),
    click.option(
        "--encoding",
        metavar="NAME",
        help="Decode keys and values from this encoding and write UTF-8 (text). [default: write bytes unchanged]",
    ),
    click.option("--key", "keys", multiple=True, metavar="TEXT", help="Only records with this key; repeatable."),
    click.option("--key-regex", metavar="REGEX", help="Only records whose key matches REGEX."),
    click.option(
        "--header", "headers", multiple=True, metavar="NAME[=VALUE]", help="Only records with this header; repeatable."
    ),
    click.option("--grep", metavar="REGEX", help="Only records whose value matches REGEX."),
    click.option(
        "-w",
        "--where",
        "condition",
        metavar="EXPRESSION",
        help="Only records for which EXPRESSION is true, such as \"value.status = 'PAID' and value.amount > 10\".",
    ),
    click.option("--read-committed", is_flag=True, help="Skip records of aborted transactions."),
    click.option("--idle-timeout", type=DURATION, help="Stop when no record arrives for this long."),
    click.option("--skip-bad", is_flag=True, help="Skip records that --key-format and --value cannot decode."),
    click.option("--progress/--no-progress", default=None, help="Show a progress bar on standard error."),
]

_TIMES_FROM = 10**11
"""Offsets at or above this value are most likely times in milliseconds, in 1973 or later."""
_NAMES = {"start": "--from", "end": "--to", "partitions": "--partition"}
"""Parameters whose options have other names."""
_SHARED_OUT = "brokers distribute the records among the group's members"
_GROUP_CONFIG = "set it on the group: 'kafka configs alter group {{}} {}'"
_NOT_FOR_SHARES = {
    "group": "a member belongs to only one group",
    "group_instance_id": "share groups have no static members",
    "start": _GROUP_CONFIG.format("share.auto.offset.reset=earliest") + ", or move the group with 'kafka groups reset'",
    "end": _SHARED_OUT,
    "last": _SHARED_OUT,
    "partitions": _SHARED_OUT,
    "read_committed": _GROUP_CONFIG.format("share.isolation.level=read_committed"),
}
"""Options that share groups do not support, with the reasons."""


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(name="consume")
@topic_option
@regex_option
@_with_options
@with_typed_values
@connected
def command(
    session: Session,
    topics: list[str],
    regex: bool,
    name: str | None,
    output: pathlib.Path | None,
    tee: pathlib.Path | None,
    as_text: bool,
    key_separator: str | None,
    delimiter: str,
    null: str,
    encoding: str | None,
    progress: bool | None,
    skip_bad: bool,
    typed: Typed,
    **where: Any,
) -> None:
    """Print records from topics. Stops at their current end unless --follow, --group or --share-group is given.

    POSITION is an offset, earliest, latest, a local time such as 2026-01-31T12:00, milliseconds since 1970 such as
    @1767225600000, or how long ago, such as 15m, 2h or 3d.
    """
    from kafka.cli.consume.record_sink import open_sink
    from kafka.cli.escapes import as_typed, unescaped_option

    at_least_one("topic", topics)
    if where["condition"] is not None:
        _check_names(topics)
    try:
        end = unescaped_option("--delimiter", delimiter) or b""
        between = unescaped_option("--key-separator", key_separator)
        selection = _selection(where)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    _check_group(where)
    look = (end, between, as_typed(null), encoding)
    if tee is not None and output is not None:
        raise click.UsageError("--tee and --output are mutually exclusive: --tee writes to standard output as well")
    copy = None if tee is None else open_sink(None, tee, False, *look, as_text=as_text)
    sink = open_sink(
        name, output, session.output.as_json, *look, colors=session.output.colors, as_text=as_text, tee=copy
    )
    if typed and sink.is_arrow:
        raise click.UsageError(
            "--value and --key-format apply to text, json, csv and templates: parquet and arrow contain bytes; for "
            "typed columns, use kafka.read(topic, value=...) in Python"
        )
    note_likely_mistakes(typed, where["keys"], writes=False)
    if skip_bad and not typed:
        raise click.UsageError("--skip-bad requires --value or --key-format")
    if where["share_group"] is not None and not sink.is_safe:
        raise click.UsageError(
            "parquet and --share-group are mutually exclusive: a Parquet file is complete only once it is closed, "
            "and records of a share group are not locked for that long; arrow is written as records arrive"
        )
    session.refuse_settings(_no_effect(where))
    if where["read_committed"]:
        session.settings["isolation_level"] = "read_committed"
    if progress is None:
        progress = output is not None and sys.stderr.isatty()
    began = time.monotonic()
    source = _source(session, topics, regex, where, progress, lambda: sink.is_safe)
    try:
        _copy(source, selection, sink, typed, skip_bad)
        if not sink.records:
            _explain_nothing(source, selection, where)
    finally:
        if output is not None and sink.is_open and not session.output.as_json:
            seconds = max(time.monotonic() - began, 1e-6)
            note(f"{sink.records:,} records in {seconds:.1f} s, {sink.records / seconds:,.0f} per second, to {output}")
        elif tee is not None and sink.is_open:
            note(f"{sink.records:,} records also written to {tee}")
        if sink.remark is not None:
            note(sink.remark)


def _explain_nothing(source: "Source", selection: "Selection", where: dict[str, Any]) -> None:
    """If nothing was found, report the range that was searched, because the wanted records may be elsewhere."""
    start, searched = where["start"], source.searched()
    if isinstance(start, int) and start >= _TIMES_FROM:
        note(f"no record has offset {start} or higher; to give milliseconds, write @{start}")
    elif searched is not None and selection.has_filters:
        note(f"0 of {selection.looked_at:,} records matched; {searched}")
        if selection.condition is not None and selection.last is not None:
            from kafka.filters import differing_types, missing_fields

            record = selection.last
            for hint in (*missing_fields(selection.condition, record), *differing_types(selection.condition, record)):
                note(f"the last record: {hint}")
    elif searched is not None and (start is not None or where["end"] is not None):
        note(f"no records found; {searched}")


def _check_order(start: Position | None, end: Position | None) -> None:
    """Raise `click.UsageError` if the start is after the end."""
    if isinstance(start, int) and isinstance(end, int):
        is_reversed = start > end
    else:
        first, last = (None if each is None else instant(each) for each in (start, end))
        is_reversed = first is not None and last is not None and first > last
    if is_reversed:
        raise click.UsageError("--from is after --to, so there is nothing in between: swap them, or leave one out")


def _copy(source: "Source", selection: "Selection", sink: "RecordSink", typed: Typed, skips: bool) -> None:
    """Write selected records until the source ends or the limit is reached."""
    from kafka.cli.consume.source import closing
    from kafka.cli.consume.typed import TypedRecords

    source.on_pause = sink.check_reader
    with closing(source), TypedRecords(typed, skips) as records, sink:
        for columns in source.columns():
            for each in records.of(columns):
                piece = selection.take(each)
                sink.write(piece, source.written)
                if selection.complete:
                    return


_OPERATORS = {"=", "==", "!=", "<>", "and", "or", "in", "like", "matches", "contains", "is"}


def _check_names(topics: Iterable[str]) -> None:
    """Raise `click.UsageError` if the names of topics are probably words of an unquoted condition."""
    if word := next((each for each in topics if each.lower() in _OPERATORS), None):
        raise click.UsageError(
            f"expected names of topics, found {word!r}: put the whole condition of --where in quotes, such as --where "
            "\"value.status = 'PAID'\""
        )


def _selection(where: dict[str, Any]) -> "Selection":
    from kafka.cli.consume.selection import Selection

    headers = [
        (name, value if equals else None) for name, equals, value in (h.partition("=") for h in where["headers"])
    ]
    condition = None
    if where["condition"] is not None:
        from kafka.cli.consume.unquoted import check_unquoted
        from kafka.filters import Filter, FilterError

        try:
            condition = Filter(where["condition"])
        except FilterError as error:
            raise ValueError(f"--where: {error}") from None
        check_unquoted(where["condition"])
    return Selection(where["keys"], where["key_regex"], headers, where["grep"], where["max_records"], condition)


_BEGINNINGS = ("auto_offset_reset", "auto_offset_reset_new_partitions")
"""Settings that are overridden by --from."""


def _no_effect(where: dict[str, Any]) -> dict[str, str]:
    """Return settings that have no effect because the command sets them, each with an explanation or an alternative."""
    if where["share_group"] is not None:
        return {"group_id": "use --share-group", "share_acknowledgement_mode": "written records are accepted"}
    commits = {"enable_auto_commit": "with --group, written records are committed; without it, nothing is"}
    if where["group"] is not None:
        named = {"group_id": "use --group", "group_instance_id": "use --group-instance-id"}
        return {**commits, **named}
    return {
        **commits,
        "group_id": "use --group to join a group",
        "group_instance_id": "use --group and --group-instance-id to join a group",
        **({} if _is_given(where["start"]) else dict.fromkeys(_BEGINNINGS, "use --from")),
        **({} if where["follow"] else {"on_topic_recreated": "it applies only to --follow and --group"}),
    }


def _is_given(value: Any) -> bool:
    """Return whether an option was given; 0 counts as a value."""
    return value is not None and value is not False and value != ()


def _check_share_group(where: dict[str, Any]) -> None:
    """Raise `click.UsageError` for options that share groups do not support."""
    for option, why in _NOT_FOR_SHARES.items():
        if _is_given(where[option]):
            name = _NAMES.get(option, "--" + option.replace("_", "-"))
            raise click.UsageError(
                f"{name} and --share-group are mutually exclusive: {why.format(where['share_group'])}"
            )


def _check_group(where: dict[str, Any]) -> None:
    """Raise `click.UsageError` for mutually exclusive options."""
    if where["share_group"] is not None:
        _check_share_group(where)
        return
    if where["group"] is None:
        if where["group_instance_id"] is not None:
            raise click.UsageError("--group-instance-id requires --group")
        if where["follow"] and where["end"] is not None:
            raise click.UsageError("--follow never ends: leave out --to or --follow")
        _check_order(where["start"], where["end"])
        return
    for option in ("end", "last", "partitions"):
        if _is_given(where[option]):
            name = _NAMES.get(option, f"--{option}")
            raise click.UsageError(
                f"{name} and --group are mutually exclusive: the group's offsets determine the position"
            )
    if where["start"] not in (None, "earliest", "latest"):
        raise click.UsageError(
            "with --group, --from must be earliest or latest, for partitions without committed offsets; 'kafka "
            "groups reset' moves the group"
        )


def _source(
    session: Session,
    topics: list[str],
    regex: bool,
    where: dict[str, Any],
    progress: bool,
    is_safe: Callable[[], bool],
) -> "Source":
    from kafka.cli.consume.source import Following, InGroup, Snapshot, open_read

    timeout: datetime.timedelta | None = where["idle_timeout"]
    idle_s = None if timeout is None else timeout.total_seconds()
    start: Position | None = where["start"]
    pattern = name_pattern(topics) if regex else None
    if pattern is not None and where["group"] is None:
        with session.admin() as admin:
            topics = matching_topics(admin, pattern)
    if where["share_group"] is not None:
        from kafka.cli.consume.source import InShareGroup

        return InShareGroup(session, topics, where["share_group"], where["max_records"], idle_s)
    if where["group"] is not None:
        configs = {"group_id": where["group"], "group_instance_id": where["group_instance_id"]}
        reset = str(start or session.settings.get("auto_offset_reset") or "earliest")
        return InGroup(session, pattern or topics, configs, reset, idle_s, is_safe)
    if where["follow"]:
        begin: Position = start if start is not None else "latest" if where["last"] is None else "earliest"
        read = open_read(session, _targets(topics, where), begin, last=where["last"])
        return Following(session, read, idle_s)
    bounds: dict[str, Any] = {"end": where["end"]} if where["end"] is not None else {}
    if idle_s is not None:
        bounds["timeout_ms"] = idle_s * 1000
    begin = "earliest" if start is None else start
    return Snapshot(
        open_read(
            session, _targets(topics, where), begin, last=where["last"], progress=_bar if progress else False, **bounds
        )
    )


def _targets(topics: list[str], where: dict[str, Any]) -> "list[str | TopicPartition]":
    from kafka.structs import TopicPartition

    if not where["partitions"]:
        return list(topics)
    return [TopicPartition(topic, number) for topic in topics for number in where["partitions"]]


def _bar(done: int, total: int) -> None:
    """Draw a progress bar over the previous one; the last one ends the line."""
    share = done / total if total else 1.0
    filled = round(share * 30)
    end = "\n" if done >= total else ""
    click.echo(f"\r[{'#' * filled}{'-' * (30 - filled)}] {share:4.0%} of {total:,} offsets{end}", nl=False, err=True)
