"""``kafka topics``: lists, describes, creates, deletes and alters topics."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.common_options import (
    WholeNumber,
    at_least_one,
    confirm,
    connected,
    dry_run_option,
    one,
    pairs,
    topic_option,
    yes_option,
)
from kafka.cli.name_search import search_options
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup, suggesting
from kafka.config.option import nearest

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

_COUNT = WholeNumber(-1, 2**31 - 1)
"""-1 stands for the broker's default."""
_NO_TOPIC = 3
"""The error code of UnknownTopicOrPartitionError."""


@click.group(name="topics", cls=CommandGroup)
def command() -> None:
    """List, describe, create, delete and alter topics."""


@command.command(name="list")
@click.option("--internal", is_flag=True, help="Include internal topics.")
@click.option("--sizes", is_flag=True, help="Also show the number of offsets and bytes.")
@search_options
@connected
def list_topics(session: Session, internal: bool, sizes: bool, matches: Callable[[str], bool]) -> None:
    """List topics with their numbers of partitions and replicas.

    With TEXT, lists topics whose names contain it, in any case.
    """
    with session.admin() as admin:
        every = sorted(admin.describe_topics(), key=lambda each: each["name"])
        described: list[Mapping[str, Any]] = [
            each for each in every if matches(each["name"]) and (internal or not each["is_internal"])
        ]
        rows = [_row(each) for each in described]
        columns = ["topic", "partitions", "replicas"]
        if sizes:
            _add_sizes(admin, rows, described)
            columns += ["offsets", "bytes"]
    session.output.table(rows, columns)


_id_option = click.option("--id", "ids", type=click.UUID, multiple=True, help="Id of a topic (Kafka 2.8); repeatable.")


@command.command()
@topic_option
@_id_option
@connected
def describe(session: Session, topics: list[str], ids: tuple[uuid.UUID, ...]) -> None:
    """Show the leader, replicas, offsets and size of each partition.

    Sizes are those of the leader's log. Without TOPIC, shows all topics.
    """
    with session.admin() as admin, suggesting(admin, topics):
        described = admin.describe_topics([*topics, *ids] or None)
        _check_there(described)
        sizes, ends = _partition_sizes(admin, described), _ends(admin, described)
    found = [_described(each, sizes, ends) for each in described]
    if session.output.as_json:
        session.output.data(found)
        return
    columns = ["partition", "leader", "replicas", "isr", "earliest", "latest", "offsets", "bytes"]
    for topic in found:
        session.output.title(f"{topic['topic']}  id {topic['id']}")
        rows = topic["partitions"]
        if not session.output.terminal:
            rows, columns = [{"topic": topic["topic"], **row} for row in rows], ["topic", *columns[-8:]]
        session.output.table(rows, columns)


@command.command()
@topic_option
@click.option(
    "-p",
    "--partitions",
    "--num-partitions",
    type=_COUNT,
    metavar="COUNT",
    default=-1,
    help="Number of partitions. [default: the broker's]",
)
@click.option(
    "-r",
    "--replication-factor",
    type=WholeNumber(-1, 2**15 - 1),
    metavar="COUNT",
    default=-1,
    help="Replication factor. [default: the broker's]",
)
@click.option("-c", "--topic-config", multiple=True, metavar="NAME=VALUE", help="Topic config to set; repeatable.")
@click.option("--if-not-exists", is_flag=True, help="Succeed if the topic already exists.")
@dry_run_option
@connected
def create(
    session: Session,
    topics: list[str],
    partitions: int,
    replication_factor: int,
    topic_config: tuple[str, ...],
    if_not_exists: bool,
    dry_run: bool,
) -> None:
    """Create topics."""
    from kafka.coordinator.offset_arguments import check_topic_name
    from kafka.errors import UnsupportedVersionError

    at_least_one("topic", topics)
    for each in topics:  # before any of them is created
        check_topic_name(each)
    spec = {
        "num_partitions": partitions,
        "replication_factor": replication_factor,
        "configs": pairs(topic_config),
    }
    with session.admin() as admin:
        try:
            result = admin.create_topics(
                dict.fromkeys(topics, spec),
                validate_only=dry_run,
                raise_errors=False,
                wait_for_metadata=not dry_run,
            )
        except UnsupportedVersionError as error:
            if -1 not in (partitions, replication_factor):
                raise
            raise click.UsageError(
                "brokers before Kafka 2.4 have no defaults for new topics: pass --partitions and --replication-factor"
            ) from error
    done = "would be created" if dry_run else "created"
    _report(session, result["topics"], done, {36: "already exists"} if if_not_exists else {})


