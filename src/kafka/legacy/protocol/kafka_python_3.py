"""The contents of each module in kafka-python 3's `kafka.protocol`."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from kafka.admin import (
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    OffsetSpec,
    ResourceType,
)
from kafka.legacy.protocol.api_message import api_message
from kafka.legacy.protocol.catalogue import (
    DEFAULT_GENERATION_ID,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_OFFSET,
    ElectionType,
    OffsetResetStrategy,
)


class CoordinatorType(IntEnum):
    """Coordinator types."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


class IsolationLevel(IntEnum):
    """Which records consumers read."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


APIS: dict[str, tuple[str, ...]] = {
    "admin.acl": ("CreateAcls", "DeleteAcls", "DescribeAcls"),
    "admin.client_quotas": ("AlterClientQuotas", "DescribeClientQuotas"),
    "admin.cluster": ("DescribeCluster", "DescribeLogDirs", "AlterReplicaLogDirs", "DescribeQuorum", "UpdateFeatures"),
    "admin.configs": ("AlterConfigs", "DescribeConfigs", "IncrementalAlterConfigs", "ListConfigResources"),
    "admin.groups": ("DescribeGroups", "ListGroups", "DeleteGroups"),
    "admin.topics": (
        *("CreateTopics", "DeleteTopics", "CreatePartitions", "AlterPartitionReassignments"),
        *("ListPartitionReassignments", "DescribeTopicPartitions", "DeleteRecords", "ElectLeaders"),
    ),
    "admin.transactions": ("ListTransactions", "DescribeTransactions", "DescribeProducers"),
    "admin.users": ("AlterUserScramCredentials", "DescribeUserScramCredentials"),
    "consumer.fetch": ("Fetch",),
    "consumer.group": (
        *("JoinGroup", "SyncGroup", "LeaveGroup", "Heartbeat", "OffsetFetch", "OffsetCommit", "OffsetDelete"),
    ),
    "consumer.metadata": (),
    "consumer.offsets": ("ListOffsets", "OffsetForLeaderEpoch"),
    "metadata.api_versions": ("ApiVersions",),
    "metadata.find_coordinator": ("FindCoordinator",),
    "metadata.metadata": ("Metadata",),
    "producer.produce": ("Produce",),
    "producer.transaction": (
        *("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "TxnOffsetCommit", "WriteTxnMarkers"),
    ),
    "sasl": ("SaslHandshake", "SaslAuthenticate"),
}
_BESIDE: dict[str, dict[str, Any]] = {
    "admin.acl": {
        "ACLOperation": ACLOperation,
        "ACLPermissionType": ACLPermissionType,
        "ACLResourcePatternType": ACLResourcePatternType,
        "ACLResourceType": ResourceType,
    },
    "admin.topics": {"ElectionType": ElectionType},
    "consumer.group": {"DEFAULT_GENERATION_ID": DEFAULT_GENERATION_ID, "UNKNOWN_MEMBER_ID": UNKNOWN_MEMBER_ID},
    "consumer.offsets": {
        "IsolationLevel": IsolationLevel,
        "OffsetResetStrategy": OffsetResetStrategy,
        "OffsetSpec": OffsetSpec,
        "UNKNOWN_OFFSET": UNKNOWN_OFFSET,
    },
    "metadata.find_coordinator": {"CoordinatorType": CoordinatorType},
}
_DATA = {"consumer.metadata": ("ConsumerProtocolSubscription", "ConsumerProtocolAssignment")}


def names_of_3(path: str) -> dict[str, Any]:
    """Return the contents of a kafka-python 3 module by name; for a package, the contents of all its modules."""
    subject = path.removeprefix("kafka.protocol.")
    found: dict[str, Any] = {}
    for module, apis in APIS.items():
        if module == subject or module.startswith(f"{subject}."):
            names = [api + kind for api in apis for kind in ("Request", "Response")]
            found |= {name: api_message(name) for name in (*names, *_DATA.get(module, ()))}
            found |= _BESIDE.get(module, {})
    return found
