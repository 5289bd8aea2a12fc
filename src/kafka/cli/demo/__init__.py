"""``kafka demo``: a year of real flights through a broker and Spark, checked against plain pandas.

``flights`` reads the data, ``ingest`` sends them as JSON, ``pipeline`` is the Spark query, ``expected`` the same
computation in pandas, ``check`` compares the two, ``run`` puts it together and ``report`` prints it.
"""

import pathlib

import click

from kafka.cli.demo.run import run


@click.command(name="demo")
@click.option(
    "--bootstrap-servers",
    metavar="HOST:PORT,...",
    help="Run on this cluster instead of an embedded broker of the demo's own.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    default=pathlib.Path("demo-output"),
    show_default=True,
    help="Folder for the Parquet files; those of an earlier run are replaced.",
)
@click.option(
    "--flights",
    type=click.IntRange(1),
    default=None,
    help="Take only the first so many flights of the year.",
)
def command(bootstrap_servers: str | None, output: pathlib.Path, flights: int | None) -> None:
    """Stream a year of flights through a broker and Spark.

    All 336,776 flights that left New York in 2013 go into the topic `flights` as JSON. Spark reads the topic as a
    stream, joins airlines and airports, and computes the delays by origin and hour, which go to the topic
    `flight_delays` and to Parquet files. The result is compared with the same computation in pandas.
    """
    run(bootstrap_servers=bootstrap_servers, output=output, limit=flights)


__all__ = ["command"]
