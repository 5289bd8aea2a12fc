"""``kafka transactions``: lists, describes and aborts transactions, and finds hanging ones."""

import datetime
from typing import Any

import click

from kafka.cli.common_options import confirm, connected, yes_option
from kafka.cli.position_syntax import DURATION
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup, suggesting


@click.group(name="transactions", cls=CommandGroup, aliases={"find-hanging": "hanging"})
def command() -> None:
    """List, describe and abort transactions (Kafka 3.0)."""


@command.command(name="list")
@click.option(
    "--state",
    "states",
    multiple=True,
    metavar="STATE",
    help="Only transactions in this state, such as Ongoing; repeatable.",
)
@click.option(
    "--producer-id",
    "producers",
    type=int,
    multiple=True,
    metavar="ID",
    help="Only transactions of this producer id; repeatable.",
)
@click.option(
    "--broker-id",
    "brokers",
    type=int,
    multiple=True,
    help="Only transactions that this broker coordinates; repeatable.",
)
@click.option("--id-pattern", metavar="REGEX", help="Only transactional ids that match REGEX (Kafka 4.1).")
@click.option("--longer-than", type=DURATION, help="Only transactions that have run for longer than this (Kafka 3.8).")
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
    from kafka.cli.topic_ranges import check_brokers
    from kafka.errors import IllegalArgumentError

    more: dict[str, Any] = {}
    if longer_than is not None:
        more["duration_filter_ms"] = round(longer_than.total_seconds() * 1000)
    with session.admin() as admin:
        check_brokers(admin, brokers)
        try:
            found = admin.list_transactions(
                brokers or None, producers or None, states or None, transactional_id_pattern=id_pattern, **more
            )
        except IllegalArgumentError as error:
            raise click.UsageError(str(error).replace("state_filters", "--state")) from None
    rows = [
        {"transactional_id": each.transactional_id, "producer_id": each.producer_id, "state": _text(each.state)}
        for each in sorted(
            (each for listed in found.values() for each in listed), key=lambda each: each.transactional_id
        )
    ]
    session.output.table(rows, ["transactional_id", "producer_id", "state"])


@command.command()
@click.argument("names", nargs=-1, metavar="TRANSACTIONAL_ID...")
@click.option("--transactional-id", "more", multiple=True, metavar="ID", help="Same as TRANSACTIONAL_ID.")
@connected
def describe(session: Session, names: tuple[str, ...], more: tuple[str, ...]) -> None:
    """Show the coordinator, producer, state and partitions of transactional ids."""
    if not names and not more:
        raise click.UsageError("expected at least one transactional id")
    with session.admin() as admin, suggesting(admin, ids=[*names, *more]):
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
@click.option(
    "--broker-id",
    "brokers",
    type=int,
    multiple=True,
    metavar="ID",
    help="Only partitions that this broker leads; repeatable.",
)
@click.option("--max-transaction-timeout-ms", "longest_ms", type=int, hidden=True)
@click.option(
    "--longer-than", type=DURATION, help="Maximum transaction timeout. [default: 15 minutes, the brokers' default]"
)
@connected
def hanging(
    session: Session, brokers: tuple[int, ...], longest_ms: int | None, longer_than: datetime.timedelta | None
) -> None:
    """Find transactions that have been open for five minutes longer than the maximum transaction timeout."""
    from kafka.cli.topic_ranges import check_brokers

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
@click.option("-t", "--topic", metavar="TOPIC", required=True, help="Topic of the transaction.")
@click.option("-p", "--partition", type=int, metavar="NUMBER", required=True, help="Partition of the topic.")
@click.option("--producer-id", type=int, metavar="ID", required=True, help="Producer id of the transaction.")
@click.option("--producer-epoch", type=int, metavar="EPOCH", required=True, help="Producer epoch of the transaction.")
@click.option(
    "--coordinator-epoch", type=int, metavar="EPOCH", default=-1, help="Coordinator epoch, as shown by 'hanging'."
)
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
    """Abort a transaction in one partition, such as one shown by 'hanging'."""
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
