"""The modules that declare messages. A module of `kafka.wire.api` is imported when one of its messages is requested."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from kafka.wire.message import Message, Request

API_NAMES: dict[int, str] = {
    0: "Produce",
    1: "Fetch",
    2: "ListOffsets",
    3: "Metadata",
    4: "LeaderAndIsr",
    5: "StopReplica",
    6: "UpdateMetadata",
    7: "ControlledShutdown",
    8: "OffsetCommit",
    9: "OffsetFetch",
    10: "FindCoordinator",
    11: "JoinGroup",
    12: "Heartbeat",
    13: "LeaveGroup",
    14: "SyncGroup",
    15: "DescribeGroups",
    16: "ListGroups",
    17: "SaslHandshake",
    18: "ApiVersions",
    19: "CreateTopics",
    20: "DeleteTopics",
    21: "DeleteRecords",
    22: "InitProducerId",
    23: "OffsetForLeaderEpoch",
    24: "AddPartitionsToTxn",
    25: "AddOffsetsToTxn",
    26: "EndTxn",
    27: "WriteTxnMarkers",
    28: "TxnOffsetCommit",
    29: "DescribeAcls",
    30: "CreateAcls",
    31: "DeleteAcls",
    32: "DescribeConfigs",
    33: "AlterConfigs",
    34: "AlterReplicaLogDirs",
    35: "DescribeLogDirs",
    36: "SaslAuthenticate",
    37: "CreatePartitions",
    38: "CreateDelegationToken",
    39: "RenewDelegationToken",
    40: "ExpireDelegationToken",
    41: "DescribeDelegationToken",
    42: "DeleteGroups",
    43: "ElectLeaders",
    44: "IncrementalAlterConfigs",
    45: "AlterPartitionReassignments",
    46: "ListPartitionReassignments",
    47: "OffsetDelete",
    48: "DescribeClientQuotas",
    49: "AlterClientQuotas",
    50: "DescribeUserScramCredentials",
    51: "AlterUserScramCredentials",
    52: "Vote",
    53: "BeginQuorumEpoch",
    54: "EndQuorumEpoch",
    55: "DescribeQuorum",
    56: "AlterPartition",
    57: "UpdateFeatures",
    58: "Envelope",
    59: "FetchSnapshot",
    60: "DescribeCluster",
    61: "DescribeProducers",
    62: "BrokerRegistration",
    63: "BrokerHeartbeat",
    64: "UnregisterBroker",
    65: "DescribeTransactions",
    66: "ListTransactions",
    67: "AllocateProducerIds",
    68: "ConsumerGroupHeartbeat",
    69: "ConsumerGroupDescribe",
    70: "ControllerRegistration",
    71: "GetTelemetrySubscriptions",
    72: "PushTelemetry",
    73: "AssignReplicasToDirs",
    74: "ListConfigResources",
    75: "DescribeTopicPartitions",
    76: "ShareGroupHeartbeat",
    77: "ShareGroupDescribe",
    78: "ShareFetch",
    79: "ShareAcknowledge",
    80: "AddRaftVoter",
    81: "RemoveRaftVoter",
    82: "UpdateRaftVoter",
    83: "InitializeShareGroupState",
    84: "ReadShareGroupState",
    85: "WriteShareGroupState",
    86: "DeleteShareGroupState",
    87: "ReadShareGroupStateSummary",
    88: "StreamsGroupHeartbeat",
    89: "StreamsGroupDescribe",
    90: "DescribeShareGroupOffsets",
    91: "AlterShareGroupOffsets",
    92: "DeleteShareGroupOffsets",
    93: "StreamsGroupTopologyDescriptionUpdate",
    94: "UnregisterController",
}
"""The name of each API, by API key."""

OTHER_MODULES: dict[str, str] = {
    "ConsumerProtocolAssignment": "consumer_protocol",
    "ConsumerProtocolSubscription": "consumer_protocol",
    "ControlRecordTypeSchema": "control_records",
    "DefaultPrincipalData": "default_principal_data",
    "EndTxnMarker": "control_records",
    "KRaftVersionRecord": "control_records",
    "LeaderChangeMessage": "control_records",
    "RequestHeader": "headers",
    "ResponseHeader": "headers",
    "SnapshotFooterRecord": "control_records",
    "SnapshotHeaderRecord": "control_records",
    "VotersRecord": "control_records",
}
"""The modules of messages that are neither requests nor responses."""

FORMER_NAMES: dict[str, int] = {"ListClientMetricsResources": 74}
"""Former names of APIs, and their API keys."""

REDEFINED: dict[tuple[str, str | None], str] = {
    ("ReadShareGroupStateSummaryResponse", "3.9"): "ReadShareGroupStateSummaryResponse39",
    ("VoteRequest", "3.9"): "VoteRequest39",
}
"""Message classes with the definitions of an earlier release."""

_API_KEYS = {**{name: key for key, name in API_NAMES.items()}, **FORMER_NAMES}
_loaded: dict[str, type[Message]] = {}
_requests: dict[int, type[Request[Any]]] = {}


def message_class(name: str, release: str | None = None) -> type[Message]:
    """Return the class of a message by Kafka's name for it (`"FetchRequest"`), importing its module if necessary.

    Args:
        name: Kafka's name for the message.
        release: "3.9" for the definitions of Kafka 3.9. They differ for two messages, both between brokers
            (`kafka.wire.api.redefined`); other messages are not affected.

    Raises:
        LookupError: there is no such message.
    """
    if (name, release) in REDEFINED:
        name = REDEFINED[name, release]
    found = _loaded.get(name)
    if found is None:
        found = _loaded[name] = getattr(import_module(f"kafka.wire.api.{_module(name)}"), name)
    return found


def request_class(api_key: int) -> type[Request[Any]]:
    """Return the class of an API's request. Its `RESPONSE` is the class of the response.

    Raises:
        LookupError: there is no such API.
    """
    found = _requests.get(api_key)
    if found is None:
        if api_key not in API_NAMES:
            raise LookupError(f"expected the key of an API, {min(API_NAMES)} to {max(API_NAMES)}, got {api_key}")
        named: Any = message_class(f"{API_NAMES[api_key]}Request")
        found = _requests[api_key] = named
    return found


def message_names() -> list[str]:
    """Return the names of all messages."""
    return sorted([*OTHER_MODULES, *(f"{name}{kind}" for name in _API_KEYS for kind in ("Request", "Response"))])


def _module(name: str) -> str:
    """Return the name of the module that declares a message."""
    if name in OTHER_MODULES:
        return OTHER_MODULES[name]
    if name in REDEFINED.values():
        return "redefined"
    api = name.removesuffix("Request") if name.endswith("Request") else name.removesuffix("Response")
    if api not in _API_KEYS or api == name:
        raise LookupError(f"expected the name of a message of Kafka, such as 'FetchRequest', got {name!r}")
    return re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", api).lower()
