"""``kafka pipeline reset``: makes a pipeline start over. `kafka.pipelines.reset` does the work."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kafka.cli.command_output import Output, note, printable
from kafka.cli.common_options import confirm, yes_option
from kafka.cli.pipeline.pipeline_options import with_pipeline
from kafka.cli.pipeline.run_endings import failed_run

if TYPE_CHECKING:
    from kafka.pipelines import Declaration


@click.command(name="reset")
@yes_option
@with_pipeline
def command(output: Output, declaration: "Declaration", file: Path, yes: bool) -> None:
    """Make the pipeline in FILE start over: its next run starts like the first one.

    This deletes the checkpoint, the events, and the progress of replays and backfills, and aborts open transactions of
    the pipeline. Rows in the sink and dead letters remain: delete them, too, unless the sink has a key. Deleting
    only the directory is not enough, because the cluster stores which checkpoint may write the transactions.

    \b
    Exit statuses:
    0    the next run starts over
    1    the pipeline, a replay or a backfill is running
    2    FILE or an option is wrong
    3    no broker responds
    """
    from kafka.pipelines.directories import directory_of
    from kafka.pipelines.reset import reset

    directory = directory_of(declaration).base
    name = printable(declaration.pipeline)
    confirm(f"Delete the checkpoint, events and progress of pipeline {name} in {printable(str(directory))}?", yes)
    with failed_run():
        deleted = reset(declaration)
    if output.as_json:
        output.data({"pipeline": declaration.pipeline, "deleted": [str(path) for path in deleted]})
        return
    for path in deleted:
        click.echo(f"deleted {printable(str(path))}")
    note(f"{name}: the next run starts over")
