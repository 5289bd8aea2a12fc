"""Converts the declarations of `kafka.wire` to schemas: the fields of one version, with kafka-python's names."""

from __future__ import annotations

import functools
from typing import Any

from kafka.legacy.protocol import schema_types as types
from kafka.legacy.protocol.message import Records
from kafka.wire import Message, message_class
from kafka.wire.kinds import Kind
from kafka.wire.structs import Field, Struct

# Names in kafka-python that differ from those in `kafka.wire`

NAMES: dict[str, dict[str, str]] = {
    "AddPartitionsToTxnRequest": {
        "v3_and_below_producer_epoch": "producer_epoch",
        "v3_and_below_producer_id": "producer_id",
        "v3_and_below_topics": "topics",
        "v3_and_below_topics.name": "topic",
        "v3_and_below_transactional_id": "transactional_id",
    },
    "AddPartitionsToTxnResponse": {
        "results_by_topic_v3_and_below": "results",
        "results_by_topic_v3_and_below.name": "topic",
        "results_by_topic_v3_and_below.results_by_partition": "partitions",
        "results_by_topic_v3_and_below.results_by_partition.partition_error_code": "error_code",
        "results_by_topic_v3_and_below.results_by_partition.partition_index": "partition",
    },
    "AlterConfigsRequest": {
        "resources.configs": "config_entries",
        "resources.configs.name": "config_name",
        "resources.configs.value": "config_value",
    },
    "AlterConfigsResponse": {
        "responses": "resources",
    },
    "ApiVersionsResponse": {
        "api_keys": "api_versions",
    },
    "CreateAclsResponse": {
        "results": "creation_responses",
    },
    "CreatePartitionsRequest": {
        "topics.name": "topic",
        "topics.assignments": "assignment",
        "timeout_ms": "timeout",
        "topics": "topic_partitions",
    },
    "CreatePartitionsResponse": {
        "results": "topic_errors",
        "results.name": "topic",
    },
    "CreateTopicsRequest": {
        "timeout_ms": "timeout",
        "topics": "create_topic_requests",
        "topics.assignments": "replica_assignment",
        "topics.assignments.broker_ids": "replicas",
        "topics.assignments.partition_index": "partition_id",
        "topics.configs.name": "config_key",
        "topics.configs.value": "config_value",
        "topics.name": "topic",
    },
    "CreateTopicsResponse": {
        "topics": "topic_errors",
        "topics.name": "topic",
    },
    "DeleteAclsRequest": {
        "filters.host_filter": "host",
        "filters.pattern_type_filter": "resource_pattern_type_filter",
        "filters.principal_filter": "principal",
        "filters.resource_name_filter": "resource_name",
        "filters.resource_type_filter": "resource_type",
    },
    "DeleteAclsResponse": {
        "filter_results": "filter_responses",
        "filter_results.matching_acls.pattern_type": "resource_pattern_type",
    },
    "DeleteTopicsRequest": {
        "timeout_ms": "timeout",
        "topic_names": "topics",
    },
    "DeleteTopicsResponse": {
        "responses": "topic_error_codes",
        "responses.name": "topic",
    },
    "DescribeAclsRequest": {
        "host_filter": "host",
        "pattern_type_filter": "resource_pattern_type_filter",
        "principal_filter": "principal",
        "resource_name_filter": "resource_name",
        "resource_type_filter": "resource_type",
    },
    "DescribeAclsResponse": {
        "resources.pattern_type": "resource_pattern_type",
    },
    "DescribeClientQuotasResponse": {
        "entries.values.key": "name",
    },
    "DescribeConfigsRequest": {
        "resources.configuration_keys": "config_names",
    },
    "DescribeConfigsResponse": {
        "results": "resources",
        "results.configs": "config_entries",
        "results.configs.name": "config_names",
        "results.configs.synonyms": "config_synonyms",
        "results.configs.synonyms.name": "config_name",
        "results.configs.synonyms.source": "config_source",
        "results.configs.synonyms.value": "config_value",
        "results.configs.value": "config_value",
    },
    "DescribeGroupsResponse": {
        "groups.group_id": "group",
        "groups.group_state": "state",
        "groups.protocol_data": "protocol",
    },
    "DescribeLogDirsResponse": {
        "results": "log_dirs",
    },
    "ElectLeadersRequest": {
        "timeout_ms": "timeout",
        "topic_partitions.partitions": "partition_ids",
    },
    "ElectLeadersResponse": {
        "replica_election_results": "replication_election_results",
    },
    "FetchRequest": {
        "max_wait_ms": "max_wait_time",
        "topics.partitions.partition_max_bytes": "max_bytes",
    },
    "FetchResponse": {
        "responses": "topics",
        "responses.partitions.high_watermark": "highwater_offset",
        "responses.partitions.partition_index": "partition",
        "responses.topic": "topics",
    },
    "FindCoordinatorRequest": {
        "key_type": "coordinator_type",
    },
    "FindCoordinatorResponse": {
        "node_id": "coordinator_id",
    },
    "HeartbeatRequest": {
        "group_id": "group",
    },
    "JoinGroupRequest": {
        "group_id": "group",
        "protocols": "group_protocols",
        "protocols.metadata": "protocol_metadata",
        "protocols.name": "protocol_name",
        "rebalance_timeout_ms": "rebalance_timeout",
        "session_timeout_ms": "session_timeout",
    },
    "JoinGroupResponse": {
        "leader": "leader_id",
        "members.metadata": "member_metadata",
        "protocol_name": "group_protocol",
    },
    "LeaveGroupRequest": {
        "group_id": "group",
    },
    "ListGroupsResponse": {
        "groups.group_id": "group",
    },
    "ListOffsetsRequest": {
        "topics.name": "topic",
        "topics.partitions.max_num_offsets": "max_offsets",
        "topics.partitions.partition_index": "partition",
    },
    "ListOffsetsResponse": {
        "topics.name": "topic",
        "topics.partitions.old_style_offsets": "offsets",
        "topics.partitions.partition_index": "partition",
    },
    "ListPartitionReassignmentsRequest": {
        "topics.partition_indexes": "partition_index",
    },
    "MetadataResponse": {
        "cluster_authorized_operations": "authorized_operations",
        "topics.name": "topic",
        "topics.partitions.isr_nodes": "isr",
        "topics.partitions.leader_id": "leader",
        "topics.partitions.partition_index": "partition",
        "topics.partitions.replica_nodes": "replicas",
        "topics.topic_authorized_operations": "authorized_operations",
    },
    "OffsetCommitRequest": {
        "retention_time_ms": "retention_time",
        "topics.name": "topic",
        "topics.partitions.commit_timestamp": "timestamp",
        "topics.partitions.committed_leader_epoch": "leader_epoch",
        "topics.partitions.committed_metadata": "metadata",
        "topics.partitions.committed_offset": "offset",
        "topics.partitions.partition_index": "partition",
    },
    "OffsetCommitResponse": {
        "topics.name": "topic",
        "topics.partitions.partition_index": "partition",
    },
    "OffsetFetchRequest": {
        "group_id": "consumer_group",
        "topics.name": "topic",
        "topics.partition_indexes": "partitions",
    },
    "OffsetFetchResponse": {
        "topics.name": "topic",
        "topics.partitions.committed_leader_epoch": "leader_epoch",
        "topics.partitions.committed_offset": "offset",
        "topics.partitions.partition_index": "partition",
    },
    "ProduceRequest": {
        "acks": "required_acks",
        "timeout_ms": "timeout",
        "topic_data": "topics",
        "topic_data.name": "topic",
        "topic_data.partition_data": "partitions",
        "topic_data.partition_data.index": "partition",
    },
    "ProduceResponse": {
        "responses": "topics",
        "responses.name": "topic",
        "responses.partition_responses": "partitions",
        "responses.partition_responses.base_offset": "offset",
        "responses.partition_responses.index": "partition",
        "responses.partition_responses.log_append_time_ms": "timestamp",
    },
    "SaslAuthenticateResponse": {
        "auth_bytes": "auth_bytes",
    },
    "SaslHandshakeResponse": {
        "mechanisms": "enabled_mechanisms",
    },
    "SyncGroupRequest": {
        "assignments": "group_assignment",
        "assignments.assignment": "member_metadata",
        "group_id": "group",
    },
    "SyncGroupResponse": {
        "assignment": "member_assignment",
    },
    "TxnOffsetCommitRequest": {
        "topics.name": "topic",
        "topics.partitions.committed_leader_epoch": "leader_epoch",
        "topics.partitions.committed_metadata": "metadata",
        "topics.partitions.committed_offset": "offset",
        "topics.partitions.partition_index": "partition",
    },
    "TxnOffsetCommitResponse": {
        "topics.name": "topic",
        "topics.partitions.partition_index": "partition",
    },
}
"""By message, the path of each renamed field in `kafka.wire`, and the last part of its name in kafka-python."""

