"""Runs the demo from end to end."""

import contextlib
import pathlib
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from kafka.errors import KafkaConfigurationError
from kafka.spark.requirements import check_java, check_pyspark

if TYPE_CHECKING:
    import pandas as pd

    from kafka.cli.demo.flights import Flights
    from kafka.cli.demo.plan import Plan

RECORDS_PER_TRIGGER = 60_000
_BATCHES = 4
"""Minimum number of micro-batches, even with few flights: the driver is killed in the middle."""


def run(bootstrap_servers: str | None, output: pathlib.Path, limit: int | None, page: pathlib.Path | None) -> None:
    """Run the demo. Raises `DifferentResult` if the results differ from those of pandas.

    Arguments:
        bootstrap_servers: "host:port,..." of a cluster; None starts an embedded broker.
        output: folder for the Parquet files.
        limit: maximum number of flights; None: all.
        page: the file for the report; None: no report.
    """
    check_pyspark()
    check_java()
    from kafka.cli.demo.flights import read_flights  # fails without pandas, before any file is created

    parquet = _prepare(output, page)
    with contextlib.ExitStack() as stack:
        work = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-demo-")))
        is_own = bootstrap_servers is None
        servers = stack.enter_context(_embedded(work / "broker")) if bootstrap_servers is None else bootstrap_servers
        click.echo(f"Broker: {servers}{' (embedded)' if is_own else ''}")
        _stream(servers, parquet, work, read_flights(limit), page)


def _prepare(output: pathlib.Path, page: pathlib.Path | None) -> pathlib.Path:
    output.mkdir(parents=True, exist_ok=True)
    if page is not None:
        if not page.resolve().parent.is_dir():
            raise KafkaConfigurationError(
                f"cannot write the report: the directory {page.resolve().parent} does not exist"
            )
        page.unlink(missing_ok=True)
    parquet = output.resolve() / "flight_delays.parquet"
    if parquet.exists():
        shutil.rmtree(parquet)
    (output / "spark.log").unlink(missing_ok=True)
    return parquet


@contextlib.contextmanager
def _embedded(data_dir: pathlib.Path) -> Iterator[str]:
    from kafka.broker import EmbeddedBroker

    with EmbeddedBroker(data_dir=data_dir) as broker:
        yield broker.bootstrap_servers


def _plan(servers: str, starting: dict[int, int], data: "Flights", parquet: pathlib.Path, work: pathlib.Path) -> "Plan":
    from kafka.cli.demo.plan import PARQUET_QUERY, TOPIC_QUERY, Plan

    return Plan(
        bootstrap_servers=servers,
        starting=starting,
        records_per_trigger=min(RECORDS_PER_TRIGGER, -(-(len(data.flights) + len(starting)) // _BATCHES)),
        transactional_id_prefix=f"kafka-demo-{secrets.token_hex(4)}",
        groups={TOPIC_QUERY: "flight-delays", PARQUET_QUERY: "flight-delays-parquet"},
        parquet=str(parquet),
        work=str(work),
        airlines=list(data.airlines.itertuples(index=False, name=None)),
        airports=list(data.airports.itertuples(index=False, name=None)),
    )


def _stream(
    servers: str, parquet: pathlib.Path, work: pathlib.Path, data: "Flights", page: pathlib.Path | None
) -> None:
    from kafka.cli.demo import driver_processes, ingest, report
    from kafka.cli.demo.page import write_page
    from kafka.spark import transactions

    began = time.perf_counter()
    if not data.real:
        click.echo("These flights are synthetic. For the real ones: pip install 'kafka-columnar[demo]'")
    ingest.create_topics(servers)
    starting = ingest.end_offsets(servers, ingest.SOURCE_TOPIC)
    result_starting = ingest.end_offsets(servers, ingest.RESULT_TOPIC)
    sent_bytes, send_s = ingest.send_flights(servers, data.flights)
    click.echo(f"Sent {len(data.flights):,} flights to the topic {ingest.SOURCE_TOPIC!r} in {send_s:.1f} s.")

    log = parquet.parent / "spark.log"
    click.echo(f"Spark's log: {log}")
    plan = _plan(servers, starting, data, parquet, work)
    streaming = time.perf_counter()
    kill, again = driver_processes.run_with_a_kill(plan, len(data.flights) + len(starting), log, click.echo)
    stream_s = time.perf_counter() - streaming
    click.echo(driver_processes.told_lag("Final group lag", driver_processes.lag_of(plan)))
    transactions(plan.transactional_id_prefix, bootstrap_servers=servers).forget()

    results, given_up = _checked(servers, result_starting, parquet, data)
    figures = report.Figures(
        flights=len(data.flights),
        sent_bytes=sent_bytes,
        send_s=send_s,
        stream_s=stream_s,
        results=len(results),
        given_up=given_up,
        parquet=parquet,
        total_s=time.perf_counter() - began,
    )
    report.print_report(click.echo, figures, results)
    if page is not None:
        write_page(page, figures, results, plan.progress, kill, again)
        click.echo(f"Report: {page.resolve()}")


def _checked(
    servers: str, starting: dict[int, int], parquet: pathlib.Path, data: "Flights"
) -> "tuple[pd.DataFrame, int]":
    """Return the results that a read_committed consumer sees, and the number of rows that it does not see.

    Raises `DifferentResult` if these results, or those in the Parquet files, differ from those of pandas.
    """
    from kafka.cli.demo import check, ingest

    right = check.expected_delays(data)
    ending = ingest.end_offsets(servers, ingest.RESULT_TOPIC)
    results = check.from_topic(servers, starting, ending)
    everything = check.from_topic(servers, starting, ending, "read_uncommitted")
    check.compare("the topic", results, right)
    check.compare("the Parquet files", check.from_parquet(parquet), right)
    return results, len(everything) - len(results)
