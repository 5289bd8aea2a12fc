"""``kafka transactions``: what transactions there are, which hang, and ending those."""

import datetime
from typing import Any

import click

from kafka.cli.aliases import AliasedGroup
from kafka.cli.options import confirm, connected, yes_option
from kafka.cli.positions import DURATION
from kafka.cli.session import Session


@click.group(name="transactions", cls=AliasedGroup, aliases={"find-hanging": "hanging"})
def command() -> None:
    """List, describe and end transactions (Kafka 3.0)."""


@command.command(name="list")
@click.option("--state", "states", multiple=True, metavar="STATE", help="Only those, such as Ongoing; may be repeated.")
@click.option("--producer-id", "producers", type=int, multiple=True, help="Only of this producer; may be repeated.")
@click.option("--broker-id", "brokers", type=int, multiple=True, help="Only what this broker coordinates.")
@click.option("--id-pattern", metavar="REGEX", help="Only ids of this form (Kafka 4.1).")
@click.option("--longer-than", type=DURATION, help="Only those that have run for so long (Kafka 3.8).")
@connected
def list_transactions(
    session: Session,
    states: tuple[str, ...],
    producers: tuple[int, ...],
    brokers: tuple[int, ...],
    id_pattern: str | None,
    longer_than: datetime.timedelta | None,
) -> None:
    """List transactional ids and their states."""
    from kafka.cli.places import check_brokers

    more: dict[str, Any] = {}
    if longer_than is not None:
        more["duration_filter_ms"] = round(longer_than.total_seconds() * 1000)
    with session.admin() as admin:
        check_brokers(admin, brokers)
        found = admin.list_transactions(
            brokers or None, producers or None, states or None, transactional_id_pattern=id_pattern, **more
        )
    rows = [
        {"transactional_id": each.transactional_id, "producer_id": each.producer_id, "state": _text(each.state)}
        for each in sorted(
            (each for listed in found.values() for each in listed), key=lambda each: each.transactional_id
        )
    ]
    session.output.table(rows, ["transactional_id", "producer_id", "state"])


@command.command()
@click.argument("names", nargs=-1, metavar="TRANSACTIONAL_ID...")
@click.option("--transactional-id", "more", multiple=True, metavar="ID", help="The same as TRANSACTIONAL_ID.")
@connected
def describe(session: Session, names: tuple[str, ...], more: tuple[str, ...]) -> None:
    """Show coordinator, producer, state and partitions of transactional ids."""
    if not names and not more:
        raise click.UsageError("expected at least one transactional id")
    with session.admin() as admin:
        found = admin.describe_transactions([*names, *more])
    rows = [
        {
            "transactional_id": name,
            "coordinator": each.coordinator_id,
            "producer_id": each.producer_id,
            "producer_epoch": each.producer_epoch,
            "state": _text(each.state),
            "partitions": sorted(f"{tp.topic}:{tp.partition}" for tp in each.topic_partitions),
        }
        for name, each in found.items()
    ]
    session.output.table(rows, list(rows[0]) if rows else [])


@command.command()
@click.option("--broker-id", "brokers", type=int, multiple=True, help="Only in partitions that this broker leads.")
@click.option("--max-transaction-timeout-ms", "longest_ms", type=int, hidden=True)
@click.option("--longer-than", type=DURATION, help="[default: 15 minutes, the longest that brokers allow by default]")
@connected
def hanging(
    session: Session, brokers: tuple[int, ...], longest_ms: int | None, longer_than: datetime.timedelta | None
) -> None:
    """Find transactions that are open for longer than brokers allow, and five minutes."""
    from kafka.cli.places import check_brokers

    more: dict[str, Any] = {}
    if longest_ms is not None:
        more["max_transaction_timeout_ms"] = longest_ms
    if longer_than is not None:
        more["max_transaction_timeout_ms"] = round(longer_than.total_seconds() * 1000)
    with session.admin() as admin:
        check_brokers(admin, brokers)
        found: list[dict[str, Any]] = [*admin.find_hanging_transactions(brokers or None, **more)]
    rows = [
        {**each, "partitions": [f"{tp.topic}:{tp.partition}" for tp in each.pop("topic_partitions")]} for each in found
    ]
    session.output.table(rows, ["transactional_id", "producer_id", "producer_epoch", "state", "age_ms", "partitions"])


@command.command()
@click.option("-t", "--topic", required=True)
@click.option("-p", "--partition", type=int, required=True)
@click.option("--producer-id", type=int, required=True)
@click.option("--producer-epoch", type=int, required=True)
@click.option("--coordinator-epoch", type=int, default=-1, help="As 'hanging' tells.")
@yes_option
@connected
def abort(
    session: Session,
    topic: str,
    partition: int,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    yes: bool,
) -> None:
    """Abort a transaction in one partition, as one of 'hanging'."""
    from kafka.admin import AbortTransactionSpec
    from kafka.structs import TopicPartition

    confirm(f"Abort the transaction of producer {producer_id} in {topic}:{partition}?", yes)
    spec = AbortTransactionSpec(TopicPartition(topic, partition), producer_id, producer_epoch, coordinator_epoch)
    with session.admin() as admin:
        admin.abort_transaction(spec)
    told = {"topic": topic, "partition": partition, "producer_id": producer_id}
    session.output.done(f"{topic}:{partition}: the transaction of producer {producer_id} is aborted", told)


def _text(state: Any) -> str:
    return str(getattr(state, "value", state))