VERSIONED: dict[tuple[str, str], tuple[tuple[int, str], ...]] = {
    ("FetchRequest", "topics.partitions.fetch_offset"): (
        (0, "offset"),
        (5, "fetch_offset"),
    ),
    ("FindCoordinatorRequest", "key"): (
        (0, "consumer_group"),
        (1, "coordinator_key"),
    ),
    ("OffsetCommitRequest", "generation_id_or_member_epoch"): (
        (1, "consumer_group_generation_id"),
        (7, "generation_id"),
    ),
    ("OffsetCommitRequest", "group_id"): (
        (0, "consumer_group"),
        (7, "group_id"),
    ),
    ("OffsetCommitRequest", "member_id"): (
        (1, "consumer_id"),
        (7, "member_id"),
    ),
}
"""Fields whose name depends on the version: each name with the first version that uses it."""

TAGS: frozenset[str] = frozenset(
    [
        "AlterPartitionReassignmentsRequest",
        "AlterPartitionReassignmentsResponse",
        "ListPartitionReassignmentsRequest",
        "ListPartitionReassignmentsResponse",
        "OffsetForLeaderEpochRequest",
        "OffsetForLeaderEpochResponse",
    ]
)
"""Messages whose tagged fields are named `tags` instead of `_tagged_fields`."""


