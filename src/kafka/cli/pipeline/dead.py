"""``kafka pipeline dead``: the dead letters of a pipeline: how many, why, and what they contain.

`kafka.pipelines.dead_letters` reads them. The printing of bytes is in `payload_text`.
"""

import base64
import datetime
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.command_output import Output, note, printable
from kafka.cli.common_options import WholeNumber
from kafka.cli.pipeline.payload_text import indented, payload_text
from kafka.cli.pipeline.pipeline_options import with_pipeline
from kafka.cli.position_syntax import POSITION, Position, instant

if TYPE_CHECKING:
    from kafka.pipelines import Declaration
    from kafka.pipelines.dead_letters import Count, DeadLetter, DeadLetterTopic, Selection
    from kafka.pipelines.record_headers import Position as RecordPosition


@click.command(name="dead")
@click.option("--by-rule", is_flag=True, help="Count dead letters by rule, without showing them.")
@click.option("--rule", metavar="NAME", help="Only dead letters that fail this rule.")
@click.option(
    "--limit",
    type=WholeNumber(1),
    metavar="N",
    default=10,
    show_default=True,
    help="Maximum number of dead letters to show.",
)
@click.option("--oldest", is_flag=True, help="Begin with the oldest dead letter instead of the newest.")
@click.option(
    "--from", "start", type=POSITION, metavar="POSITION", default="earliest", help="First offset or time to read."
)
@click.option(
    "--to", "end", type=POSITION, metavar="POSITION", default="latest", help="Offset or time at which to stop."
)
@click.option(
    "--partition",
    "partitions",
    type=WholeNumber(0),
    multiple=True,
    metavar="N",
    help="Only this partition; repeatable.",
)
@click.option("--all-pipelines", is_flag=True, help="Show all records in the topic, also those of other programs.")
@click.option("--hex", "as_hex", is_flag=True, help="Show keys and values as hexadecimal bytes.")
@click.option(
    "--bytes",
    "most",
    type=WholeNumber(1),
    metavar="N",
    default=1_000,
    show_default=True,
    help="Maximum number of bytes of a key or value to show; --json prints all.",
)
@with_pipeline
def command(
    output: Output,
    declaration: "Declaration",
    file: Path,
    by_rule: bool,
    rule: str | None,
    limit: int,
    oldest: bool,
    start: Position,
    end: Position,
    partitions: tuple[int, ...],
    all_pipelines: bool,
    as_hex: bool,
    most: int,
) -> None:
    """Show the dead letters of the pipeline in FILE: how many, why, and the records themselves.

    Positions are offsets or times at which dead letters were written. A dead letter is open until a replay has
    processed it. If the replay rejects the record again, a new dead letter replaces it. The last line is the command
    that replays the dead letters shown.

    \b
    Exit statuses:
    0    the dead letters were read; there may be none
    1    the pipeline has no dead_letters
    2    FILE or an option is wrong
    3    no broker responds
    """
    from kafka.pipelines.client_configs import client_configs
    from kafka.pipelines.dead_letters import DeadLetterTopic, Selection
    from kafka.pipelines.replayed_letters import replayed_letters
    from kafka.pipelines.rule_names import check_rule

    if declaration.dead_letters is None:
        raise click.ClickException(
            f"pipeline {declaration.pipeline} has no dead_letters: name a topic for them in its declaration"
        )
    name = None if all_pipelines else declaration.pipeline
    selection = Selection(name, rule, _fixed(start), _fixed(end), partitions)
    topic = DeadLetterTopic(declaration.dead_letters.topic, client_configs(declaration))
    replayed = replayed_letters(declaration)
    count = topic.count_by_rule(selection, replayed)
    if rule is not None and rule not in count.rules:
        check_rule(declaration, rule, topic.count_by_rule(Selection(name)).rules)
    letters = [] if by_rule else list(topic.letters(selection, limit=limit, newest_first=not oldest))
    later = topic.later_attempts(letters)
    done = {each.position for each in letters if replayed.has(each.position, each.rules)}
    replay = _replay_command(file, selection, topic)
    if output.as_json:
        shown = {} if by_rule else {"dead_letters": [_json(each, later, each.position in done) for each in letters]}
        output.data({"topic": topic.topic, **_counts(count), **shown, "replay": replay})
        return
    _show_counts(output, count, topic, selection)
    for each in letters:
        _show(each, _attempt(each, later, each.position in done), as_hex, most)
    if count.open and not all_pipelines:
        note(f"\n{_next_step(declaration, file, replay)}")


def _next_step(declaration: "Declaration", file: Path, replay: str) -> str:
    """Say how the dead letters become rows."""
    from kafka.pipelines.checks.state import keeps_state

    if keeps_state(declaration):
        return (
            "The query keeps state, so dead letters cannot be replayed. Once corrected, process the time in question "
            f"again: kafka pipeline backfill {shlex.quote(str(file))} --since TIME --to TOPIC"
        )
    return f"Once corrected, replay them: {replay}"


