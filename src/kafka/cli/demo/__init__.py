"""``kafka demo``: a year of real flights, bad ones among them, in a pipeline that is killed, corrected and audited.

``flights`` reads the data, ``planted`` adds bad flights, and ``ingest`` sends all of them as Avro. ``declaration``
contains the pipeline, and ``names`` its topics and files. ``driver_processes`` runs commands such as ``kafka pipeline
run`` in processes (``spark_driver``), kills one and starts another. ``check`` compares the results with the same
computation in pandas. ``run`` runs all steps, and ``report`` prints what they showed.
"""

import pathlib

import click

from kafka.cli.common_options import count_option, given_before

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
    "--registry",
    "registry_url",
    metavar="URL",
    help="Use this schema registry instead of an embedded one; needs --bootstrap-servers.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    default=pathlib.Path("demo-output"),
    show_default=True,
    help="Directory for the pipeline and the report; files of an earlier run are replaced.",
)
@count_option("--flights", help="Use only the first COUNT flights of the year.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    default=None,
    help="Where to write the report of the pipeline, an HTML page. [default: report.html in the --output directory]",
)
@click.option("--no-report", is_flag=True, help="Do not write a report.")
def command(
    bootstrap_servers: str | None,
    registry_url: str | None,
    output: pathlib.Path,
    flights: int | None,
    report: pathlib.Path | None,
    no_report: bool,
) -> None:
    """Run a pipeline on a year of flights, with bad data, a crash and a wrong rule; no flight is lost or duplicated.

    Sends all 336,776 flights that left New York in 2013 to the topic `flights` as Avro, with broken and implausible
    ones among them. A pipeline, declared in YAML, checks them with rules, and writes them exactly once to the topic
    `flight_delays`; bad records become dead letters. Midway, the demo kills the Spark driver and starts another. Then
    it corrects a rule, replays the dead letters that the rule caused, and audits the pipeline. The result is compared
    with the same computation in pandas: each flight must occur exactly once.

    On the cluster of --bootstrap-servers, the names of the topics end with random characters, and the topics remain.

    \b
    Exit statuses:
    0    everything adds up
    1    it does not, or a step failed
    2    an option is wrong
    3    no broker or schema registry responds
    """
    if no_report and report is not None:
        raise click.UsageError("--report and --no-report are mutually exclusive")
    before = given_before()
    if wrong := [option for option, name in _NOT_TAKEN.items() if before[name]]:
        raise click.UsageError(f"the demo accepts no connection option except --bootstrap-servers, got {wrong[0]}")
    if bootstrap_servers is None and before["bootstrap_servers"]:
        bootstrap_servers = ",".join(before["bootstrap_servers"])
    if registry_url is not None and bootstrap_servers is None:
        raise click.UsageError("--registry needs --bootstrap-servers: the embedded broker has a registry of its own")
    from kafka.cli.demo.run import run

    page = None if no_report else report or output / "report.html"
    run(bootstrap_servers=bootstrap_servers, output=output, limit=flights, page=page, registry_url=registry_url)


__all__ = ["command"]
