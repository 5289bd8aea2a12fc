"""The APIs that the broker serves: one module per API or family of APIs, loaded when a client first uses it.

A handler is called with the broker, the decoded request and its `RequestContext`. It returns the response, a future for
the response (such as a `LongPoll` or a `NoAnswer`), or None if the client expects no response.

To add an API, add a handler to the module of its family, update that module's docstring (versions served, behaviour,
known gaps), and add a row to `APIS`. ApiVersions and the faults read the versions from there. `kafka.wire.api` declares
its messages, and `kafka.broker.error_codes` the error codes that it returns. Tests are in the family's folder below
tests/unit/broker.
"""

import asyncio
import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from kafka.broker.broker import Broker, RequestContext
from kafka.wire import Message


class LongPoll(asyncio.Future[Message]):
    """The response to a request that waits for records.

    The handler sets `finish`, which ends the wait and responds at once.
    """

    finish: Callable[[], None]


class NoAnswer(asyncio.Future[Message]):
    """A response that never arrives: the connection stays silent until the client closes it."""


Answer: TypeAlias = "Message | asyncio.Future[Message] | asyncio.Future[Message | None] | None"
Handler: TypeAlias = Callable[[Broker, Any, RequestContext], Answer]

OPERATIONS_NOT_REQUESTED: Final = -(2**31)
_READ, _WRITE, _CREATE, _DELETE, _ALTER, _DESCRIBE = 3, 4, 5, 6, 7, 8
_CLUSTER_ACTION, _DESCRIBE_CONFIGS, _ALTER_CONFIGS, _IDEMPOTENT_WRITE = 9, 10, 11, 12


def _bits(*operations: int) -> int:
    return sum(1 << operation for operation in operations)


TOPIC_OPERATIONS: Final = _bits(_READ, _WRITE, _CREATE, _DELETE, _ALTER, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS)
"""Bit field of the operations that a client may perform on a topic: all operations, as there is no authorizer."""
CLUSTER_OPERATIONS: Final = _bits(
    _CREATE, _ALTER, _DESCRIBE, _CLUSTER_ACTION, _DESCRIBE_CONFIGS, _ALTER_CONFIGS, _IDEMPOTENT_WRITE
)
GROUP_OPERATIONS: Final = _bits(_READ, _DELETE, _DESCRIBE)


class Api(NamedTuple):
    """An API: its key, name and supported versions, and the module and function of its handler."""

    key: int
    name: str
    min_version: int
    max_version: int
    module: str
    function: str

    def handler(self) -> Handler:
        """Import the handler's module, and return the handler."""
        handler: Handler = getattr(importlib.import_module(f"{__name__}.{self.module}"), self.function)
        return handler


