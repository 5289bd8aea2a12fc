"""Polls the cluster once for all viewers, while there are any. Each poll creates a `Snapshot`.

If the user is not authorized to see a part of the cluster, the snapshot contains a note in place of that part, and is
otherwise complete.
"""

import asyncio
import collections
import contextlib
import dataclasses
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kafka._addresses import format_address
from kafka.admin import OffsetSpec
from kafka.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError, error_text
from kafka.spark.exactly_once.decision import is_decision
from kafka.structs import TopicPartition
from kafka.ui.snapshot import GroupState, PartitionState, Snapshot, TopicState, rate

if TYPE_CHECKING:
    from kafka.admin import AsyncKafkaAdminClient

log = logging.getLogger(__name__)

KEPT = 720
"""Number of snapshots in the history: one hour at one snapshot every five seconds."""
_PATIENCE = 3
"""Number of intervals for which polling continues after a page request, because browsers without JavaScript reload."""
_LONGEST_PAUSE_S = 60.0
_ALIVE_S = 15.0
"""Seconds without a new snapshot before a stream sends a keep-alive, which detects closed connections."""


@dataclasses.dataclass(slots=True)
class History:
    """Values of earlier snapshots, as pairs of a time and a value."""

    rates: dict[str, collections.deque[tuple[float, float]]] = dataclasses.field(default_factory=dict)
    lags: dict[tuple[str, str], collections.deque[tuple[float, float]]] = dataclasses.field(default_factory=dict)

    def add(self, before: Snapshot | None, now: Snapshot) -> None:
        """Add a snapshot; drop topics and groups that no longer exist."""
        for topic in now.topics:
            if (found := rate(before, now, topic)) is not None:
                self.rates.setdefault(topic, collections.deque(maxlen=KEPT)).append((now.time, found))
        seen = set()
        for group in now.groups.values():
            for topic, lag in group.lag_by_topic().items():
                seen.add((group.name, topic))
                self.lags.setdefault((group.name, topic), collections.deque(maxlen=KEPT)).append((now.time, lag))
        self.rates = {topic: kept for topic, kept in self.rates.items() if topic in now.topics}
        self.lags = {key: kept for key, kept in self.lags.items() if key in seen}


class ClusterPoller:
    """Takes a `Snapshot` at regular intervals while there are viewers.

    Arguments:
        look: takes a snapshot; called with the time.
        interval_s: time between two snapshots, in seconds.
        clock: returns the time in seconds since 1970.
    """

    def __init__(
        self, look: Callable[[float], Awaitable[Snapshot]], interval_s: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._look = look
        self._interval_s = interval_s
        self._clock = clock
        self._viewers = 0
        self._looked_at = float("-inf")
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Condition()
        self._closed = False
        self._numbered = 0
        self._logged: set[str] = set()
        self.newest: Snapshot | None = None
        self.trouble = ""
        self.history = History()

    @property
    def is_looking(self) -> bool:
        """Whether the cluster is being polled."""
        return self._task is not None and not self._task.done()

    async def snapshot(self) -> Snapshot | None:
        """Return the newest snapshot for a page request. If there is none yet, return None; `trouble` says why."""
        seen = self._numbered
        fresh = self.is_looking and self._numbered > 0
        self._begin()
        if not fresh:
            await self._wait_for(seen)
        return self.newest

    async def follow(self) -> AsyncGenerator[bool]:
        """Yield True for each new snapshot, and False as a keep-alive."""
        self._viewers += 1
        try:
            seen = self._numbered
            while not self._closed:
                self._begin()
                try:
                    async with asyncio.timeout(_ALIVE_S):
                        await self._wait_for(seen)
                except TimeoutError:
                    yield False
                    continue
                if self._numbered > seen:  # otherwise the poller was closed
                    seen = self._numbered
                    yield True
        finally:
            self._viewers -= 1

    async def close(self) -> None:
        """End all streams, and stop polling."""
        self._closed = True
        async with self._changed:
            self._changed.notify_all()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def _begin(self) -> None:
        self._looked_at = asyncio.get_running_loop().time()
        if not self.is_looking and not self._closed:
            self._task = asyncio.create_task(self._run())

    def _is_wanted(self) -> bool:
        since = asyncio.get_running_loop().time() - self._looked_at
        return self._viewers > 0 or since < _PATIENCE * self._interval_s

    async def _wait_for(self, seen: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._closed or self._numbered > seen)

    async def _run(self) -> None:
        pause_s = self._interval_s
        while self._is_wanted():
            await self._observe()
            pause_s = min(2 * pause_s, max(_LONGEST_PAUSE_S, self._interval_s)) if self.trouble else self._interval_s
            await asyncio.sleep(pause_s)

    async def _observe(self) -> None:
        """Poll once. Every failure is shown to the viewers, and is logged once per cause."""
        try:
            found = await self._look(self._clock())
            self.history.add(self.newest, found)
        except KafkaError as error:
            self._fail(error_text(error), error)
        except Exception as error:
            self._fail(f"cannot read the cluster's answer: {type(error).__name__}: {error}", error)
        else:
            self.newest, self.trouble = found, ""
        self._numbered += 1
        async with self._changed:
            self._changed.notify_all()

    def _fail(self, text: str, error: Exception) -> None:
        self.trouble = text
        if type(error).__name__ not in self._logged:
            self._logged.add(type(error).__name__)
            log.warning("cannot read the state of the cluster: %s", text, exc_info=not isinstance(error, KafkaError))


T = TypeVar("T")
_SHARE = "share"


class _Committed(NamedTuple):
    offset: int
    is_place: bool
    """False if the number is a batch number, which Spark's sink commits in place of an offset and which has no lag."""


async def look(admin: "AsyncKafkaAdminClient", time: float) -> Snapshot:
    """Take a snapshot of the cluster. Raises `KafkaError` if the cluster cannot be reached or described."""
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
    admin: "AsyncKafkaAdminClient", groups: Sequence[Mapping[str, Any]], notes: list[str]
) -> dict[str, dict[TopicPartition, _Committed]]:
    """Return the committed offsets of each group."""
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
    """Return the size of each replica in bytes, by broker, topic and partition."""
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