_STRING, _COMPACT_STRING = types.String("utf-8"), types.CompactString("utf-8")
_TYPES: dict[Kind, types.FieldType] = {
    Kind.INT8: types.Int8,
    Kind.INT16: types.Int16,
    Kind.INT32: types.Int32,
    Kind.INT64: types.Int64,
    Kind.FLOAT64: types.Float64,
    Kind.BOOL: types.Boolean,
    Kind.STRING: _STRING,
    Kind.BYTES: types.Bytes,
    Kind.RECORDS: Records,
}
_COMPACT: dict[Kind, types.FieldType] = {Kind.STRING: _COMPACT_STRING, Kind.BYTES: types.CompactBytes}
_BIT_FIELDS = frozenset(
    {
        "DescribeGroupsResponse.groups.authorized_operations",
        "MetadataResponse.cluster_authorized_operations",
        "MetadataResponse.topics.topic_authorized_operations",
    }
)
_NESTED = {"CreatePartitionsRequest.topics": ("new_partitions", 1)}
"""By array of structs, the nested struct that contains its last fields, and the index of the first of these fields.

Nesting these fields does not change the encoding.
"""


def schema_of(message: str, version: int) -> types.Schema:
    """Return the schema for one version of a Kafka message. Versions with the same fields share a schema.

    Raises:
        LookupError: the message does not exist.
        UnsupportedVersionError: the message does not have this version.
    """
    declared = message_class(message)
    declared.check_version(version)
    made: types.Schema = _schema(_fields(declared, declared, version, ""))
    return made


@functools.cache
def _schema(fields: tuple[tuple[str, Any], ...]) -> types.Schema:
    return types.Schema(*fields)


@functools.cache
def _array(kind: type[types.Array], element: Any) -> types.Array:
    return kind(element)


def _fields(
    message: type[Message], struct: type[Struct], version: int, prefix: str
) -> tuple[tuple[str, types.FieldType], ...]:
    """Return the fields of a struct, each with its name and type."""
    flexible = version >= message.FLEXIBLE_SINCE
    fields = []
    for field in struct.FIELDS:
        if field.in_version(version) and field.tag < 0:
            path = prefix + field.name
            fields.append((_name(message.NAME, path, field.name, version), _type(message, field, version, path)))
    if flexible:
        fields.append(("tags" if message.NAME in TAGS else "_tagged_fields", types.TaggedFields))
    nested = _NESTED.get(f"{message.NAME}.{prefix.removesuffix('.')}")
    if nested is not None:
        name, start = nested
        fields = [*fields[:start], (name, _schema(tuple(fields[start:])))]
    return tuple(fields)


def _name(message: str, path: str, own: str, version: int) -> str:
    """Return kafka-python's name for a field."""
    versioned = VERSIONED.get((message, path))
    if versioned is not None:
        return [name for since, name in versioned if since <= version][-1]
    return NAMES.get(message, {}).get(path, own)


def _type(message: type[Message], field: Field, version: int, path: str) -> types.FieldType:
    """Return the type of a field."""
    flexible = version >= message.FLEXIBLE_SINCE
    if f"{message.NAME}.{path}" in _BIT_FIELDS:
        return types.BitField
    if field.kind is Kind.STRUCT and field.struct is not None:
        return _schema(_fields(message, field.struct, version, f"{path}."))
    is_compact = flexible and not field.never_compact
    if field.kind is not Kind.ARRAY:
        return _simple(field.kind, is_compact)
    if field.struct is None:
        element = _simple(field.element or field.kind, is_compact)
    else:
        fields = _fields(message, field.struct, version, f"{path}.")
        element = fields[0][1] if len(fields) == 1 else _schema(fields)
    return _array(types.CompactArray if is_compact else types.Array, element)


def _simple(kind: Kind, is_compact: bool) -> types.FieldType:
    """Return the type of a scalar field."""
    return _COMPACT[kind] if is_compact and kind in _COMPACT else _TYPES[kind]