def _counts(count: "Count") -> dict[str, Any]:
    return {
        "letters": count.letters,
        "superseded": count.superseded,
        "open": count.open,
        "other_records": count.others,
        "rules": [{"rule": name, **each._asdict()} for name, each in count.rules.items()],
    }


def _show_counts(output: Output, count: "Count", topic: "DeadLetterTopic", selection: "Selection") -> None:
    rows = [
        {
            "rule": name or "(none)",
            "dead_letters": each.letters,
            "replayed": each.letters - each.open,
            "open": each.open,
        }
        for name, each in count.rules.items()
    ]
    if rows:
        output.table(rows, ["rule", "dead_letters", "replayed", "open"])
    others = f"; {count.others:,} other records" if count.others else ""
    of = "" if selection.pipeline is None else f" of pipeline {selection.pipeline}"
    again = f", {count.open:,} of them open" if count.open < count.letters else ""
    noun = "dead letter" if count.letters == 1 else "dead letters"
    note(f"{count.letters:,} {noun}{of} in topic {topic.topic}{again}{others}")


def _show(letter: "DeadLetter", attempt: str, as_hex: bool, most: int) -> None:
    click.echo("")
    title = f"dead letter {_place(letter.position)}"
    if letter.source is not None:
        title += f" of {_place(letter.source)}"
    click.echo(printable(title))
    details = {
        "written": _time(letter.timestamp_ms),
        "pipeline": letter.pipeline,
        "rules": ", ".join(letter.rules),
        "cause": letter.cause,
        "attempt": attempt,
        "timestamp": _time(letter.source_timestamp_ms),
    }
    for name, text in details.items():
        if text:
            click.echo(f"  {name + ':':<11}{printable(text)}")
    for name, value in letter.headers:
        click.echo(f"  {'header:':<11}{printable(name)} = {payload_text(value, as_hex, most)}")
    for name, content in (("key", letter.key), ("value", letter.value)):
        click.echo(f"  {name + ':':<11}{indented(payload_text(content, as_hex, most), 13)}")


def _attempt(letter: "DeadLetter", later: dict["RecordPosition", int], is_replayed: bool) -> str:
    if not letter.attempt:
        return ""
    newest = later.get(letter.position)
    done = f" (superseded by attempt {newest})" if newest else " (replayed)" if is_replayed else ""
    return f"{letter.attempt}{done}"


def _place(position: "RecordPosition") -> str:
    return f"{position.topic}:{position.partition}:{position.offset}"


def _time(timestamp_ms: int | None) -> str:
    if timestamp_ms is None or timestamp_ms < 0:
        return ""
    try:
        return datetime.datetime.fromtimestamp(timestamp_ms / 1000, datetime.UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return f"{timestamp_ms} ms"


def _json(letter: "DeadLetter", later: dict["RecordPosition", int], is_replayed: bool) -> dict[str, Any]:
    source = letter.source
    return {
        "position": _json_position(letter.position),
        "source": None if source is None else _json_position(source),
        "pipeline": letter.pipeline,
        "rules": letter.rules,
        "cause": letter.cause,
        "attempt": letter.attempt,
        "superseded_by": later.get(letter.position),
        "replayed": is_replayed,
        "timestamp_ms": letter.timestamp_ms,
        "source_timestamp_ms": letter.source_timestamp_ms,
        "key": _base64(letter.key),
        "value": _base64(letter.value),
        "headers": [{"name": name, "value": _base64(value)} for name, value in letter.headers],
    }


def _json_position(position: "RecordPosition") -> dict[str, Any]:
    found = {"topic": position.topic, "partition": position.partition, "offset": position.offset}
    return found | ({"topic_id": position.topic_id} if position.topic_id else {})


def _base64(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()


def _replay_command(file: Path, selection: "Selection", topic: "DeadLetterTopic") -> str:
    """Return the command that replays a selection."""
    words: list[str] = ["kafka", "pipeline", "replay", str(file)]
    if selection.rule is not None:
        words += ["--rule", selection.rule]
    times = [each for each in (selection.start, selection.end) if isinstance(each, datetime.datetime)]
    if selection.partitions or any(isinstance(each, int) for each in (selection.start, selection.end)):
        for number, (start, end) in topic.ranges(selection).items():
            words += ["--offsets", f"{number}:{start}-{end}"] if start < end else []
    elif times:
        for option, bound in (("--since", selection.start), ("--until", selection.end)):
            words += [option, bound.isoformat()] if isinstance(bound, datetime.datetime) else []
    return shlex.join(words)


def _fixed(position: Position) -> str | int | datetime.datetime:
    """Return the time of a duration before now, so that all reads have the same bounds."""
    if isinstance(position, str | int):
        return position
    time = instant(position)
    assert time is not None
    return time
