"""ListOffsets: the offsets that times, or the ends of partitions, stand for."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from kafka.cluster import Backoff, ClusterMetadata
from kafka.consumer.position.timestamps import MAX_TIMESTAMP
from kafka.errors import (
    KafkaError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    for_code,
)
from kafka.structs import OffsetAndTimestamp, TopicPartition
from kafka.wire.api.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

_TIMES_SINCE = 1
"""The first version that answers with one offset and its time; v0 gives a list of segments' starts."""
_MAX_TIMESTAMP_SINCE = 7
_CONSUMER = -1
"""Replica id of those who are no replica."""


class LookupClient(Protocol):
    """The part of `kafka.cluster.ClusterClient` that this stands on."""

    @property
    def metadata(self) -> ClusterMetadata:
        """The newest snapshot of the cluster."""

    async def refresh_metadata(self, topics: Iterable[str] | None = None) -> ClusterMetadata:
        """Fetch a new snapshot."""

    async def send(self, node_id: int, request: Any, *, timeout_ms: float | None = None, min_version: int = 0) -> Any:
        """One try to send a request to a broker."""


class Found(NamedTuple):
    """What one round gave.

    Arguments:
        offsets: offset -1 where there is no record at or after the time.
        failed: partitions to ask for again, and why.
    """

    offsets: dict[TopicPartition, OffsetAndTimestamp]
    failed: dict[TopicPartition, KafkaError]


class OffsetLookup:
    """Asks the leaders.

    Arguments:
        client: sends, and knows the leaders.
        isolation_level: for "read_committed" the end of a partition is its last stable offset.
        request_timeout_ms: how long one request may take.
        backoff: pauses between attempts.
    """

    def __init__(self, client: LookupClient, isolation_level: str, request_timeout_ms: float, backoff: Backoff) -> None:
        self._client = client
        self._isolation = int(isolation_level == "read_committed")
        self._request_timeout_ms = request_timeout_ms
        self._backoff = backoff

    async def lookup(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: float
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        """The offset of each partition, trying again while that can help.

        Arguments:
            timestamps: milliseconds since 1970-01-01 UTC, or EARLIEST, LATEST, MAX_TIMESTAMP.
            timeout_ms: how long to try.

        Raises `KafkaTimeoutError`, which names what could not be looked up and why, and what is not retriable.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_ms / 1000
        left = dict(timestamps)
        found: dict[TopicPartition, OffsetAndTimestamp] = {}
        failures = 0
        while left:
            round_ = await self.once(left, (deadline - loop.time()) * 1000)
            found.update(round_.offsets)
            left = {tp: left[tp] for tp in round_.failed}
            if not left:
                break
            failures += 1
            pause = self._backoff.seconds(failures)
            if loop.time() + pause >= deadline:
                why = "; ".join(f"{tp.topic}-{tp.partition}: {error}" for tp, error in list(round_.failed.items())[:5])
                raise KafkaTimeoutError(
                    f"no offsets for {len(left)} of {len(timestamps)} partitions within {timeout_ms:.0f} ms ({why})"
                )
            await asyncio.sleep(pause)
            await self.renew(left)
        return found

    async def renew(self, partitions: Iterable[TopicPartition]) -> None:
        """Refresh the metadata of some partitions; a failure shows when they are asked for next."""
        try:
            await self._client.refresh_metadata({tp.topic for tp in partitions})
        except KafkaError as error:
            if not error.retriable:
                raise

    async def once(self, timestamps: Mapping[TopicPartition, int], timeout_ms: float) -> Found:
        """One try for each partition, all leaders at the same time; raises what is not retriable."""
        result = Found({}, {})
        by_leader: dict[int, dict[TopicPartition, int]] = {}
        unknown = {
            topic
            for topic in {tp.topic for tp in timestamps}
            if self._client.metadata.partitions_for_topic(topic) is None
        }
        if unknown:
            await self.renew(TopicPartition(topic, 0) for topic in unknown)
        for tp, timestamp in timestamps.items():
            leader = self._client.metadata.leader_for_partition(tp)
            if leader is None:
                result.failed[tp] = self._without_leader(tp)
            else:
                by_leader.setdefault(leader, {})[tp] = timestamp
        patience = max(1.0, min(timeout_ms, self._request_timeout_ms))
        asks = [self._ask(leader, wanted, patience, result) for leader, wanted in by_leader.items()]
        await asyncio.gather(*asks)
        return result

    def _without_leader(self, tp: TopicPartition) -> KafkaError:
        error = self._client.metadata.topic_errors.get(tp.topic)
        if error is TopicAuthorizationFailedError:
            raise error({tp.topic})
        if error is not None and not error.retriable:
            raise error(f"topic {tp.topic!r}")
        if self._client.metadata.partition_metadata(tp) is None:
            return UnknownTopicOrPartitionError(f"topic {tp.topic!r} has no partition {tp.partition}")
        return LeaderNotAvailableError(f"partition {tp.partition} of topic {tp.topic!r}")

    async def _ask(
        self, leader: int, timestamps: Mapping[TopicPartition, int], timeout_ms: float, result: Found
    ) -> None:
        times = set(timestamps.values())
        min_version = _TIMES_SINCE if max(times) >= 0 else 0
        if MAX_TIMESTAMP in times:
            min_version = _MAX_TIMESTAMP_SINCE
        request = self._request(timestamps, timeout_ms)
        try:
            response: ListOffsetsResponse = await self._client.send(
                leader, request, timeout_ms=timeout_ms, min_version=min_version
            )
        except KafkaError as error:
            if not error.retriable:
                raise
            result.failed.update(dict.fromkeys(timestamps, error))
            return
        result.failed.update(
            {tp: UnknownTopicOrPartitionError(f"broker {leader} did not answer for it") for tp in timestamps}
        )
        for topic in response.topics:
            for entry in topic.partitions:
                self._take(TopicPartition(topic.name, entry.partition_index), entry, result)

    def _request(self, timestamps: Mapping[TopicPartition, int], timeout_ms: float) -> ListOffsetsRequest:
        topics: dict[str, ListOffsetsTopic] = {}
        for tp, timestamp in timestamps.items():
            topic = topics.setdefault(tp.topic, ListOffsetsTopic(name=tp.topic, partitions=[]))
            topic.partitions.append(
                ListOffsetsPartition(
                    partition_index=tp.partition,
                    current_leader_epoch=self._client.metadata.leader_epoch(tp),
                    timestamp=timestamp,
                )
            )
        return ListOffsetsRequest(
            replica_id=_CONSUMER,
            isolation_level=self._isolation,
            topics=list(topics.values()),
            timeout_ms=int(timeout_ms),
        )

    def _take(self, tp: TopicPartition, entry: Any, result: Found) -> None:
        if entry.error_code:
            error = for_code(entry.error_code)
            if error is TopicAuthorizationFailedError:
                raise error({tp.topic})
            failure = error(f"ListOffsets of partition {tp.partition} of topic {tp.topic!r}")
            if not error.retriable:
                raise failure
            result.failed[tp] = failure
            return
        result.failed.pop(tp, None)
        offset = entry.offset
        if offset < 0 and entry.old_style_offsets:
            offset = entry.old_style_offsets[0]
        result.offsets[tp] = OffsetAndTimestamp(offset, entry.timestamp, entry.leader_epoch)
