"""``kafka doctor``: reports the installation, and problems with the connection to a cluster.

Without a cluster, `kafka_columnar.doctor` does this without importing this package.
"""

from typing import Any

import click

from kafka.cli.common_options import connected
from kafka.cli.session import Session
from kafka_columnar import doctor, installation, stand_in

_ASKS = ("bootstrap_servers", "profile", "config_file", "extra_config", "security_protocol", "sasl_mechanism")


@click.command(name="doctor")
@click.option("--cluster", is_flag=True, help="Check the cluster too; implied by any connection option.")
@click.option(
    "--stand-in",
    metavar="NAME==VERSION",
    is_flag=False,
    flag_value=stand_in.DEFAULT,
    help="Write an empty wheel that satisfies pip's requirement for kafka-python, then exit.",
)
@connected
def command(session: Session, cluster: bool, stand_in: str | None) -> None:
    """Show versions, libraries and whether the hot modules are compiled; check the connection to a cluster.

    For a cluster, checks each address, TLS, API versions, the addresses that brokers advertise, and clocks.
    Exits with 1 if a problem is found.
    """
    if stand_in is not None:
        raise click.exceptions.Exit(doctor.main(["--stand-in", stand_in]))
    problems = installation.problems()
    facts = doctor.facts(problems)
    looked: dict[str, Any] | None = None
    if cluster or session.given(*_ASKS):
        from kafka.cli.cluster_check import check

        looked = check(session.configs("admin"))
        facts["cluster"] = looked
    if session.output.as_json:
        session.output.data(facts)
    else:
        if looked is None:
            for line in doctor.report(problems):
                click.echo(line.rstrip())
        else:
            for problem in problems:
                click.echo(f"Problem: {problem.text}")
            _show(session, looked)
    if problems or (looked is not None and looked["problems"]):
        raise click.exceptions.Exit(1)


def _show(session: Session, looked: dict[str, Any]) -> None:
    for title, rows in (("Bootstrap addresses", looked["bootstrap"]), ("Brokers", looked["brokers"])):
        session.output.title(title)
        if rows:
            session.output.table(rows, [column for column in rows[0] if column != "tls"])
        for row in rows:
            if row["tls"] is not None:
                click.echo(f"TLS of {row['address']}: {', '.join(f'{k} {v}' for k, v in row['tls'].items() if v)}")
    for note in looked["notes"]:
        click.echo(f"Note: {note}")
    for problem in looked["problems"]:
        click.echo(f"Problem: {problem}")
    if not looked["problems"]:
        click.echo("The cluster is reachable; no problems found.")
