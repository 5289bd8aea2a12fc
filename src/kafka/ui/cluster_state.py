"""Reads the state of a cluster through the admin client: a `Snapshot` with the details that pages need.

Topics and groups are always listed. Their offsets and sizes are read for all of them if the cluster is small, and
otherwise only for those that the current pages show. If the user is not authorized to see a part of the cluster, the
snapshot contains a note in place of that part, and is otherwise complete.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kafka._addresses import format_address
from kafka.admin import OffsetSpec
from kafka.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError, error_text
from kafka.spark.exactly_once.decision import is_decision
from kafka.structs import TopicPartition
from kafka.ui.quorum import Quorum, read_quorum
from kafka.ui.snapshot import BrokerState, GroupState, Need, PartitionState, Snapshot, TopicState

if TYPE_CHECKING:
    from kafka.admin import AsyncKafkaAdminClient

SMALL_PARTITIONS = 1_000
"""Maximum number of partitions whose offsets are read in each poll, whichever pages are open."""
SMALL_GROUPS = 100
"""Maximum number of groups whose offsets are read in each poll, whichever pages are open."""
T = TypeVar("T")
_PATIENCE_S = 5.0
"""Seconds within which a broker has to list its groups."""
_DETAILS_S = 10.0
"""Seconds within which all brokers have to answer for offsets and sizes: a broker that has just died does not."""
_SILENT = "it did not answer"
_SHARE = "share"


class _Committed(NamedTuple):
    offset: int
    is_place: bool
    """False if the number is a batch number, which Spark's sink commits in place of an offset and which has no lag."""


async def look(admin: "AsyncKafkaAdminClient", time: float, need: Need) -> Snapshot:
    """Take a snapshot of the cluster with the details that are needed, or with all details if the cluster is small.

    Raises `KafkaError` if the cluster cannot be reached or described.
    """
    notes: list[str] = []
    cluster = await admin.describe_cluster()
    described = [each for each in await admin.describe_topics() if not each["error_code"]]
    nodes = [each["node_id"] for each in cluster["brokers"]]
    quorum, *parts = await asyncio.gather(read_quorum(admin), *(_groups_of(admin, node, notes) for node in nodes))
    listed = [each for part in parts for each in part]
    topics = {each["name"]: _topic(each) for each in described}
    found = Snapshot(
        time=time,
        cluster=str(cluster["cluster_id"] or ""),
        controller=quorum.leader if isinstance(quorum, Quorum) else cluster["controller_id"],
        brokers={
            each["node_id"]: BrokerState(
                each["node_id"], format_address(each["host"], each["port"]), each["rack"] or ""
            )
            for each in cluster["brokers"]
        },
        topics=dict(sorted(topics.items(), key=lambda each: (each[1].internal, each[0]))),
        groups={each["group_id"]: _group(each) for each in listed},
        notes=tuple(notes),
        is_partial=any(_SILENT in note for note in notes),
        quorum=quorum,
    )
    partitions = sum(len(each.partitions) for each in topics.values())
    small = Need(
        frozenset(topics) if partitions <= SMALL_PARTITIONS else frozenset(),
        frozenset(found.groups) if len(listed) <= SMALL_GROUPS else frozenset(),
    )
    try:
        async with asyncio.timeout(_DETAILS_S) as limit:
            return await complete(admin, found, need | small)
    except TimeoutError:
        if not limit.expired():
            raise
    note = f"offsets and sizes: the brokers did not answer within {_DETAILS_S:.0f} s; older ones are shown"
    return dataclasses.replace(found, notes=(*found.notes, note), is_partial=True)


async def complete(admin: "AsyncKafkaAdminClient", now: Snapshot, need: Need, time: float | None = None) -> Snapshot:
    """Read the needed details: offsets and sizes of topics, and committed offsets of groups.

    Arguments:
        time: the current time in seconds since 1970; None: that of the snapshot.

    Raises `KafkaError`.
    """
    topics = sorted(need.topics & now.topics.keys())
    groups = sorted(need.groups & now.groups.keys())
    if not topics and not groups:
        return now
    notes = list(now.notes)
    committed = await _committed(admin, [now.groups[name] for name in groups], notes)
    places = [
        TopicPartition(name, each.number)
        for name in topics
        for each in now.topics[name].partitions
        if not each.is_offline
    ]
    of_groups = {tp for offsets in committed.values() for tp in offsets if _is_readable(now, tp)}
    ends = await _offsets(admin, [*places, *of_groups.difference(places)], OffsetSpec.LATEST)
    first = await _offsets(admin, places, OffsetSpec.EARLIEST)
    sizes = await _sizes(admin, [now.topics[name] for name in topics], notes)
    as_of = None if time == now.time else time
    read_topics = {name: _detailed_topic(now.topics[name], first, ends, sizes, as_of) for name in topics}
    read_groups = {name: _detailed_group(now.groups[name], committed.get(name, {}), ends, as_of) for name in groups}
    return dataclasses.replace(
        now, topics=now.topics | read_topics, groups=now.groups | read_groups, notes=tuple(dict.fromkeys(notes))
    )


def _is_readable(now: Snapshot, tp: TopicPartition) -> bool:
    """Return whether the partition exists and has a leader; otherwise, asking for its offsets would only take time."""
    topic = now.topics.get(tp.topic)
    return topic is not None and any(each.number == tp.partition and not each.is_offline for each in topic.partitions)


