"""``kafka pipeline init``: creates a project with a pipeline, test cases, sample data and instructions."""

from pathlib import Path

import click

from kafka.cli.command_output import Output
from kafka.cli.pipeline.pipeline_options import with_output

_NEXT = """\
Next:
  cd {directory}
  kafka pipeline test flights.yaml
README.md says how to run the pipeline."""


@click.command(name="init")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "-b",
    "--bootstrap-servers",
    "--bootstrap-server",
    multiple=True,
    metavar="HOST:PORT",
    help="Bootstrap brokers of the pipeline; repeatable. [default: localhost:9092]",
)
@with_output
def command(output: Output, directory: Path, bootstrap_servers: tuple[str, ...]) -> None:
    """Create a project in DIRECTORY: a pipeline, its test cases, sample data and a README.

    Files that exist are not overwritten: the command then writes nothing, and exits with 2.
    """
    from kafka.pipelines.project import create

    created = create(directory, ",".join(bootstrap_servers) or "localhost:9092")
    text = "\n".join([*(f"created {path}" for path in created), _NEXT.format(directory=directory)])
    output.done(text, {"directory": str(directory), "files": [str(path) for path in created]})
