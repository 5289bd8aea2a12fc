"""``kafka offsets``: shows the offsets of partitions, at their ends or at a time, and deletes old records."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.common_options import (
    at_least_one,
    confirm,
    connected,
    timeout_option,
    topic_option,
    without_effect,
    yes_option,
)
from kafka.cli.position_syntax import POSITION, Position
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient
    from kafka.structs import TopicPartition

_TO_THE_END = -1
"""The end of the log, in Kafka's requests and in files for kafka-delete-records."""


@click.group(name="offsets", cls=CommandGroup, aliases={"list-offsets": "list", "delete-records": "trim"})
def command() -> None:
    """Show offsets of partitions; delete records before an offset."""


@command.command(name="list")
@topic_option
@click.option(
    "--at", type=POSITION, help="Also show the offset at this position: a time, a duration ago, earliest or latest."
)
@click.option("-s", "--spec", metavar="POSITION", hidden=True)
@connected
def list_offsets(session: Session, topics: list[str], at: Position | None, spec: str | None) -> None:
    """Show the first and the next offset of each partition. TOPIC may be TOPIC:PARTITION."""
    from kafka.cli.topic_ranges import offsets_at, partitions_of
    from kafka.errors import KafkaError

    at_least_one("topic", topics)
    if spec is not None:  # kafka-python's option, for which a number is a time
        at = POSITION.convert(f"@{spec}" if spec.isdecimal() else spec, None, None)
    with session.admin() as admin:
        partitions = partitions_of(admin, topics)
        wanted: dict[str, Position] = {"earliest": "earliest", "latest": "latest"}
        if at is not None:
            wanted["at"] = at
        found = {name: offsets_at(admin, partitions, position) for name, position in wanted.items()}
    rows: list[dict[str, Any]] = []
    for tp in partitions:
        offsets = {name: each[tp] for name, each in found.items()}
        for error in offsets.values():
            if isinstance(error, KafkaError):
                raise error
        rows.append({"topic": tp.topic, "partition": tp.partition, **offsets})
    session.output.table(rows, ["topic", "partition", *found])


@command.command()
@topic_option
@click.option(
    "--before", type=POSITION, required=False, help="Delete records before this position: an offset, a time, or latest."
)
@click.option(
    "-r",
    "--record",
    "records",
    multiple=True,
    metavar="TOPIC:PARTITION:OFFSET",
    help="Delete one partition's records before OFFSET; repeatable.",
)
@yes_option
@click.option("--dry-run", is_flag=True, help="Show the offsets without deleting.")
@without_effect("--partition-leader-id", type=int)
@connected
@timeout_option
def trim(
    session: Session, topics: list[str], before: Position | None, records: tuple[str, ...], yes: bool, dry_run: bool
) -> None:
    """Delete the records before an offset. TOPIC may be TOPIC:PARTITION."""
    from kafka.cli.topic_ranges import offsets_at, partitions_of, triple

    if bool(topics) == bool(records) or (topics and before is None):
        raise click.UsageError("expected TOPIC and --before, or --record TOPIC:PARTITION:OFFSET")
    with session.admin() as admin:
        if records:
            wanted: dict[Any, Any] = dict(map(triple, records))
        else:
            assert before is not None
            partitions = partitions_of(admin, topics)
            is_offset = isinstance(before, int)
            wanted = dict.fromkeys(partitions, before) if is_offset else offsets_at(admin, partitions, before)
        wanted = _within_logs(admin, wanted)
        if not dry_run:
            confirm(f"Delete all records before these offsets in {len(wanted)} partitions?", yes)
            result = admin.delete_records(wanted)
            wanted = {tp: result[tp]["low_watermark"] for tp in wanted}
    rows = [{"topic": tp.topic, "partition": tp.partition, "earliest": offset} for tp, offset in wanted.items()]
    session.output.table(rows, ["topic", "partition", "earliest"])


def _within_logs(admin: "KafkaAdminClient", wanted: "Mapping[TopicPartition, Any]") -> "dict[TopicPartition, int]":
    """Return the new start of each log. Rejects invalid offsets before any record is deleted."""
    from kafka.cli.topic_ranges import offsets_at
    from kafka.errors import KafkaError

    first, ends = offsets_at(admin, wanted, "earliest"), offsets_at(admin, wanted, "latest")
    found = {}
    for tp, offset in wanted.items():
        for each in (offset, first[tp], ends[tp]):
            if isinstance(each, KafkaError):
                raise each
        if offset != _TO_THE_END and not 0 <= offset <= ends[tp]:
            raise click.ClickException(
                f"{offset} is out of range for {tp.topic}:{tp.partition}, which has offsets {first[tp]} to {ends[tp]} "
                "(OffsetOutOfRangeError); nothing was deleted. '--before latest' deletes all records"
            )
        found[tp] = ends[tp] if offset == _TO_THE_END else max(first[tp], offset)
    return found
