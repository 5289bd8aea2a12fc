"""Every call of the admin client that sends requests of its own: how it is made, about the things of `answering`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from kafka.admin import (
    ACL,
    AbortTransactionSpec,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ConfigResource,
    MemberToRemove,
    NewTopic,
    OffsetSpec,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    ScramMechanism,
    UserScramCredentialDeletion,
)
from kafka.structs import OffsetAndMetadata, TopicPartition, TopicPartitionReplica

TP = TopicPartition("t", 0)
DIRECTORY = UUID(int=9)
ACL_ = ACL("User:u", "*", ACLOperation.READ, ACLPermissionType.ALLOW, ResourcePattern(ResourceType.TOPIC, "t"))
ANY_ACL = ACLFilter(
    None,
    None,
    ACLOperation.ANY,
    ACLPermissionType.ANY,
    ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY),
)
TOPIC = ConfigResource("topic", "t", {"a": "1"})
REPLICA = TopicPartitionReplica("t", 0, 1)

Make = Callable[[Any], Awaitable[Any]]

CALLS: dict[str, Make] = {
    "create_topics": lambda admin: admin.create_topics([NewTopic("t", 1, 1)]),
    "delete_topics": lambda admin: admin.delete_topics(["t"]),
    "create_partitions": lambda admin: admin.create_partitions({"t": 2}),
    "delete_records": lambda admin: admin.delete_records({TP: 1}),
    "list_partition_offsets": lambda admin: admin.list_partition_offsets({TP: OffsetSpec.LATEST}),
    "describe_topic_partitions": lambda admin: admin.describe_topic_partitions(["t"]),
    "perform_leader_election": lambda admin: admin.perform_leader_election(0, {"t": [0]}),
    "elect_leaders": lambda admin: admin.elect_leaders(0, {"t": [0]}),
    "alter_partition_reassignments": lambda admin: admin.alter_partition_reassignments({TP: [1]}),
    "list_partition_reassignments": lambda admin: admin.list_partition_reassignments(),
    "describe_configs": lambda admin: admin.describe_configs([TOPIC]),
    "alter_configs": lambda admin: admin.alter_configs([TOPIC], incremental=False),
    "alter_configs, incremental": lambda admin: admin.alter_configs([TOPIC], incremental=True),
    "reset_configs": lambda admin: admin.reset_configs([TOPIC], raise_on_unknown=False),
    "list_config_resources": lambda admin: admin.list_config_resources(),
    "list_client_metrics_resources": lambda admin: admin.list_client_metrics_resources(),
    "describe_cluster": lambda admin: admin.describe_cluster(),
    "describe_features": lambda admin: admin.describe_features(),
    "update_features": lambda admin: admin.update_features({"f": 1}, timeout_ms=600),
    "describe_metadata_quorum": lambda admin: admin.describe_metadata_quorum(),
    "add_raft_voter": lambda admin: admin.add_raft_voter(3, DIRECTORY, [("C", "h", 9093)]),
    "remove_raft_voter": lambda admin: admin.remove_raft_voter(3, DIRECTORY),
    "unregister_broker": lambda admin: admin.unregister_broker(3),
    "unregister_controller": lambda admin: admin.unregister_controller(3),
    "describe_acls": lambda admin: admin.describe_acls(ANY_ACL),
    "create_acls": lambda admin: admin.create_acls([ACL_]),
    "delete_acls": lambda admin: admin.delete_acls([ANY_ACL]),
    "describe_user_scram_credentials": lambda admin: admin.describe_user_scram_credentials(["u"]),
    "alter_user_scram_credentials": lambda admin: admin.alter_user_scram_credentials(
        [UserScramCredentialDeletion("u", ScramMechanism.SCRAM_SHA_256)]
    ),
    "describe_client_quotas": lambda admin: admin.describe_client_quotas({"user": "u"}),
    "alter_client_quotas": lambda admin: admin.alter_client_quotas([({"user": "u"}, {"producer_byte_rate": 1})]),
    "create_delegation_token": lambda admin: admin.create_delegation_token(),
    "renew_delegation_token": lambda admin: admin.renew_delegation_token(b"s"),
    "expire_delegation_token": lambda admin: admin.expire_delegation_token(b"s"),
    "describe_delegation_tokens": lambda admin: admin.describe_delegation_tokens(),
    "describe_log_dirs": lambda admin: admin.describe_log_dirs(),
    "describe_replica_log_dirs": lambda admin: admin.describe_replica_log_dirs([REPLICA]),
    "alter_replica_log_dirs": lambda admin: admin.alter_replica_log_dirs({REPLICA: "/d"}),
    "list_groups": lambda admin: admin.list_groups(),
    "list_consumer_groups": lambda admin: admin.list_consumer_groups(),
    "describe_consumer_groups": lambda admin: admin.describe_consumer_groups(["g"]),
    "describe_groups": lambda admin: admin.describe_groups(["g"]),
    "describe_classic_groups": lambda admin: admin.describe_classic_groups(["g"]),
    "describe_share_groups": lambda admin: admin.describe_share_groups(["g"]),
    "describe_streams_groups": lambda admin: admin.describe_streams_groups(["g"]),
    "delete_groups": lambda admin: admin.delete_groups(["g"]),
    "delete_consumer_groups": lambda admin: admin.delete_consumer_groups(["g"]),
    "remove_group_members": lambda admin: admin.remove_group_members("g", [MemberToRemove("m")]),
    "list_consumer_group_offsets": lambda admin: admin.list_consumer_group_offsets("g"),
    "list_group_offsets": lambda admin: admin.list_group_offsets(["g"]),
    "alter_group_offsets": lambda admin: admin.alter_group_offsets("g", {TP: OffsetAndMetadata(1, "", -1)}),
    "reset_group_offsets": lambda admin: admin.reset_group_offsets("g", {TP: OffsetSpec.LATEST}),
    "delete_group_offsets": lambda admin: admin.delete_group_offsets("g", [TP]),
    "list_share_group_offsets": lambda admin: admin.list_share_group_offsets(["g"]),
    "alter_share_group_offsets": lambda admin: admin.alter_share_group_offsets("g", {TP: 1}),
    "delete_share_group_offsets": lambda admin: admin.delete_share_group_offsets("g", ["t"]),
    "list_transactions": lambda admin: admin.list_transactions(),
    "describe_transactions": lambda admin: admin.describe_transactions(["x"]),
    "describe_producers": lambda admin: admin.describe_producers([TP]),
    "abort_transaction": lambda admin: admin.abort_transaction(AbortTransactionSpec(TP, 1, 0, 0)),
    "fence_producers": lambda admin: admin.fence_producers(["x"]),
    "force_terminate_transaction": lambda admin: admin.force_terminate_transaction("x"),
    "find_hanging_transactions": lambda admin: admin.find_hanging_transactions(),
}
"""A call's name, and how it is made."""

OTHER_METHODS = frozenset(
    {
        *("close", "health", "metrics", "register_metric_for_subscription", "unregister_metric_from_subscription"),
        *("describe_topics", "list_topics", "wait_for_topics"),  # from Metadata responses: unit/cluster
        *("api_versions", "get_broker_version_data", "send_request", "send_requests"),  # return the response as it is
        "client_instance_id",  # waits for telemetry: unit/cluster/telemetry
        "plot_lag",  # from other calls
    }
)
"""Methods that have no error codes of their own to handle."""
