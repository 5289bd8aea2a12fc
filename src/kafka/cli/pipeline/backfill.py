"""``kafka pipeline backfill``: processes older records of the sources, next to the running pipeline."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.command_output import Output
from kafka.cli.pipeline.pipeline_options import with_query
from kafka.cli.pipeline.slices_display import SlicesCommand, parse_range, with_slices, with_times
from kafka.cli.pipeline.spark_session import SessionChoice, with_session
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.pipelines.declaration import Declaration

_FORM = "TOPIC-PARTITION:START-END, such as flights-0:100-200"


@click.command(name="backfill")
@with_query
@with_times("records with timestamps")
@click.option(
    "--offsets",
    multiple=True,
    metavar="TOPIC-PARTITION:START-END",
    help="Only these offsets of the sources; END is exclusive, and can be left out. Repeatable.",
)
@click.option("--to", metavar="TOPIC", help="Topic to write to, instead of the sink in FILE.")
@with_slices
@with_session
def command(
    output: Output,
    declaration: "Declaration",
    file: Path,
    since: datetime.datetime | None,
    until: datetime.datetime | None,
    offsets: tuple[str, ...],
    to: str | None,
    slice_offsets: int,
    choice: SessionChoice,
    function: Callable[..., Any] | None,
) -> None:
    """Process a range of the sources' records with the pipeline in FILE, next to the running pipeline.

    Without options, this processes all records in the sources' topics, also those that the pipeline has processed:
    their results are then in the sink twice, unless --to names another topic. Ctrl-C and SIGTERM stop a backfill
    between two slices, and the same command continues it.

    \b
    Exit statuses:
    0    the records have been processed, or there are none
    1    the backfill failed, or another one is running
    2    FILE or an option is wrong
    3    no broker or schema registry responds
    130  Ctrl-C stopped the backfill
    143  SIGTERM stopped the backfill
    """
    from kafka.pipelines.backfill import backfill

    ranges = _ranges(offsets)
    SlicesCommand(output, declaration, file, "backfill", "records").run(
        choice,
        slice_offsets,
        lambda spark, given: backfill(
            declaration, spark, since=since, until=until, offsets=ranges, to=to, function=function, **given
        ),
    )


def _ranges(offsets: tuple[str, ...]) -> dict[TopicPartition, tuple[int, int]] | None:
    found: dict[TopicPartition, tuple[int, int]] = {}
    for text in offsets:
        name, ends = parse_range(text, _FORM)
        topic, dash, number = name.rpartition("-")
        if not dash or not topic or not number.isdecimal():
            raise click.UsageError(f"--offsets: expected {_FORM}, got {text!r}")
        partition = TopicPartition(topic, int(number))
        if partition in found:
            raise click.UsageError(f"--offsets: partition {name} is there twice; expected one range of each")
        found[partition] = ends
    return found or None
