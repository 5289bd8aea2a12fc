"""``kafka perf``: measures the throughput of a producer and a consumer, and round trips. `measure.py` does the work."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import click

from kafka.cli.common_options import acks_option, compression_option, connected, count_option, one, topic_option
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup

P = ParamSpec("P")
R = TypeVar("R")


_size_option = count_option("-s", "--size", minimum=8, metavar="BYTES", default=100, help="Size of values in bytes.")


def _records_option(text: str, default: int | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Add ``--records``; the command gets ``count``."""
    return count_option("-n", "--records", "count", default=default, help=text)


@click.group(name="perf", cls=CommandGroup)
def command() -> None:
    """Measure producer, consumer and round-trip performance."""


@command.command()
@topic_option
@_records_option("Number of records to send.", 1_000_000)
@_size_option
@count_option("--key-size", minimum=0, metavar="BYTES", default=0, help="Size of keys in bytes; 0 sends no keys.")
@compression_option
@acks_option
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
@_records_option("Number of records to read. [default: all that are there now]")
@click.option("--objects/--columns", default=True, help="Read records as objects, or as columns.")
@connected
def consume(session: Session, topics: list[str], count: int | None, objects: bool) -> None:
    """Measure how fast records are read."""
    from kafka.cli.perf.measure import consumed

    session.output.fields(consumed(session, one("topic", topics), count, objects))


@command.command(name="round-trip")
@topic_option
@_records_option("Number of round trips.", 1_000)
@_size_option
@connected
def round_trip(session: Session, topics: list[str], count: int, size: int) -> None:
    """Measure round trips: send a record, read it, send the next."""
    from kafka.cli.perf.measure import round_trips

    session.output.fields(round_trips(session, one("topic", topics), count, size))
