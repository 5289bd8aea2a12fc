"""``kafka perf``: how fast a cluster and this client are together, each way and round trip.

`measure.py` does the work, and is told how much of it.
"""

from typing import Any

import click

from kafka._compression import Compression
from kafka.cli.options import connected, one, topic_option
from kafka.cli.session import Session


@click.group(name="perf")
def command() -> None:
    """Measure producer, consumer and round-trip performance."""


@command.command()
@topic_option
@click.option(
    "-n",
    "--records",
    "count",
    type=click.IntRange(1),
    metavar="COUNT",
    default=1_000_000,
    show_default=True,
    help="Number of records to send.",
)
@click.option(
    "-s",
    "--size",
    type=click.IntRange(8),
    metavar="BYTES",
    default=100,
    show_default=True,
    help="Size of values in bytes.",
)
@click.option(
    "--key-size",
    type=click.IntRange(0),
    metavar="BYTES",
    default=0,
    show_default=True,
    help="Size of keys in bytes; 0 sends no keys.",
)
@click.option(
    "-z", "--compression", type=click.Choice([each.option for each in Compression]), help="Compression codec."
)
@click.option("--acks", type=click.Choice(["0", "1", "all"]), help="Required acknowledgements. [default: all]")
@click.option(
    "--random/--zeros", "noise", default=False, help="Use random values, which do not compress, or zeros, which do."
)
@connected
def produce(session: Session, topics: list[str], **what: Any) -> None:
    """Measure how fast records are sent."""
    from kafka.cli.perf.measure import produced

    session.output.fields(produced(session, one("topic", topics), **what))


@command.command()
@topic_option
@click.option(
    "-n",
    "--records",
    "count",
    type=click.IntRange(1),
    metavar="COUNT",
    help="Number of records to read. [default: all that are there now]",
)
@click.option("--objects/--columns", default=True, help="Read records as objects, or as columns.")
@connected
def consume(session: Session, topics: list[str], count: int | None, objects: bool) -> None:
    """Measure how fast records are read."""
    from kafka.cli.perf.measure import consumed

    session.output.fields(consumed(session, one("topic", topics), count, objects))


@command.command(name="round-trip")
@topic_option
@click.option(
    "-n",
    "--records",
    "count",
    type=click.IntRange(1),
    metavar="COUNT",
    default=1_000,
    show_default=True,
    help="Number of round trips.",
)
@click.option(
    "-s",
    "--size",
    type=click.IntRange(8),
    metavar="BYTES",
    default=100,
    show_default=True,
    help="Size of values in bytes.",
)
@connected
def round_trip(session: Session, topics: list[str], count: int, size: int) -> None:
    """Measure round trips: send a record, read it, send the next."""
    from kafka.cli.perf.measure import round_trips

    session.output.fields(round_trips(session, one("topic", topics), count, size))
