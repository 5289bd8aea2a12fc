"""``kafka demo``: a year of real flights through a broker and Spark, checked against plain pandas.

``flights`` reads the data, and ``ingest`` sends it as JSON. ``spark_driver`` is the process that runs the Spark
queries; ``driver_processes`` starts it, kills it and starts another. ``check`` compares the results with the same
computation in pandas. ``run`` runs all steps, ``report`` prints the figures, and ``page`` draws them.
"""

import pathlib

import click

from kafka.cli.common_options import count_option, given_before
from kafka.cli.demo.run import run

_NOT_TAKEN = {
    "--profile": "profile",
    "--config": "config_file",
    "-X": "extra_config",
    "--security-protocol": "security_protocol",
    "--sasl-mechanism": "sasl_mechanism",
    "--sasl-user": "sasl_user",
    "--sasl-password": "sasl_password",
}


@click.command(name="demo")
@click.option(
    "--bootstrap-servers",
    metavar="HOST:PORT,...",
    help="Run on this cluster instead of an embedded broker.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    default=pathlib.Path("demo-output"),
    show_default=True,
    help="Directory for the Parquet files; files of an earlier run are replaced.",
)
@count_option("--flights", help="Use only the first COUNT flights of the year.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    default=None,
    help="Where to write the report, an HTML page with charts. [default: report.html in the --output directory]",
)
@click.option("--no-report", is_flag=True, help="Do not write a report.")
def command(
    bootstrap_servers: str | None,
    output: pathlib.Path,
    flights: int | None,
    report: pathlib.Path | None,
    no_report: bool,
) -> None:
    """Stream a year of flights through a broker and Spark.

    Sends all 336,776 flights that left New York in 2013 to the topic `flights` as JSON. Spark reads the topic as a
    stream, joins airlines and airports, and computes delays by origin and hour. It writes them exactly once to the
    topic `flight_delays` and to Parquet files. Midway, the demo kills the Spark driver and starts another. The result
    is compared with the same computation in pandas: each row must occur exactly once.
    """
    if no_report and report is not None:
        raise click.UsageError("--report and --no-report are mutually exclusive")
    before = given_before()
    if wrong := [option for option, name in _NOT_TAKEN.items() if before[name]]:
        raise click.UsageError(f"the demo accepts no connection option except --bootstrap-servers, got {wrong[0]}")
    if bootstrap_servers is None and before["bootstrap_servers"]:
        bootstrap_servers = ",".join(before["bootstrap_servers"])
    page = None if no_report else report or output / "report.html"
    run(bootstrap_servers=bootstrap_servers, output=output, limit=flights, page=page)


__all__ = ["command"]