@command.command()
@topic_option
@_id_option
@click.option("--if-exists", is_flag=True, help="Succeed if the topic does not exist.")
@yes_option
@connected
def delete(session: Session, topics: list[str], ids: tuple[uuid.UUID, ...], if_exists: bool, yes: bool) -> None:
    """Delete topics with all their records."""
    wanted: list[str | uuid.UUID] = [*topics, *ids]
    confirm(f"Delete {', '.join(at_least_one('topic', [str(each) for each in wanted]))} with all records?", yes)
    with session.admin() as admin:
        result = admin.delete_topics(wanted, raise_errors=False)
        gone = [str(each["name"]) for each in result["topics"] if each["error_code"] == _NO_TOPIC and not if_exists]
        known = admin.list_topics() if gone else []
    hints = {name: nearest(name, known) for name in gone}
    _report(session, result["topics"], "deleted", {_NO_TOPIC: "does not exist"} if if_exists else {}, hints)


@command.command()
@topic_option
@click.option(
    "-p", "--partitions", "--num-partitions", type=_COUNT, metavar="COUNT", help="New total number of partitions."
)
@click.option("-c", "--topic-config", multiple=True, metavar="NAME=VALUE", help="Topic config to set; repeatable.")
@click.option(
    "--delete-config", multiple=True, metavar="NAME", help="Topic config to reset to its default; repeatable."
)
@dry_run_option
@connected
def alter(
    session: Session,
    topics: list[str],
    partitions: int | None,
    topic_config: tuple[str, ...],
    delete_config: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Add partitions to a topic or change its configs."""
    topic = one("topic", topics)
    if partitions is None and not topic_config and not delete_config:
        raise click.UsageError("nothing to alter: give --partitions, --topic-config or --delete-config")
    from kafka.admin import AlterConfigOp, ConfigResource, ConfigResourceType

    configs: dict[str, Any] = {name: (AlterConfigOp.SET, value) for name, value in pairs(topic_config).items()}
    configs |= dict.fromkeys(delete_config, (AlterConfigOp.DELETE, None))
    resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs)
    with session.admin() as admin, suggesting(admin, [topic]):
        changed = []
        if partitions is not None:
            if configs and not dry_run:  # added partitions could not be removed again
                admin.alter_configs([resource], validate_only=True)
            admin.create_partitions({topic: partitions}, validate_only=dry_run)
            changed.append(f"{partitions} partitions")
        if configs:
            admin.alter_configs([resource], validate_only=dry_run)
            changed += [*topic_config, *(f"{name} reset to its default" for name in delete_config)]
    text = f"{topic}: {', '.join(changed)}{' (nothing was changed)' if dry_run else ''}"
    session.output.done(text, {"topic": topic, "changed": changed, "dry_run": dry_run})


def _row(topic: Mapping[str, Any]) -> dict[str, Any]:
    partitions = topic["partitions"]
    return {
        "topic": topic["name"],
        "partitions": len(partitions),
        "replicas": max((len(each["replica_nodes"]) for each in partitions), default=0),
        "internal": topic["is_internal"],
    }


def _check_there(described: Iterable[Mapping[str, Any]]) -> None:
    """Raise the error of the first topic that has one."""
    from kafka.errors import UnknownTopicOrPartitionError, for_code

    for topic in described:
        if topic["error_code"] == UnknownTopicOrPartitionError.errno:
            raise UnknownTopicOrPartitionError(f"there is no topic {topic['name']!r}")
        if topic["error_code"]:
            raise for_code(topic["error_code"])(f"cannot describe topic {topic['name']!r}")


def _report(
    session: Session,
    results: Iterable[Mapping[str, Any]],
    done: str,
    allowed: Mapping[int, str],
    hints: Mapping[str, str] | None = None,
) -> None:
    """Report the result for each topic; exit with status 1 if something failed.

    Arguments:
        session: the session.
        results: the results, from the admin client.
        done: the text for success.
        allowed: the texts for errors that count as success, by code.
        hints: text to append to errors, by topic.
    """
    from kafka.admin.admin_requests import about
    from kafka.errors import error_text, for_code

    rows, failed = [], False
    for each in results:
        code = each["error_code"]
        text = done
        if code in allowed:
            text = allowed[code]
        elif code:
            failed = True
            error = for_code(code)
            told = about(f"topic {each['name']!r}", each["error_message"] or error.description)
            text = error_text(error(told + (hints or {}).get(str(each["name"]), "")))
        rows.append({"topic": each["name"], "result": text, "error_code": code})
        if code and code not in allowed and not session.output.as_json:
            click.echo(f"Error: {text}", err=True)
        elif not session.output.as_json:
            click.echo(f"{each['name']}: {text}")
    if session.output.as_json:
        session.output.data(rows)
    if failed:
        raise click.exceptions.Exit(1)


def _ends(
    admin: "KafkaAdminClient", described: Iterable[Mapping[str, Any]]
) -> dict[Any, tuple[int | None, int | None]]:
    """Return the first and the next offset of each partition; None if the partition has no leader."""
    from kafka.admin import OffsetSpec
    from kafka.errors import KafkaError
    from kafka.structs import TopicPartition

    wanted = [
        TopicPartition(each["name"], part["partition_index"]) for each in described for part in each["partitions"]
    ]
    if not wanted:
        return {}
    first, last = (
        admin.list_partition_offsets(dict.fromkeys(wanted, spec), raise_errors=False)
        for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST)
    )
    return {
        tp: (
            None if isinstance(first[tp], KafkaError) else first[tp].offset,
            None if isinstance(last[tp], KafkaError) else last[tp].offset,
        )
        for tp in wanted
    }


def _partition_sizes(
    admin: "KafkaAdminClient", described: Iterable[Mapping[str, Any]]
) -> dict[tuple[str, int, int], int]:
    """Return replica sizes in bytes, by topic, partition and broker; {} if brokers are too old to report them."""
    from kafka.errors import KafkaError

    wanted = {each["name"]: [part["partition_index"] for part in each["partitions"]] for each in described}
    try:
        found = admin.describe_log_dirs(wanted) if wanted else []
    except KafkaError:
        return {}
    return {
        (topic["name"], part["partition_index"], broker["broker"]): part["partition_size"]
        for broker in found
        for folder in broker["log_dirs"]
        for topic in folder["topics"]
        for part in topic["partitions"]
        if not part["is_future_key"]
    }


def _add_sizes(admin: "KafkaAdminClient", rows: list[dict[str, Any]], described: list[Mapping[str, Any]]) -> None:
    sizes, ends = _partition_sizes(admin, described), _ends(admin, described)
    for row, topic in zip(rows, described, strict=True):
        parts = _described(topic, sizes, ends)["partitions"]
        row["offsets"] = sum(each["offsets"] or 0 for each in parts)
        row["bytes"] = sum(each["bytes"] or 0 for each in parts)


def _described(
    topic: Mapping[str, Any],
    sizes: Mapping[tuple[str, int, int], int],
    ends: Mapping[Any, tuple[int | None, int | None]],
) -> dict[str, Any]:
    """Return a topic and its partitions for display."""
    rows = []
    for part in sorted(topic["partitions"], key=lambda each: each["partition_index"]):
        first, last = ends[topic["name"], part["partition_index"]]
        rows.append(
            {
                "partition": part["partition_index"],
                "leader": part["leader_id"],
                "replicas": part["replica_nodes"],
                "isr": part["isr_nodes"],
                "earliest": first,
                "latest": last,
                "offsets": None if first is None or last is None else last - first,
                "bytes": sizes.get((topic["name"], part["partition_index"], part["leader_id"])),
            }
        )
    return {
        "topic": topic["name"],
        "id": topic["topic_id"],
        "internal": topic["is_internal"],
        "partitions": rows,
    }
