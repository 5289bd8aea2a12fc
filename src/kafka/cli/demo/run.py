"""Runs the demo from end to end."""

import contextlib
import json
import pathlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from kafka.errors import KafkaConfigurationError
from kafka.spark.requirements import check_java, check_pyspark

if TYPE_CHECKING:
    from kafka.cli.demo.flights import Flights
    from kafka.cli.demo.names import Names

OFFSETS_PER_TRIGGER = 30_000
_BATCHES = 4
"""Minimum number of micro-batches, even with few flights: the driver is killed in the middle."""


def run(
    bootstrap_servers: str | None,
    output: pathlib.Path,
    limit: int | None,
    page: pathlib.Path | None,
    registry_url: str | None = None,
) -> None:
    """Run the demo. Raises `DifferentResult` if something was lost or duplicated.

    Arguments:
        bootstrap_servers: "host:port,..." of a cluster; None starts an embedded broker.
        output: directory for the declaration, the pipeline's directory and the report.
        limit: maximum number of flights; None: all.
        page: the file for the report; None: no report.
        registry_url: the schema registry; None for an embedded one.
    """
    check_pyspark()
    check_java()
    from kafka.cli.demo import report
    from kafka.cli.demo.flights import read_flights  # fails without pandas, before any file is created
    from kafka.cli.demo.names import Names, random_suffix

    output = _prepared(output, page)
    click.echo(report.INTRODUCTION)
    with contextlib.ExitStack() as stack:
        servers = bootstrap_servers
        suffix = "" if servers is None else random_suffix()
        if servers is None or registry_url is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-demo-"))
            own_servers, own_registry = stack.enter_context(_embedded(pathlib.Path(folder)))
            servers = own_servers if servers is None else servers
            registry_url = registry_url or own_registry
            registry_is_own = registry_url is own_registry
        else:
            registry_is_own = False
        names = Names(servers, registry_url, output, suffix)
        click.echo(f"Broker: {servers}{'' if suffix else ' (embedded)'}")
        click.echo(f"Schema registry: {registry_url}{' (embedded)' if registry_is_own else ''}")
        _show(names, read_flights(limit), page)
        if suffix:
            click.echo(f"These topics remain on the cluster: {', '.join(names.topics)}")


def _prepared(output: pathlib.Path, page: pathlib.Path | None) -> pathlib.Path:
    """Create the output directory, remove the files of an earlier run, and return the absolute path."""
    from kafka.cli.demo.names import CHECKPOINT, FILE, SPARK_LOG

    output.mkdir(parents=True, exist_ok=True)
    if page is not None:
        if not page.resolve().parent.is_dir():
            raise KafkaConfigurationError(
                f"cannot write the report: the directory {page.resolve().parent} does not exist"
            )
        page.unlink(missing_ok=True)
    if (output / CHECKPOINT).exists():
        shutil.rmtree(output / CHECKPOINT)
    for name in (FILE, SPARK_LOG):
        (output / name).unlink(missing_ok=True)
    return output.resolve()


@contextlib.contextmanager
def _embedded(data_dir: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Run an embedded broker with a registry; return the addresses of both."""
    from kafka.broker import EmbeddedBroker

    with EmbeddedBroker(data_dir=data_dir, registry=True) as broker:
        yield broker.bootstrap_servers, broker.registry_url


def _show(names: "Names", data: "Flights", page: pathlib.Path | None) -> None:
    from kafka.cli.demo import check, declaration, driver_processes, ingest, planted, report
    from kafka.cli.demo.names import FILE
    from kafka.spark import transactions

    began = time.perf_counter()
    say = click.echo
    if not data.real:
        say("These flights are synthetic. For the real ones: pip install 'kafka-columnar[demo]'")
    rows = planted.plant(data.flights)
    ingest.create_topics(names)
    send_s = ingest.send_flights(names, rows)
    say(f"Sent {len(data.flights):,} flights and {rows.count - len(data.flights):,} planted ones to {names.source!r}.")
    report.print_planted(say, rows)

    most = min(OFFSETS_PER_TRIGGER, -(-rows.count // _BATCHES))
    say(f"{names.file}:\n\n{declaration.write_declaration(names, most)}")
    say(f"Spark's log: {names.log}")
    driver_processes.run_with_a_kill(names, -(-rows.count // most), rows.count, say)
    dead = check.compare_dead_letters(names, data, rows, is_replayed=False)
    report.print_dead_letters(say, dead, rows)
    say(f"Of the dead letters of the rule {declaration.PLAUSIBLE!r}, {check.cancelled(data):,} are real: these flights")
    say("were cancelled, so that they have no delay, and NULL is not true. The corrected rule:\n")
    for line in declaration.correct_rule(names.file):
        say(line)
    say("")
    replay = ("pipeline", "replay", FILE, "--rule", declaration.PLAUSIBLE)
    driver_processes.run_command(names, replay, say)

    results = check.read_results(names)
    check.compare(results, check.expected_results(data))
    dead = check.compare_dead_letters(names, data, rows, is_replayed=True)
    audit = _audit(names)
    report.print_audit(say, audit)
    audited = check.check_audit(audit, data, rows)
    given_up = len(check.read_results(names, "read_uncommitted")) - len(results)
    if page is not None:
        report.write_page(names, page)
    transactions(names.pipeline, bootstrap_servers=names.bootstrap_servers).forget()

    report.print_slowest(say, results, data.airports)
    figures = report.Figures(
        flights=len(data.flights),
        planted=rows,
        send_s=send_s,
        dead=dead,
        late=check.late_arrivals(data),
        cancelled=check.cancelled(data),
        given_up=given_up,
        audited=audited,
        total_s=time.perf_counter() - began,
    )
    report.print_report(say, figures, report.read_history(names))
    if page is not None:
        say(f"Report: {page.resolve()}")


def _audit(names: "Names") -> dict[str, Any]:
    """Run the audit, and return its result."""
    from kafka.cli.demo import driver_processes
    from kafka.cli.demo.names import FILE

    with tempfile.TemporaryDirectory(prefix="kafka-demo-audit-") as folder:
        output = pathlib.Path(folder) / "audit.json"
        command = ("pipeline", "audit", FILE, "--json")
        driver_processes.run_command(names, command, click.echo, output=output, fails=True)
        found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return found
