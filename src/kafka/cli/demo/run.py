"""The demo from end to end."""

import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator

from rich.console import Console

from kafka.spark.requirements import check_java

SPARK = {
    "spark.log.level": "WARN",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of the demo's session, beside those of `kafka.spark.session`."""


def run(bootstrap_servers: str | None, output: pathlib.Path, limit: int | None) -> None:
    """Run the demo; raises `DifferentResult` if what came out is not what pandas computes.

    Arguments:
        bootstrap_servers: "host:port,..." of a cluster; None starts an embedded broker.
        output: folder for the Parquet files.
        limit: how many flights to take; None for all.
    """
    check_java()
    parquet = _prepare(output)
    console = Console(width=None if sys.stdout.isatty() else 110)
    with contextlib.ExitStack() as stack:
        work = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-demo-")))
        servers = bootstrap_servers or stack.enter_context(_embedded(work / "broker"))
        console.print(f"Broker: {servers}{'' if bootstrap_servers else ' (embedded)'}")
        _stream(console, servers, parquet, work / "checkpoints", limit)


@contextlib.contextmanager
def _stderr_into(path: pathlib.Path) -> Iterator[None]:
    """Send what this process and its children write to standard error into a file: Spark's log, mostly."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with path.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def _prepare(output: pathlib.Path) -> pathlib.Path:
    output.mkdir(parents=True, exist_ok=True)
    parquet = output.resolve() / "flight_delays.parquet"
    if parquet.exists():
        shutil.rmtree(parquet)
    return parquet


@contextlib.contextmanager
def _embedded(data_dir: pathlib.Path) -> Iterator[str]:
    from kafka.broker import EmbeddedBroker

    with EmbeddedBroker(data_dir=data_dir) as broker:
        yield broker.bootstrap_servers


def _stream(
    console: Console, servers: str, parquet: pathlib.Path, checkpoints: pathlib.Path, limit: int | None
) -> None:
    from kafka.cli.demo import check, expected, flights, ingest, pipeline, report
    from kafka.spark import session

    began = time.perf_counter()
    data = flights.read_flights(limit)
    ingest.create_topics(servers)
    starting = ingest.end_offsets(servers, ingest.SOURCE_TOPIC)
    result_starting = ingest.end_offsets(servers, ingest.RESULT_TOPIC)
    sent_bytes, send_s = ingest.send_flights(servers, data.flights)

    log = parquet.parent / "spark.log"
    console.print(f"Starting Spark; its log is {log}")
    with _stderr_into(log):
        spark = session("kafka demo", **SPARK)
        try:
            streaming = time.perf_counter()
            stream = pipeline.delays(spark, servers, starting, data)
            queries = pipeline.start(stream, servers, parquet, checkpoints)
            rows_read, late = pipeline.await_all(queries, len(data.flights) + len(starting))
            stream_s = time.perf_counter() - streaming
        finally:
            spark.stop()

    sent = len(data.flights) + len(starting)
    for rows in rows_read:
        if rows != sent:
            raise check.DifferentResult(f"Spark read {rows:,} records, not the {sent:,} that were sent")
    if late:
        raise check.DifferentResult(f"Spark dropped {late:,} rows as late")
    right = expected.expected_delays(data)
    ending = ingest.end_offsets(servers, ingest.RESULT_TOPIC)
    results = check.from_topic(servers, result_starting, ending)
    check.compare("the topic", results, right)
    check.compare("the Parquet files", check.from_parquet(parquet), right)
    figures = report.Figures(
        len(data.flights),
        sent_bytes,
        send_s,
        rows_read,
        stream_s,
        len(results),
        parquet,
        time.perf_counter() - began,
    )
    report.print_report(console, figures, results)
