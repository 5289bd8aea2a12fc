"""Asks the cluster for a `Snapshot`. What one is not allowed to know becomes a note, and the rest is there."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kafka._addresses import format_address
from kafka.admin import OffsetSpec
from kafka.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError, error_text
from kafka.spark.exactly_once.decision import is_decision
from kafka.structs import TopicPartition
from kafka.ui.snapshot import GroupState, PartitionState, Snapshot, TopicState

if TYPE_CHECKING:
    from kafka.admin import AsyncKafkaAdminClient

T = TypeVar("T")
_SHARE = "share"


class _Committed(NamedTuple):
    offset: int
    is_place: bool
    """False: it is the number of a batch, which Spark's sink keeps there, and no lag can be told from it."""


async def look(admin: "AsyncKafkaAdminClient", time: float) -> Snapshot:
    """Look at the cluster. Raises `KafkaError` where it cannot be reached or may not be described."""
    notes: list[str] = []
    cluster = await admin.describe_cluster()
    described = [each for each in await admin.describe_topics() if not each["error_code"]]
    groups = await _allowed(admin.list_groups(raise_errors=False), [], "groups", notes)
    committed = await _committed(admin, groups, notes)
    wanted = [TopicPartition(each["name"], part["partition"]) for each in described for part in each["partitions"]]
    first, ends = await _offsets(admin, wanted, OffsetSpec.EARLIEST), await _offsets(admin, wanted, OffsetSpec.LATEST)
    sizes = await _sizes(admin, notes)
    topics = {each["name"]: _topic(each, first, ends, sizes) for each in described}
    return Snapshot(
        time=time,
        cluster=str(cluster["cluster_id"] or ""),
        controller=cluster["controller_id"],
        brokers={each["node_id"]: format_address(each["host"], each["port"]) for each in cluster["brokers"]},
        topics=dict(sorted(topics.items(), key=lambda each: (each[1].internal, each[0]))),
        groups={each["group_id"]: _group(each, committed, ends) for each in groups},
        notes=tuple(notes),
    )


async def _allowed(asked: Awaitable[T], instead: T, what: str, notes: list[str]) -> T:
    """An answer; where the cluster refuses one or is too old for it, something instead, and a note."""
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
    """Offsets of those partitions that tell them."""
    if not wanted:
        return {}
    found: Mapping[TopicPartition, Any] = await admin.list_partition_offsets(
        dict.fromkeys(wanted, spec), raise_errors=False
    )
    return {tp: each.offset for tp, each in found.items() if not isinstance(each, KafkaError)}


async def _committed(
    admin: "AsyncKafkaAdminClient", groups: Sequence[Mapping[str, Any]], notes: list[str]
) -> dict[str, dict[TopicPartition, _Committed]]:
    """What each group has committed."""
    shares = [each["group_id"] for each in groups if _kind(each) == _SHARE]
    others = [each["group_id"] for each in groups if _kind(each) != _SHARE]
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


async def _sizes(admin: "AsyncKafkaAdminClient", notes: list[str]) -> dict[tuple[int, str, int], int]:
    """The bytes of each replica, by broker, topic and partition."""
    brokers: Any = await _allowed(admin.describe_log_dirs(raise_errors=False), [], "sizes", notes)
    return {
        (broker["broker"], topic["name"], part["partition_index"]): part["partition_size"]
        for broker in brokers
        for folder in broker.get("log_dirs", ())
        for topic in folder["topics"]
        for part in topic["partitions"]
        if not part["is_future_key"]
    }


def _topic(
    described: Mapping[str, Any],
    first: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
    sizes: Mapping[tuple[int, str, int], int],
) -> TopicState:
    name = described["name"]
    partitions = [
        PartitionState(
            number=each["partition"],
            leader=each["leader"],
            replicas=tuple(each["replicas"]),
            isr=tuple(each["isr"]),
            first=first.get(TopicPartition(name, each["partition"])),
            end=ends.get(TopicPartition(name, each["partition"])),
            size=sizes.get((each["leader"], name, each["partition"])),
        )
        for each in described["partitions"]
    ]
    return TopicState(name, described["is_internal"], tuple(sorted(partitions, key=lambda each: each.number)))


def _kind(listed: Mapping[str, Any]) -> str:
    return str(listed.get("group_type") or "classic").lower()


def _group(
    listed: Mapping[str, Any],
    committed: Mapping[str, Mapping[TopicPartition, _Committed]],
    ends: Mapping[TopicPartition, int],
) -> GroupState:
    found = dict(sorted(committed.get(listed["group_id"], {}).items()))
    offsets = {tp: each.offset for tp, each in found.items()}
    lags = {tp: max(0, ends[tp] - each.offset) if tp in ends and each.is_place else None for tp, each in found.items()}
    return GroupState(listed["group_id"], _kind(listed), str(listed.get("group_state") or ""), offsets, lags)
