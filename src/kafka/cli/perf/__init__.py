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
    """Measure producing, consuming, and round trips."""


@command.command()
@topic_option
@click.option("-n", "--records", "count", type=click.IntRange(1), default=1_000_000, show_default=True)
@click.option("-s", "--size", type=click.IntRange(8), default=100, show_default=True, help="Bytes of a value.")
@click.option("--key-size", type=click.IntRange(0), default=0, show_default=True, help="Bytes of a key; 0: no key.")
@click.option("-z", "--compression", type=click.Choice([each.option for each in Compression]), help="The codec.")
@click.option("--acks", type=click.Choice(["0", "1", "all"]), help="Who has to have a record. [default: all]")
@click.option("--random/--zeros", "noise", default=False, help="Values that do not compress, or that do.")
@connected
def produce(session: Session, topics: list[str], **what: Any) -> None:
    """Send so many records."""
    from kafka.cli.perf.measure import produced

    session.output.fields(produced(session, one("topic", topics), **what))


@command.command()
@topic_option
@click.option("-n", "--records", "count", type=click.IntRange(1), help="[default: what is there]")
@click.option("--objects/--columns", default=True, help="Records as objects, or columns without objects.")
@connected
def consume(session: Session, topics: list[str], count: int | None, objects: bool) -> None:
    """Read what a topic holds."""
    from kafka.cli.perf.measure import consumed

    session.output.fields(consumed(session, one("topic", topics), count, objects))


@command.command(name="round-trip")
@topic_option
@click.option("-n", "--records", "count", type=click.IntRange(1), default=1_000, show_default=True)
@click.option("-s", "--size", type=click.IntRange(8), default=100, show_default=True, help="Bytes of a value.")
@connected
def round_trip(session: Session, topics: list[str], count: int, size: int) -> None:
    """Send records one at a time, each when the one before was read."""
    from kafka.cli.perf.measure import round_trips

    session.output.fields(round_trips(session, one("topic", topics), count, size))
