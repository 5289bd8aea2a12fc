"""``kafka pipeline replay``: processes dead letters again."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.command_output import Output
from kafka.cli.pipeline.pipeline_options import with_query
from kafka.cli.pipeline.slices_display import SlicesCommand, parse_range, with_slices, with_times
from kafka.cli.pipeline.spark_session import SessionChoice, with_session

if TYPE_CHECKING:
    from kafka.pipelines.declaration import Declaration

_FORM = "PARTITION:START-END, such as 0:100-200"


@click.command(name="replay")
@with_query
@click.option("--rule", metavar="NAME", help="Only records that failed this rule.")
@click.option(
    "--offsets",
    multiple=True,
    metavar="PARTITION:START-END",
    help="Only these offsets of the dead-letter topic; END is exclusive, and can be left out. Repeatable.",
)
@with_times("dead letters that were written")
@click.option("--again", is_flag=True, help="Also replay dead letters that an earlier replay has processed.")
@with_slices
@with_session
def command(
    output: Output,
    declaration: "Declaration",
    file: Path,
    rule: str | None,
    offsets: tuple[str, ...],
    since: datetime.datetime | None,
    until: datetime.datetime | None,
    again: bool,
    slice_offsets: int,
    choice: SessionChoice,
    function: Callable[..., Any] | None,
) -> None:
    """Process dead letters of the pipeline in FILE again, each once, with the current declaration.

    Good rows go to the sink. A record that fails again becomes a new dead letter. Replay them after you have corrected
    the rules, the query or the schema; the pipeline can run meanwhile. Ctrl-C and SIGTERM stop a replay between two
    slices, and the same command continues it. A replay that did not finish is finished before another one starts.

    \b
    Exit statuses:
    0    the dead letters have been processed, or there are none
    1    the replay failed, or another one is running
    2    FILE or an option is wrong, or the query keeps state
    3    no broker or schema registry responds
    130  Ctrl-C stopped the replay
    143  SIGTERM stopped the replay
    """
    from kafka.pipelines.replay import replay
    from kafka.pipelines.rule_names import check_rule

    if rule is not None:
        check_rule(declaration, rule)
    ranges = _ranges(offsets)
    SlicesCommand(output, declaration, file, "replay", "dead letters").run(
        choice,
        slice_offsets,
        lambda spark, given: replay(
            declaration,
            spark,
            rule=rule,
            offsets=ranges,
            since=since,
            until=until,
            again=again,
            function=function,
            **given,
        ),
    )


def _ranges(offsets: tuple[str, ...]) -> dict[int, tuple[int, int]] | None:
    found: dict[int, tuple[int, int]] = {}
    for text in offsets:
        partition, ends = parse_range(text, _FORM)
        if not partition.isdecimal():
            raise click.UsageError(f"--offsets: expected {_FORM}, got {text!r}")
        if int(partition) in found:
            raise click.UsageError(f"--offsets: partition {partition} is there twice; expected one range of each")
        found[int(partition)] = ends
    return found or None