APIS: Final[Mapping[int, Api]] = {
    api.key: api
    for api in (
        Api(0, "Produce", 0, 13, "produce", "produce"),
        Api(1, "Fetch", 0, 18, "fetch", "fetch"),
        Api(2, "ListOffsets", 0, 11, "list_offsets", "list_offsets"),
        Api(3, "Metadata", 0, 13, "metadata", "metadata"),
        Api(8, "OffsetCommit", 0, 10, "committed_offsets", "offset_commit"),
        Api(9, "OffsetFetch", 0, 10, "committed_offsets", "offset_fetch"),
        Api(10, "FindCoordinator", 0, 6, "metadata", "find_coordinator"),
        Api(11, "JoinGroup", 0, 9, "classic_membership", "join_group"),
        Api(12, "Heartbeat", 0, 4, "classic_membership", "heartbeat"),
        Api(13, "LeaveGroup", 0, 5, "classic_membership", "leave_group"),
        Api(14, "SyncGroup", 0, 5, "classic_membership", "sync_group"),
        Api(15, "DescribeGroups", 0, 6, "groups_admin", "describe_groups"),
        Api(16, "ListGroups", 0, 5, "groups_admin", "list_groups"),
        Api(17, "SaslHandshake", 0, 1, "sasl", "sasl_handshake"),
        Api(18, "ApiVersions", 0, 4, "api_versions", "api_versions"),
        Api(19, "CreateTopics", 0, 7, "topics_admin", "create_topics"),
        Api(20, "DeleteTopics", 0, 6, "topics_admin", "delete_topics"),
        Api(21, "DeleteRecords", 0, 2, "topics_admin", "delete_records"),
        Api(22, "InitProducerId", 0, 5, "transactions", "init_producer_id"),
        Api(23, "OffsetForLeaderEpoch", 0, 4, "list_offsets", "offset_for_leader_epoch"),
        Api(24, "AddPartitionsToTxn", 0, 5, "transactions", "add_partitions_to_txn"),
        Api(25, "AddOffsetsToTxn", 0, 4, "transactions", "add_offsets_to_txn"),
        Api(26, "EndTxn", 0, 5, "transactions", "end_txn"),
        Api(27, "WriteTxnMarkers", 0, 2, "transactions_admin", "write_txn_markers"),
        Api(28, "TxnOffsetCommit", 0, 5, "transactions", "txn_offset_commit"),
        Api(32, "DescribeConfigs", 0, 4, "configs", "describe_configs"),
        Api(33, "AlterConfigs", 0, 2, "configs", "alter_configs"),
        Api(35, "DescribeLogDirs", 1, 4, "topics_admin", "describe_log_dirs"),
        Api(36, "SaslAuthenticate", 0, 2, "sasl", "sasl_authenticate"),
        Api(37, "CreatePartitions", 0, 3, "topics_admin", "create_partitions"),
        Api(42, "DeleteGroups", 0, 2, "groups_admin", "delete_groups"),
        Api(44, "IncrementalAlterConfigs", 0, 1, "configs", "incremental_alter_configs"),
        Api(47, "OffsetDelete", 0, 0, "groups_admin", "offset_delete"),
        Api(50, "DescribeUserScramCredentials", 0, 0, "sasl", "describe_user_scram_credentials"),
        Api(51, "AlterUserScramCredentials", 0, 0, "sasl", "alter_user_scram_credentials"),
        Api(60, "DescribeCluster", 0, 2, "metadata", "describe_cluster"),
        Api(61, "DescribeProducers", 0, 0, "transactions_admin", "describe_producers"),
        Api(65, "DescribeTransactions", 0, 0, "transactions_admin", "describe_transactions"),
        Api(66, "ListTransactions", 0, 2, "transactions_admin", "list_transactions"),
        Api(68, "ConsumerGroupHeartbeat", 0, 1, "consumer_membership", "consumer_group_heartbeat"),
        Api(69, "ConsumerGroupDescribe", 0, 1, "consumer_membership", "consumer_group_describe"),
        Api(71, "GetTelemetrySubscriptions", 0, 0, "telemetry", "get_telemetry_subscriptions"),
        Api(72, "PushTelemetry", 0, 0, "telemetry", "push_telemetry"),
        Api(74, "ListConfigResources", 0, 1, "configs", "list_config_resources"),
        Api(75, "DescribeTopicPartitions", 0, 0, "metadata", "describe_topic_partitions"),
        Api(76, "ShareGroupHeartbeat", 1, 1, "share_groups", "share_group_heartbeat"),
        Api(77, "ShareGroupDescribe", 1, 1, "share_groups", "share_group_describe"),
        Api(78, "ShareFetch", 1, 2, "share_fetch", "share_fetch"),
        Api(79, "ShareAcknowledge", 1, 2, "share_fetch", "share_acknowledge"),
        Api(90, "DescribeShareGroupOffsets", 0, 1, "share_groups", "describe_share_group_offsets"),
        Api(91, "AlterShareGroupOffsets", 0, 0, "share_groups", "alter_share_group_offsets"),
        Api(92, "DeleteShareGroupOffsets", 0, 0, "share_groups", "delete_share_group_offsets"),
    )
}
