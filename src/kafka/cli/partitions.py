"""``kafka partitions``: describes partitions, adds them, reassigns them to brokers, and elects leaders."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.common_options import (
    at_least_one,
    connected,
    dry_run_option,
    partition_of,
    timeout_option,
    topic_option,
    without_effect,
)
from kafka.cli.offsets import list_offsets, trim
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup, suggesting

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

_ALIASES = {
    "add": "create",
    "reassign": "move",
    "elect-leaders": "elect",
    "alter-reassignments": "move",
    "list-reassignments": "moves",
    "list-offsets": "offsets",
    "delete-records": "trim",
}
_partitions_option = click.option(
    "-p",
    "--topic-partition",
    "partitions",
    multiple=True,
    metavar="TOPIC:PARTITION",
    help="Use only this partition; repeatable. [default: all]",
)


@click.group(name="partitions", cls=CommandGroup, aliases=_ALIASES)
def command() -> None:
    """Describe, add and reassign partitions; elect leaders."""


command.add_command(list_offsets, "offsets")
command.add_command(trim)


@command.command()
@topic_option
@without_effect("--response-partition-limit", type=int)
@click.option("--cursor-topic", hidden=True)
@click.option("--cursor-partition", type=int, hidden=True)
@connected
def describe(session: Session, topics: list[str], cursor_topic: str | None, cursor_partition: int | None) -> None:
    """Show the leader, leader epoch and replicas of partitions, including offline and eligible ones (Kafka 3.8)."""
    from kafka.admin.admin_requests import raise_first
    from kafka.errors import UnknownTopicOrPartitionError

    at_least_one("topic", topics)
    if (cursor_topic is None) != (cursor_partition is None):
        raise click.UsageError("--cursor-topic and --cursor-partition must be given together")
    rows: list[dict[str, Any]] = []
    with session.admin() as admin, suggesting(admin, topics):
        cursor: Any = None
        if cursor_topic is not None:
            cursor = {"topic_name": cursor_topic, "partition_index": cursor_partition}
        while True:
            page = _page(admin, topics, cursor)
            for topic in page["topics"]:
                if topic["error_code"] == UnknownTopicOrPartitionError.errno:
                    raise UnknownTopicOrPartitionError(f"there is no topic {topic['name']!r}")
                raise_first([(f"topic {topic['name']!r}", topic["error_code"], None)])
            rows += [_row(topic["name"], part) for topic in page["topics"] for part in topic["partitions"]]
            cursor = page.get("next_cursor")
            if not cursor:
                break
    session.output.table(rows, ["topic", "partition", "leader", "leader_epoch", "replicas", "isr", "offline"])


def _page(admin: "KafkaAdminClient", topics: list[str], cursor: Any) -> dict[str, Any]:
    """Describe partitions; with brokers before 3.8, from their metadata, which lacks the eligible replicas."""
    from kafka.errors import UnsupportedVersionError

    try:
        return admin.describe_topic_partitions(topics, cursor=cursor)
    except UnsupportedVersionError:
        if cursor is not None:
            raise
        return {"topics": [{"name": each["topic"], **each} for each in admin.describe_topics(topics)]}


def _row(topic: str, part: dict[str, Any]) -> dict[str, Any]:
    return {
        "topic": topic,
        "partition": part["partition_index"],
        "leader": part["leader_id"],
        "leader_epoch": part["leader_epoch"] if part["leader_epoch"] >= 0 else None,
        "replicas": part["replica_nodes"],
        "isr": part["isr_nodes"],
        "offline": part["offline_replicas"],
        "eligible": part.get("eligible_leader_replicas"),
        "last_known_eligible": part.get("last_known_elr"),
    }


@command.command()
@click.argument("counts", nargs=-1, metavar="TOPIC:COUNT...")
@click.option("-p", "--topic-partitions", "more", multiple=True, metavar="TOPIC:COUNT", help="Same as TOPIC:COUNT.")
@dry_run_option
@connected
@timeout_option
def create(session: Session, counts: tuple[str, ...], more: tuple[str, ...], dry_run: bool) -> None:
    """Add partitions. COUNT is the topic's new total."""
    given = at_least_one("TOPIC:COUNT", [*counts, *more])
    wanted = dict(partition_of(each, "TOPIC:COUNT, such as orders:3") for each in given)
    with session.admin() as admin, suggesting(admin, wanted):
        admin.create_partitions(wanted, validate_only=dry_run)
    done = "would have" if dry_run else "has"
    session.output.done("\n".join(f"{topic} {done} {count} partitions" for topic, count in wanted.items()), wanted)