async def _groups_of(admin: "AsyncKafkaAdminClient", node: int, notes: list[str]) -> Sequence[Mapping[str, Any]]:
    """Return the groups that a broker coordinates. A broker that has just died must not delay the others."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await admin.list_groups([node])
    except TimeoutError:
        notes.append(f"groups of broker {node}: {_SILENT} within {_PATIENCE_S:.0f} s")
    except KafkaError as error:
        notes.append(f"groups of broker {node}: {error_text(error)}")
    return []


async def _allowed(asked: Awaitable[T], instead: T, what: str, notes: list[str]) -> T:
    """Return the result of a request, or add a note and return a default if the cluster rejects it."""
    try:
        return await asked
    except (KafkaConnectionError, KafkaTimeoutError):
        raise
    except KafkaError as error:
        notes.append(f"{what}: {error_text(error)}")
        return instead


async def _offsets(
    admin: "AsyncKafkaAdminClient", wanted: Sequence[TopicPartition], spec: OffsetSpec
) -> dict[TopicPartition, int]:
    """Return the offsets of the partitions that have no error."""
    if not wanted:
        return {}
    found: Mapping[TopicPartition, Any] = await admin.list_partition_offsets(
        dict.fromkeys(wanted, spec), raise_errors=False
    )
    return {tp: each.offset for tp, each in found.items() if not isinstance(each, KafkaError)}


async def _committed(
    admin: "AsyncKafkaAdminClient", groups: Sequence[GroupState], notes: list[str]
) -> dict[str, dict[TopicPartition, _Committed]]:
    """Return the committed offsets of each group."""
    shares = [each.name for each in groups if each.kind == _SHARE]
    others = [each.name for each in groups if each.kind != _SHARE]
    found: dict[str, Any] = {}
    if others:
        found |= await _allowed(admin.list_group_offsets(others, raise_errors=False), {}, "offsets of groups", notes)
    if shares:
        asked = admin.list_share_group_offsets(shares, raise_errors=False)
        found |= await _allowed(asked, {}, "offsets of share groups", notes)
    kept: dict[str, dict[TopicPartition, _Committed]] = {}
    for group, offsets in found.items():
        if isinstance(offsets, KafkaError):
            notes.append(f"group {group}: {type(offsets).__name__}: {offsets}")
            continue
        at = {tp: _offset(group, each) for tp, each in offsets.items()}
        kept[group] = {tp: each for tp, each in at.items() if each.offset >= 0}
    return kept


def _offset(group: str, committed: Any) -> _Committed:
    if isinstance(committed, KafkaError):
        return _Committed(-1, False)
    if hasattr(committed, "start_offset"):
        return _Committed(int(committed.start_offset), True)
    return _Committed(int(committed.offset), not is_decision(group, committed.metadata))


async def _sizes(
    admin: "AsyncKafkaAdminClient", topics: Sequence[TopicState], notes: list[str]
) -> dict[tuple[int, str, int], int]:
    """Return the size of each replica in bytes, by broker, topic and partition."""
    if not topics:
        return {}
    wanted = {each.name: [part.number for part in each.partitions] for each in topics}
    brokers: Any = await _allowed(admin.describe_log_dirs(wanted, raise_errors=False), [], "sizes", notes)
    return {
        (broker["broker"], topic["name"], part["partition_index"]): part["partition_size"]
        for broker in brokers
        for folder in broker.get("log_dirs", ())
        for topic in folder["topics"]
        for part in topic["partitions"]
        if not part["is_future_key"]
    }


def _broker(described: Mapping[str, Any]) -> BrokerState:
    address = format_address(described["host"], described["port"])
    return BrokerState(described["node_id"], address, described.get("rack") or "")


def _topic(described: Mapping[str, Any]) -> TopicState:
    partitions = [
        PartitionState(
            number=each["partition"],
            leader=each["leader"],
            replicas=tuple(each["replicas"]),
            isr=tuple(each["isr"]),
        )
        for each in described["partitions"]
    ]
    by_number = tuple(sorted(partitions, key=lambda each: each.number))
    is_internal = described["is_internal"] or described["name"].startswith("__")  # by convention, as in other tools
    return TopicState(
        described["name"], is_internal, by_number, is_detailed=False, topic_id=described.get("topic_id") or ""
    )


def _detailed_topic(
    topic: TopicState,
    first: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
    sizes: Mapping[tuple[int, str, int], int],
    as_of: float | None,
) -> TopicState:
    partitions = [
        dataclasses.replace(
            each,
            first=first.get(TopicPartition(topic.name, each.number)),
            end=ends.get(TopicPartition(topic.name, each.number)),
            size=sizes.get((each.leader, topic.name, each.number)),
        )
        for each in topic.partitions
    ]
    return dataclasses.replace(topic, partitions=tuple(partitions), is_detailed=True, as_of=as_of)


def _group(listed: Mapping[str, Any]) -> GroupState:
    kind = str(listed.get("group_type") or "classic").lower()
    return GroupState(listed["group_id"], kind, str(listed.get("group_state") or ""), is_detailed=False)


def _detailed_group(
    group: GroupState,
    committed: Mapping[TopicPartition, _Committed],
    ends: Mapping[TopicPartition, int],
    as_of: float | None,
) -> GroupState:
    found = dict(sorted(committed.items()))
    known = {tp: ends[tp] for tp, each in found.items() if tp in ends and each.is_place}
    return dataclasses.replace(
        group,
        committed={tp: each.offset for tp, each in found.items()},
        lags={tp: max(0, known[tp] - each.offset) if tp in known else None for tp, each in found.items()},
        ends=known,
        is_detailed=True,
        as_of=as_of,
    )
