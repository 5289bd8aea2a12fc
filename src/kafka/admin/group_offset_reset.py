"""Resets the committed offsets of a group."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from kafka._loop_services import wall_clock_ns
from kafka.admin.cluster import all_partitions
from kafka.admin.group_descriptions import has_members
from kafka.admin.group_offsets import alter_group_offsets, list_consumer_group_offsets
from kafka.admin.partitions import OffsetShift, OffsetSpec, OffsetTimestamp, list_partition_offsets
from kafka.admin.requests import AdminRequests, gather
from kafka.coordinator.offset_arguments import timestamp_ms
from kafka.errors import (
    IllegalArgumentError,
    IllegalArgumentTypeError,
    KafkaError,
    NoError,
    NoOffsetForPartitionError,
    UnknownMemberIdError,
)
from kafka.structs import OffsetAndMetadata, TopicPartition

Target = OffsetSpec | OffsetTimestamp | OffsetShift | timedelta | int
"""Where to reset to; a timedelta is relative to now, into the past."""
GivenTarget = Target | datetime
"""What callers may pass; a datetime without a time zone is local time, as in `datetime.timestamp`."""


def target(what: str, given: object) -> Target:
    """Check a target; a `datetime` becomes an `OffsetTimestamp`."""
    if isinstance(given, datetime):
        return _time(what, given)
    if isinstance(given, timedelta):
        if given < timedelta(0):
            raise IllegalArgumentError(f"{what}: expected a timedelta before now, 0 or more, got {given!r}")
        return given
    if isinstance(given, bool) or not isinstance(given, int):
        raise IllegalArgumentTypeError(
            f"{what}: expected an OffsetSpec, OffsetTimestamp, OffsetShift, datetime, timedelta or an offset, got "
            f"{given!r:.80}"
        )
    return given


def _time(what: str, given: datetime) -> OffsetTimestamp:
    since_1970 = timestamp_ms(given)
    if since_1970 is None:
        raise IllegalArgumentError(f"{what}: expected a time since 1970, got {given!r}")
    return OffsetTimestamp(since_1970)


def timestamps(targets: Mapping[Any, Target], now_ms: int) -> dict[Any, int]:
    """The timestamps to search, for those targets that need a search."""
    found: dict[Any, int] = {}
    for key, each in targets.items():
        if isinstance(each, timedelta):
            found[key] = now_ms - round(each.total_seconds() * 1000)
        elif isinstance(each, OffsetSpec | OffsetTimestamp):
            found[key] = int(each)
    return found


Reset = dict[TopicPartition, dict[str, Any]]


async def whole_topics(requests: AdminRequests, targets: Mapping[Any, Target]) -> dict[TopicPartition, Target]:
    """Targets by partition: a topic stands for all its partitions, except those with their own target."""
    topics = [key for key in targets if isinstance(key, str)]
    wanted: dict[TopicPartition, Target] = {}
    if topics:
        for topic, indexes in (await all_partitions(requests, topics)).items():
            wanted.update((TopicPartition(topic, index), targets[topic]) for index in indexes)
    wanted.update((key, each) for key, each in targets.items() if not isinstance(key, str))
    return wanted


async def reset_group_offsets(
    requests: AdminRequests,
    group_id: str,
    targets: Mapping[Any, Target] | Target,
    node_id: int | None,
    dry_run: bool,
) -> Reset:
    """See `KafkaAdminClient.reset_group_offsets`."""
    if isinstance(targets, Mapping):
        wanted = await whole_topics(requests, targets)
        current = await list_consumer_group_offsets(requests, group_id, node_id, list(wanted)) if wanted else {}
    else:
        current = await list_consumer_group_offsets(requests, group_id, node_id, None)
        wanted = dict.fromkeys(current, targets)
    if not wanted:
        return {}
    found = await _found(requests, wanted, current)
    to_commit = {
        tp: OffsetAndMetadata(offset, current[tp].metadata, None)
        for tp, offset in found.items()
        if not isinstance(offset, KafkaError)
    }
    errors: Mapping[TopicPartition, type[KafkaError]] = dict.fromkeys(to_commit, NoError)
    if to_commit and not dry_run:
        errors = await alter_group_offsets(requests, group_id, to_commit, node_id)
    elif to_commit and await has_members(requests, group_id, node_id):
        errors = dict.fromkeys(to_commit, UnknownMemberIdError)  # as the coordinator would answer
    return {
        tp: {"error": type(offset), "offset": -1}
        if isinstance(offset, KafkaError)
        else {"error": errors[tp], "offset": offset}
        for tp, offset in found.items()
    }


async def _found(
    requests: AdminRequests, wanted: Mapping[TopicPartition, Target], current: Mapping[TopicPartition, Any]
) -> dict[TopicPartition, Any]:
    """The new offset of each partition, limited to its first and last offset; or the error."""
    timed = timestamps(wanted, wall_clock_ns()() // 1_000_000)
    first, last, at = await gather(
        list_partition_offsets(requests, specs, raise_errors=False)
        for specs in (dict.fromkeys(wanted, OffsetSpec.EARLIEST), dict.fromkeys(wanted, OffsetSpec.LATEST), timed)
    )
    found: dict[TopicPartition, Any] = {}
    for tp, target in wanted.items():
        told: list[Any] = [first[tp], last[tp], *([at[tp]] if tp in at else [])]
        error = next((each for each in told if isinstance(each, KafkaError)), None)
        if error is None and isinstance(target, OffsetShift) and current[tp].offset < 0:
            error = NoOffsetForPartitionError(f"{tp.topic}-{tp.partition} has no committed offset to go on from")
        if error is not None:
            found[tp] = error
            continue
        begin, end = first[tp].offset, last[tp].offset
        offset: int
        if tp in at:
            offset = at[tp].offset if at[tp].offset >= 0 else end  # no record is as late as that
        else:
            offset = int(target) + (current[tp].offset if isinstance(target, OffsetShift) else 0)  # type: ignore[arg-type]  # a timedelta was looked for
        found[tp] = min(max(offset, begin), end)
    return found