@command.command()
@click.option(
    "--type",
    "--election-type",
    "kind",
    type=click.Choice(["preferred", "unclean"]),
    default="preferred",
    show_default=True,
    help="Elect the preferred replica, or any live one, which may lose records.",
)
@_partitions_option
@click.option(
    "-t", "--topic", "topics", multiple=True, metavar="TOPIC", help="Use all partitions of this topic; repeatable."
)
@without_effect("--no-raise-errors", is_flag=True)
@connected
@timeout_option
def elect(session: Session, kind: str, partitions: tuple[str, ...], topics: tuple[str, ...]) -> None:
    """Elect leaders: preferred ones, or with --type unclean any live replica. The latter may lose records."""
    if partitions and topics:
        raise click.UsageError("--topic-partition and --topic are mutually exclusive")
    wanted: Any = _by_topic(partitions) or list(topics) or None
    with session.admin() as admin:
        told = admin.elect_leaders(0 if kind == "preferred" else 1, wanted, raise_errors=False)
    rows = [
        {
            "topic": topic["topic"],
            "partition": part["partition_id"],
            "error_code": part["error_code"],
            "result": _election(part["error_code"], part["error_message"]),
        }
        for topic in told["replica_election_results"]
        for part in topic["partition_result"]
    ]
    session.output.table(rows, ["topic", "partition", "result"])
    if any(row["error_code"] not in (0, 84) for row in rows):
        raise click.exceptions.Exit(1)


def _election(code: int, message: str | None) -> str:
    from kafka.errors import for_code

    if code in (0, 84):  # 84: no election was needed
        return "elected" if code == 0 else "already the leader"
    return f"{for_code(code).__name__}: {message or for_code(code).description}"


@command.command()
@click.argument("moves", nargs=-1, metavar="TOPIC:PARTITION=BROKER,BROKER...")
@click.option(
    "-r",
    "--reassign",
    "more",
    multiple=True,
    metavar="TOPIC:PARTITION=BROKERS",
    help="Same as TOPIC:PARTITION=BROKER,BROKER.",
)
@connected
@timeout_option
def move(session: Session, moves: tuple[str, ...], more: tuple[str, ...]) -> None:
    """Reassign partitions to brokers, the preferred leader first. TOPIC:PARTITION=cancel cancels a reassignment."""
    from kafka.structs import TopicPartition

    wanted: dict[TopicPartition, list[int] | None] = {}
    for each in at_least_one("TOPIC:PARTITION=BROKERS", [*moves, *more]):
        where, equals, brokers = each.rpartition("=")
        numbers = brokers.split(",")
        if not equals or not (brokers == "cancel" or all(number.isdecimal() for number in numbers)):
            raise click.UsageError(f"expected TOPIC:PARTITION=1,2,3 or TOPIC:PARTITION=cancel, got {each!r}")
        wanted[TopicPartition(*partition_of(where))] = None if brokers == "cancel" else [int(each) for each in numbers]
    with session.admin() as admin:
        result = admin.alter_partition_reassignments(wanted)
    rows = [
        {"topic": tp.topic, "partition": tp.partition, "to": wanted[tp], "error": error.__name__ if error else None}
        for tp, error in result.items()
    ]
    session.output.table(rows, ["topic", "partition", "to", "error"])
    if any(row["error"] for row in rows):
        raise click.exceptions.Exit(1)


@command.command()
@_partitions_option
@connected
@timeout_option
def moves(session: Session, partitions: tuple[str, ...]) -> None:
    """List reassignments in progress."""
    wanted = _by_topic(partitions) or None
    with session.admin() as admin:
        found = admin.list_partition_reassignments(wanted)
    rows = [
        {
            "topic": tp.topic,
            "partition": tp.partition,
            "replicas": each["replicas"],
            "adding": each["adding_replicas"],
            "removing": each["removing_replicas"],
        }
        for tp, each in sorted(found.items())
    ]
    session.output.table(rows, ["topic", "partition", "replicas", "adding", "removing"])


def _by_topic(partitions: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, number in map(partition_of, partitions):
        found.setdefault(topic, []).append(number)
    return found
