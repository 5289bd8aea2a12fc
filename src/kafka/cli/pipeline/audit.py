"""``kafka pipeline audit``: whether each record of the sources is in the sink, or in the dead letters, or left out.

`kafka.pipelines.audit` does the work.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.command_output import Output, note, printable
from kafka.cli.common_options import partition_of
from kafka.cli.pipeline.pipeline_options import with_query
from kafka.cli.pipeline.spark_session import SessionChoice, log_file, with_session
from kafka.cli.position_syntax import POSITION, Position

if TYPE_CHECKING:
    from kafka.pipelines import Declaration
    from kafka.pipelines.audit import AuditResult
    from kafka.structs import TopicPartition

_COLUMNS = ["topic", "partition", "start", "end", "in", "out", "filtered", "dropped", "dead", "faults"]


@click.command(name="audit")
@click.option(
    "--partition",
    "partitions",
    multiple=True,
    metavar="TOPIC:PARTITION",
    help="Only this partition of the sources; repeatable.",
)
@click.option(
    "--from",
    "start",
    type=POSITION,
    metavar="POSITION",
    default="earliest",
    help="First offset or time of the sources to audit. [default: the first offset that the pipeline read]",
)
@click.option(
    "--to",
    "end",
    type=POSITION,
    metavar="POSITION",
    default="latest",
    help="Offset or time at which to stop. [default: the end of the last complete micro-batch]",
)
@click.option(
    "--no-recompute",
    is_flag=True,
    help="Do not evaluate the rules and the query again. This needs no Spark, but missing rows are only counted.",
)
@with_session
@with_query
def command(
    output: Output,
    declaration: "Declaration",
    file: Path,
    partitions: tuple[str, ...],
    start: Position,
    end: Position,
    no_recompute: bool,
    choice: SessionChoice,
    function: Callable[..., Any] | None,
) -> None:
    """Balance the records that the pipeline in FILE has read: in = out + filtered + dropped + dead, by partition.

    Each record must be in the sink once, or have a dead letter, or be dropped by a rule or filtered out by the query.
    To verify the latter, Spark evaluates the rules and the query again. The audit writes nothing, and the pipeline can
    run meanwhile. The command names the offsets of everything that does not add up.

    \b
    Exit statuses:
    0    everything adds up
    1    it does not
    2    FILE or an option is wrong
    3    no broker or schema registry responds
    """
    from kafka.pipelines.audit import audit_pipeline, check_topics

    chosen: list[TopicPartition] = [_partition(text) for text in partitions]
    given: dict[str, Any] = {"partitions": chosen, "start": start, "end": end, "function": function}
    if no_recompute:
        result = audit_pipeline(declaration, recompute=False, **given)
    else:
        check_topics(declaration, chosen)  # before the session, which takes seconds to start
        with choice.session(f"{declaration.pipeline} audit", log_file(declaration, "audit")) as spark:
            result = audit_pipeline(declaration, spark, **given)
    if output.as_json:
        output.data(result.to_dict())
    else:
        _show(output, result)
    if not result.balances:
        raise click.exceptions.Exit(1)


def _partition(text: str) -> "TopicPartition":
    from kafka.structs import TopicPartition

    return TopicPartition(*partition_of(text))


def _show(output: Output, result: "AuditResult") -> None:
    output.table(result.rows(), _COLUMNS)
    for text in result.notes:
        note(f"note: {printable(text)}")
    for fault in result.faults:
        click.echo(printable(str(fault)))
    if (groups := result.groups) is not None:
        note(
            f"windows: {groups.groups:,} compared, {groups.expected:,} rows expected, {groups.found:,} in the sink; "
            f"{groups.late:,} rows late, {groups.open:,} windows open"
        )
    total = result.total
    late = f" (of them {result.late:,} rows late)" if result.late else ""
    sums = (
        f"{total.records:,} in, {total.out:,} out{late}, {total.filtered:,} filtered, {total.dropped:,} dropped, "
        f"{total.dead:,} dead"
    )
    if total.unaccounted:
        sums += f", {total.unaccounted:,} unaccounted for"
    if result.balances:
        note(f"balances: {sums}" if result.partitions else "nothing to audit: the pipeline has not read any records")
    else:
        kinds = len(result.faults)
        note(f"does not balance: {sums}; {kinds} fault{'' if kinds == 1 else 's'}")
