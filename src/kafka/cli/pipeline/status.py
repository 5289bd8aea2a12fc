"""``kafka pipeline status``: whether a pipeline runs, how far it has come, and what it has counted."""

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.command_output import Output, note, printable
from kafka.cli.pipeline.pipeline_options import with_pipeline

if TYPE_CHECKING:
    from kafka.pipelines import Declaration
    from kafka.pipelines.run_history import Totals
    from kafka.pipelines.status import PipelineStatus


@click.command(name="status")
@click.option("--partitions", "by_partition", is_flag=True, help="Show each partition of the sources.")
@with_pipeline
def command(output: Output, declaration: "Declaration", file: Path, by_partition: bool) -> None:
    """Show whether the pipeline in FILE runs, its last micro-batch, its counts, rates and lag, and unfinished replays.

    This needs neither Spark nor a broker: without one, it shows what the directory of the pipeline says. A pipeline
    whose last run was killed is shown as such if it ran on this machine.

    \b
    Exit statuses:
    0    the status was shown
    1    a file in the directory of the pipeline is invalid
    2    FILE or an option is wrong
    """
    from kafka.pipelines.status import status_of

    status = status_of(declaration)
    if output.as_json:
        output.data(status.to_dict())
        return
    output.fields(_summary(status))
    _show_sources(output, status, by_partition)
    if status.dead_by_rule:
        click.echo()
        rows = [{"rule": name, "dead_letters": count} for name, count in status.dead_by_rule.items()]
        output.table(rows, ["rule", "dead_letters"])
    for plan in status.unfinished:
        text = f"{plan.kind} {plan.number} is not finished: {plan.done} of {len(plan.slices)} slices are done"
        note(f"{text}; kafka pipeline {plan.kind} {file} continues it")
    if status.broker_error is not None:
        note(f"no broker responded, so the lag is unknown: {printable(status.broker_error)}")


def _summary(status: "PipelineStatus") -> dict[str, Any]:
    batch, totals = status.last_batch, status.totals
    found: dict[str, Any] = {"pipeline": status.pipeline, "state": status.state}
    if status.cause:
        found["cause"] = status.cause
    if status.last_event is not None:
        found["last_event"] = f"{status.last_event.time} ({_age(status.age)} ago)"
    if batch is not None:
        found["last_batch"] = f"{batch.batch}: {batch.rows:,} rows in {batch.seconds or 0:.1f} s"
    if status.unfinished_batch is not None:
        found["unfinished_batch"] = status.unfinished_batch
    found["rows"] = _counts(totals)
    for kind, each in status.other_totals.items():
        found[f"rows_of_{kind}s"] = _counts(each)
    if totals.late:
        found["late_rows"] = totals.late
    if totals.untimed:
        found["rows_without_a_time"] = totals.untimed
    if totals.rate is not None:
        recent = "" if status.recent_rate is None else f", recently {status.recent_rate:,.0f}"
        found["rows_per_second"] = f"{totals.rate:,.0f}{recent}"
    found["directory"] = str(status.directory)
    return found


def _counts(totals: "Totals") -> str:
    out = "unknown" if totals.out is None else f"{totals.out:,}"
    return f"{totals.rows:,} in, {out} out, {totals.dead:,} dead, {totals.dropped:,} dropped"


def _age(age: datetime.timedelta | None) -> str:
    seconds = 0 if age is None else max(0, int(age.total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _show_sources(output: Output, status: "PipelineStatus", by_partition: bool) -> None:
    click.echo()
    if not by_partition:
        rows = [
            {
                "source": each.name,
                "rows": each.rows,
                "processed": each.processed,
                "dropped": each.dropped,
                "dead": each.dead,
                "lag": each.lag,
            }
            for each in status.sources
        ]
        output.table(rows, ["source", "rows", "processed", "dropped", "dead", "lag"])
        return
    partitions = [
        {
            "source": source.name,
            "topic": each.partition.topic,
            "partition": each.partition.partition,
            "offset": each.offset,
            "end": each.end,
            "lag": each.lag,
        }
        for source in status.sources
        for each in source.partitions
    ]
    output.table(partitions, ["source", "topic", "partition", "offset", "end", "lag"])
