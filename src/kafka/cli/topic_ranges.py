"""Resolves topics, partitions and positions with the admin client."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from kafka.admin import OffsetSpec, OffsetTimestamp
from kafka.cli.common_options import partition_of
from kafka.cli.position_syntax import Position, instant
from kafka.cli.suggestions import no_topic
from kafka.coordinator.offset_arguments import timestamp_ms
from kafka.errors import BrokerNotAvailableError, KafkaError, for_code
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

EDGES = {"earliest": OffsetSpec.EARLIEST, "latest": OffsetSpec.LATEST}


def place(position: Position) -> Any:
    """Return a position for `reset_group_offsets`: an offset, an `OffsetSpec` or an `OffsetTimestamp`.

    Raises `click.UsageError` for a time before 1970.
    """
    if isinstance(position, str):
        return EDGES[position]
    time = instant(position)
    if time is None:
        return position
    since_1970 = timestamp_ms(time)
    if since_1970 is None:
        raise click.UsageError(f"expected a time since 1970, got {position}")
    return OffsetTimestamp(since_1970)


def partitions_of(admin: "KafkaAdminClient", names: Iterable[str]) -> list[TopicPartition]:
    """Return the partitions for names: TOPIC stands for all its partitions, TOPIC:NUMBER for one partition.

    Raises `UnknownTopicOrPartitionError`, which names the topic, and `click.UsageError`.
    """
    found: dict[TopicPartition, None] = {}
    whole = []
    for name in names:
        topic, colon, number = name.rpartition(":")
        if colon and number.isdecimal():
            found[TopicPartition(topic, int(number))] = None
        else:
            whole.append(name)
    for each in admin.describe_topics(whole) if whole else ():
        if each["error_code"]:
            raise no_topic(admin, each["name"]) or for_code(each["error_code"])(f"topic {each['name']!r}")
        indexes = sorted(part["partition_index"] for part in each["partitions"])
        found.update((TopicPartition(each["name"], index), None) for index in indexes)
    return list(found)


def check_brokers(admin: "KafkaAdminClient", wanted: Iterable[int]) -> None:
    """Raise `BrokerNotAvailableError` for ids that are not in the cluster, as a client would wait for them."""
    if not (wanted := set(wanted)):
        return
    there = {each["node_id"] for each in admin.describe_cluster()["brokers"]}
    if missing := sorted(wanted - there):
        lacking, has = (", ".join(map(str, ids)) for ids in (missing, sorted(there)))
        raise BrokerNotAvailableError(f"the cluster has no broker {lacking}; it has {has}")


def offsets_at(
    admin: "KafkaAdminClient", partitions: Iterable[TopicPartition], position: Position
) -> dict[TopicPartition, Any]:
    """Return the offset for a position in each partition, or a `KafkaError`.

    If all records are older than a given time, the offset is the end of the partition.
    """
    partitions = list(partitions)
    target = place(position)
    ends = _listed(admin, dict.fromkeys(partitions, OffsetSpec.LATEST))
    if target is OffsetSpec.LATEST:
        return ends
    if isinstance(target, OffsetSpec | OffsetTimestamp):
        found = _listed(admin, dict.fromkeys(partitions, int(target)))
        return {tp: ends[tp] if offset == -1 else offset for tp, offset in found.items()}
    first = _listed(admin, dict.fromkeys(partitions, OffsetSpec.EARLIEST))
    return {
        tp: next((each for each in (first[tp], ends[tp]) if isinstance(each, KafkaError)), None)
        or min(max(target, first[tp]), ends[tp])
        for tp in partitions
    }


def _listed(admin: "KafkaAdminClient", wanted: Mapping[TopicPartition, int]) -> dict[TopicPartition, Any]:
    if not wanted:
        return {}
    found: dict[TopicPartition, Any] = {**admin.list_partition_offsets(wanted, raise_errors=False)}
    return {tp: each if isinstance(each, KafkaError) else each.offset for tp, each in found.items()}


def triple(text: str) -> tuple[TopicPartition, int]:
    """Parse an offset of the form TOPIC:PARTITION:OFFSET. Raises `click.UsageError`."""
    partition, _, offset = text.rpartition(":")
    if partition.count(":") != 1 or not offset.removeprefix("-").isdecimal():
        raise click.UsageError(f"expected TOPIC:PARTITION:OFFSET, such as orders:0:1234, got {text!r}")
    return TopicPartition(*partition_of(partition)), int(offset)
