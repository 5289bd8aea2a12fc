"""Committed offsets of groups: list, alter, reset and delete them, and compute the lag."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from kafka._loop_services import wall_clock_ns
from kafka.admin.admin_requests import AdminRequests, check_answered, gather, raise_first
from kafka.admin.cluster import all_partitions
from kafka.admin.group_descriptions import has_members
from kafka.admin.partitions import OffsetShift, OffsetSpec, OffsetTimestamp, list_partition_offsets
from kafka.admin.routing import Outcome, ask_each, by_topic, group_route, values_or_raise
from kafka.coordinator.offset_arguments import timestamp_ms
from kafka.errors import (
    BrokerResponseError,
    IllegalArgumentError,
    IllegalArgumentTypeError,
    KafkaError,
    NoError,
    NoOffsetForPartitionError,
    UnknownMemberIdError,
    UnsupportedVersionError,
    for_code,
)
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.wire.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka.wire.api.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka.wire.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)

_GROUPS_SINCE = 8
_NAMES_UNTIL = 9
_STABLE_SINCE = 7
_ALL_SINCE = 2

Errors = dict[TopicPartition, type[BrokerResponseError]]


async def list_consumer_group_offsets(
    requests: AdminRequests, group_id: str, node_id: int | None, partitions: Iterable[TopicPartition] | None
) -> dict[TopicPartition, OffsetAndMetadata]:
    """See `KafkaAdminClient.list_consumer_group_offsets`."""
    wanted = None if partitions is None else list(partitions)
    return (await list_group_offsets(requests, {group_id: wanted}, node_id))[group_id]


async def list_group_offsets(
    requests: AdminRequests,
    groups: Mapping[str, list[TopicPartition] | None],
    node_id: int | None = None,
    require_stable: bool = False,
    raise_errors: bool = True,
) -> dict[str, dict[TopicPartition, Any]]:
    """See `KafkaAdminClient.list_group_offsets`."""

    async def ask(broker_id: int, ids: list[str]) -> list[Outcome]:
        connection = await requests.cluster.connection(broker_id)
        least = _STABLE_SINCE if require_stable else 0
        version = connection.api_versions.version_for(OffsetFetchRequest, least, _NAMES_UNTIL)
        if version >= _GROUPS_SINCE:
            asked = [OffsetFetchRequestGroup(group_id=each, topics=_topics_since_8(groups[each])) for each in ids]
            response = await connection.send(OffsetFetchRequest(groups=asked, require_stable=require_stable), version)
            return [_outcome(each.group_id, groups.get(each.group_id), each) for each in response.groups]

        async def ask_one(group_id: str) -> Outcome:
            request = _single_request(group_id, groups[group_id], version)
            request.require_stable = require_stable
            return _outcome(group_id, groups[group_id], await connection.send(request, version))

        return await gather(ask_one(each) for each in ids)

    found = await ask_each(requests, "offsets of group", groups, group_route(requests, node_id), ask)
    if raise_errors:
        for told in values_or_raise(found).values():
            values_or_raise(told)
    return found


def _topics_since_8(partitions: Iterable[TopicPartition] | None) -> list[OffsetFetchRequestTopics] | None:
    if partitions is None:
        return None
    return [OffsetFetchRequestTopics(name=t, partition_indexes=p) for t, p in by_topic(partitions).items()]


def _single_request(group_id: str, partitions: Iterable[TopicPartition] | None, version: int) -> OffsetFetchRequest:
    """Return the request for brokers that accept only one group per request."""
    if partitions is None:
        if version < _ALL_SINCE:
            raise UnsupportedVersionError(
                "brokers before 0.10.2 do not list all offsets of a group: name the partitions"
            )
        return OffsetFetchRequest(group_id=group_id, topics=None)
    topics = [OffsetFetchRequestTopic(name=t, partition_indexes=p) for t, p in by_topic(partitions).items()]
    return OffsetFetchRequest(group_id=group_id, topics=topics)


def _outcome(group_id: str, asked: Iterable[TopicPartition] | None, answer: Any) -> Outcome:
    """Return a group's committed offsets, or errors, by partition.

    A retriable partition error is reported for the whole group, so that the group is queried again.
    """
    code, found = int(answer.error_code), dict[TopicPartition, Any]()
    for topic in answer.topics:
        for each in topic.partitions:
            tp = TopicPartition(topic.name, each.partition_index)
            if each.error_code:
                error = for_code(each.error_code)(f"offset of group {group_id!r} for {tp.topic}-{tp.partition}")
                code = code or (each.error_code if error.retriable else 0)
                found[tp] = error
            else:
                found[tp] = OffsetAndMetadata(each.committed_offset, each.metadata, each.committed_leader_epoch)
    if not code:
        check_answered("partitions", asked or (), found)
    return Outcome(group_id, code, None, found)


async def alter_group_offsets(
    requests: AdminRequests, group_id: str, offsets: Mapping[TopicPartition, OffsetAndMetadata], node_id: int | None
) -> Errors:
    """See `KafkaAdminClient.alter_group_offsets`."""
    topics = [
        OffsetCommitRequestTopic(
            name=topic,
            partitions=[_committed(index, offsets[TopicPartition(topic, index)]) for index in indexes],
        )
        for topic, indexes in by_topic(offsets).items()
    ]
    response = await requests.coordinator(
        group_id,
        lambda version: (OffsetCommitRequest(group_id=group_id, topics=topics), min(version, _NAMES_UNTIL)),
        OffsetCommitRequest,
        _inner_codes,
        node_id,
    )
    return _errors(response, offsets)


def _committed(index: int, offset: OffsetAndMetadata) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=index,
        committed_offset=offset.offset,
        committed_leader_epoch=-1 if offset.leader_epoch is None else offset.leader_epoch,
        committed_metadata=offset.metadata or "",
    )


async def delete_group_offsets(
    requests: AdminRequests, group_id: str, partitions: list[TopicPartition], node_id: int | None
) -> Errors:
    """See `KafkaAdminClient.delete_group_offsets`."""
    topics = [
        OffsetDeleteRequestTopic(
            name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in indexes]
        )
        for topic, indexes in by_topic(partitions).items()
    ]
    response = await requests.coordinator(
        group_id,
        lambda version: (OffsetDeleteRequest(group_id=group_id, topics=topics), version),
        OffsetDeleteRequest,
        lambda response: [response.error_code],
        node_id,
    )
    raise_first([(f"deleting offsets of group {group_id!r}", response.error_code, None)])
    return _errors(response, partitions)


def _inner_codes(response: Any) -> list[int]:
    return [each.error_code for topic in response.topics for each in topic.partitions]


def _errors(response: Any, asked: Iterable[TopicPartition]) -> Errors:
    """Return the error class for each partition; `NoError` means success."""
    errors = {
        TopicPartition(topic.name, each.partition_index): for_code(each.error_code)
        for topic in response.topics
        for each in topic.partitions
    }
    check_answered("partitions", asked, errors)
    return errors


Lags = dict[TopicPartition, int | None]


async def group_lag(requests: AdminRequests, group_ids: Sequence[str]) -> dict[str, Lags]:
    """Return the lag by group and partition; None if the lag is unknown. Raises the errors of groups."""
    committed = await list_group_offsets(requests, dict.fromkeys(group_ids))
    wanted = sorted({tp for offsets in committed.values() for tp in offsets})
    specs = dict.fromkeys(wanted, OffsetSpec.LATEST)
    ends = await list_partition_offsets(requests, specs, raise_errors=False) if specs else {}
    lags: dict[str, Lags] = {}
    for group_id in group_ids:
        found = lags[group_id] = {}
        for tp, each in sorted(committed[group_id].items()):
            end: Any = ends[tp]  # or the partition's error
            unknown = isinstance(end, KafkaError) or each.offset < 0
            found[tp] = None if unknown else max(0, end.offset - each.offset)
    return lags


Target = OffsetSpec | OffsetTimestamp | OffsetShift | timedelta | int
"""The target of a reset. A timedelta is subtracted from the current time."""
GivenTarget = Target | datetime
"""Targets that callers may pass. A datetime without a time zone is local time, as in `datetime.timestamp`."""


def check_target(what: str, given: object) -> Target:
    """Check a target; convert a `datetime` to an `OffsetTimestamp`."""
    if isinstance(given, datetime):
        return _check_time(what, given)
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


def _check_time(what: str, given: datetime) -> OffsetTimestamp:
    since_1970 = timestamp_ms(given)
    if since_1970 is None:
        raise IllegalArgumentError(f"{what}: expected a time since 1970, got {given!r}")
    return OffsetTimestamp(since_1970)


def _target_timestamps(targets: Mapping[Any, Target], now_ms: int) -> dict[Any, int]:
    """Return the timestamps to look up, for targets that need a lookup."""
    found: dict[Any, int] = {}
    for key, each in targets.items():
        if isinstance(each, timedelta):
            found[key] = now_ms - round(each.total_seconds() * 1000)
        elif isinstance(each, OffsetSpec | OffsetTimestamp):
            found[key] = int(each)
    return found


Reset = dict[TopicPartition, dict[str, Any]]


async def _targets_by_partition(requests: AdminRequests, targets: Mapping[Any, Target]) -> dict[TopicPartition, Target]:
    """Return targets by partition. A topic's target applies to all its partitions that do not have their own target."""
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
        wanted = await _targets_by_partition(requests, targets)
        current = await list_consumer_group_offsets(requests, group_id, node_id, list(wanted)) if wanted else {}
    else:
        current = await list_consumer_group_offsets(requests, group_id, node_id, None)
        wanted = dict.fromkeys(current, targets)
    if not wanted:
        return {}
    found = await _new_offsets(requests, wanted, current)
    to_commit = {
        tp: OffsetAndMetadata(offset, current[tp].metadata, None)
        for tp, offset in found.items()
        if not isinstance(offset, KafkaError)
    }
    errors: Mapping[TopicPartition, type[KafkaError]] = dict.fromkeys(to_commit, NoError)
    if to_commit and not dry_run:
        errors = await alter_group_offsets(requests, group_id, to_commit, node_id)
    elif to_commit and await has_members(requests, group_id, node_id):
        errors = dict.fromkeys(to_commit, UnknownMemberIdError)  # the error that the coordinator would return
    return {
        tp: {"error": type(offset), "offset": -1}
        if isinstance(offset, KafkaError)
        else {"error": errors[tp], "offset": offset}
        for tp, offset in found.items()
    }


async def _new_offsets(
    requests: AdminRequests, wanted: Mapping[TopicPartition, Target], current: Mapping[TopicPartition, Any]
) -> dict[TopicPartition, Any]:
    """Return each partition's new offset, limited to the range from the first to the last offset, or its error."""
    timed = _target_timestamps(wanted, wall_clock_ns()() // 1_000_000)
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
            offset = at[tp].offset if at[tp].offset >= 0 else end  # all records are older
        else:
            offset = int(target) + (current[tp].offset if isinstance(target, OffsetShift) else 0)  # type: ignore[arg-type]  # not a timedelta
        found[tp] = min(max(offset, begin), end)
    return found
