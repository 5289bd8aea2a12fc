"""What the tests of share groups share: a client of raw messages, and the configs of groups."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from kafka.cluster import ClusterClient
from kafka.config import parse_admin
from kafka.errors import UnknownError
from kafka.wire.api.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka.wire.api.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from kafka.wire.api.share_fetch import AcknowledgementBatch as FetchBatch
from kafka.wire.api.share_fetch import (
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ShareFetchRequest,
    ShareFetchResponse,
)
from kafka.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

Batch = tuple[int, int, Sequence[int]]
_GROUP = 32


class RawMember:
    """A member of a share group that sends each request as the test says."""

    def __init__(self, bootstrap_servers: str, group: str, topic: str) -> None:
        config = parse_admin({"bootstrap_servers": bootstrap_servers})
        self._client = ClusterClient(config.connection, config.security)
        self.group, self.topic, self.id = group, topic, str(uuid.uuid4())
        self.epoch = 0
        self.node = -1
        self.topic_id = uuid.UUID(int=0)

    async def __aenter__(self) -> Self:
        await self._client.start()
        await self._client.refresh_metadata([self.topic])
        topic_id = self._client.metadata.topic_id(self.topic)
        assert topic_id is not None
        self.topic_id = topic_id
        [node] = self._client.metadata.brokers()
        self.node = node.nodeId
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def configure(self, **configs: Any) -> None:
        """Set configs of the group, dots written as underscores."""
        rows = [
            AlterableConfig(name=name.replace("_", "."), config_operation=0, value=str(value))
            for name, value in configs.items()
        ]
        resource = AlterConfigsResource(resource_type=_GROUP, resource_name=self.group, configs=rows)
        answer = await self._client.send(self.node, IncrementalAlterConfigsRequest(resources=[resource]))
        assert answer.responses[0].error_code == 0, answer

    async def heartbeat(self, epoch: int, topics: list[str] | None = None) -> ShareGroupHeartbeatResponse:
        request = ShareGroupHeartbeatRequest(
            group_id=self.group, member_id=self.id, member_epoch=epoch, subscribed_topic_names=topics
        )
        return await self._client.send_coordinator("group", self.group, request)

    async def join(self) -> ShareGroupHeartbeatResponse:
        """Join, until the broker has made ready."""
        while True:
            answer = await self._client.retry("the test", lambda: self.heartbeat(0, [self.topic]), 30_000)
            if answer.error_code not in (14, 15, 16):
                return answer

    async def assigned(self, answer: ShareGroupHeartbeatResponse) -> ShareGroupHeartbeatResponse:
        """Go on after the answer to a heartbeat until the partition is assigned: Apache Kafka readies it before.

        Before that it answers fetches with errors and no records.
        """
        deadline = time.monotonic() + 120
        while answer.assignment is None or not answer.assignment.topic_partitions:
            assert time.monotonic() < deadline, f"the partition is not assigned: {answer}"
            await asyncio.sleep(0.1)
            answer = await self.heartbeat(answer.member_epoch)
            assert answer.error_code == 0, answer
        return answer

    async def fetch(
        self,
        acks: Sequence[Batch] = (),
        *,
        epoch: int | None = None,
        wait_ms: int = 500,
        names: bool = True,
        forgets: bool = False,
        **options: Any,
    ) -> ShareFetchResponse:
        """Fetch with the session's next epoch, or another, naming the partition or not, and maybe forgetting it."""
        batches = [FetchBatch(first_offset=a, last_offset=b, acknowledge_types=list(kinds)) for a, b, kinds in acks]
        partition = FetchPartition(partition_index=0, acknowledgement_batches=batches)
        request = ShareFetchRequest(
            group_id=self.group,
            member_id=self.id,
            share_session_epoch=self.epoch if epoch is None else epoch,
            max_wait_ms=wait_ms,
            **{"min_bytes": 1, "max_records": 500, "batch_size": 500, **options},
            topics=[FetchTopic(topic_id=self.topic_id, partitions=[partition])] if names else [],
            forgotten_topics_data=[ForgottenTopic(topic_id=self.topic_id, partitions=[0])] if forgets else [],
        )
        answer = await self._client.send(self.node, request)
        if epoch is None and not answer.error_code:
            self.epoch += 1
        return answer

    async def acquire(self, acks: Sequence[Batch] = (), tries: int = 20, **options: Any) -> list[tuple[int, int, int]]:
        """Fetch until there are records: first and last offset, and how often delivered.

        Under load Apache Kafka cannot always read the group's state in time; it calls that an unknown error, after
        which clients fetch again.
        """
        for _ in range(tries):
            answer = await self.fetch(acks, **options)
            assert not answer.error_code, answer
            acks = ()
            found = [data for topic in answer.responses for data in topic.partitions]
            assert all(d.error_code in (0, UnknownError.errno) and not d.acknowledge_error_code for d in found), found
            ranges = [
                (one.first_offset, one.last_offset, one.delivery_count) for d in found for one in d.acquired_records
            ]
            if ranges:
                return ranges
        return []

    async def acknowledge(self, *batches: Batch, epoch: int | None = None, renews: bool = False) -> int:
        """Acknowledge, and return the error of the request or of the partition."""
        answer = await self.acknowledge_raw(*batches, epoch=epoch, renews=renews)
        if answer.error_code:
            return answer.error_code
        return answer.responses[0].partitions[0].error_code if answer.responses else 0

    async def acknowledge_raw(
        self, *batches: Batch, epoch: int | None = None, renews: bool = False
    ) -> ShareAcknowledgeResponse:
        rows = [
            AcknowledgementBatch(first_offset=a, last_offset=b, acknowledge_types=list(kinds))
            for a, b, kinds in batches
        ]
        partition = AcknowledgePartition(partition_index=0, acknowledgement_batches=rows)
        request = ShareAcknowledgeRequest(
            group_id=self.group,
            member_id=self.id,
            share_session_epoch=self.epoch if epoch is None else epoch,
            is_renew_ack=renews,
            topics=[AcknowledgeTopic(topic_id=self.topic_id, partitions=[partition])] if rows else [],
        )
        answer = await self._client.send(self.node, request)
        if epoch is None and not answer.error_code:
            self.epoch += 1
        return answer


def data_of(answer: ShareFetchResponse) -> PartitionData:
    """The only partition of an answer."""
    return answer.responses[0].partitions[0]
