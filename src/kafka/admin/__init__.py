"""The admin client: topics, partitions, configurations, groups, transactions, users, ACLs and the cluster.

Layer 6. One module per subject contains its types, checks and operations; an operation is a coroutine that sends
requests through `kafka.cluster`. The methods of `AsyncKafkaAdminClient` are in `_async`; each awaits an operation.
`scripts/twins.py` generates the methods of `KafkaAdminClient` from them, in `_sync`. All subjects use `arguments`,
`admin_requests`, `routing` and `results`.

To add a call, write its coroutine in the module of its subject, and its method in the module of that subject in
`_async`; a new subject is a base class of both clients. The method's docstring ends with the counterpart in Java, the
first Kafka release that supports it and whether the embedded broker does (see `scripts/reference/admin_page.py`). Then
run ``python scripts/twins.py`` and ``python -m scripts.reference``, which lists the method in docs/ADMIN.md. Tests of
its errors need it in `CALLS` (tests/unit/admin/admin_calls.py), a request that no other method sends in `ADMIN_APIS`
(tests/fakes/cluster.py) and `TRIED_AGAIN` (tests/unit/admin/test_error_codes.py), and a method without a counterpart in
Java in `WITHOUT_COUNTERPART` (tests/unit/admin/test_admin_docs.py).
"""

from typing import TYPE_CHECKING, Any

from kafka import _old_names
from kafka.admin.acls import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.admin.cluster import RaftVoterEndpoint, UpdateFeatureType
from kafka.admin.config_resource import (
    AlterConfigOp,
    ConfigFilterType,
    ConfigResource,
    ConfigResourceType,
    ConfigSourceType,
    ConfigType,
)
from kafka.admin.delegation_tokens import DelegationToken
from kafka.admin.groups import GroupState, GroupType, MemberToRemove
from kafka.admin.log_dirs import ReplicaLogDir
from kafka.admin.partitions import IsolationLevel, OffsetShift, OffsetSpec, OffsetTimestamp
from kafka.admin.share_group_offsets import SharePartitionOffset
from kafka.admin.topics import NewPartitions, NewTopic
from kafka.admin.transactions import (
    AbortTransactionSpec,
    FencedProducer,
    PartitionProducerState,
    ProducerState,
    TransactionDescription,
    TransactionListing,
    TransactionState,
)
from kafka.admin.users import ScramMechanism, UserScramCredentialDeletion, UserScramCredentialUpsertion

if TYPE_CHECKING:
    from kafka.admin.async_client import AsyncKafkaAdminClient
    from kafka.admin.client import KafkaAdminClient

__all__ = [
    "ACL",
    "ACLFilter",
    "ACLOperation",
    "ACLPermissionType",
    "ACLResourcePatternType",
    "AbortTransactionSpec",
    "AlterConfigOp",
    "AsyncKafkaAdminClient",
    "ConfigFilterType",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSourceType",
    "ConfigType",
    "DelegationToken",
    "FencedProducer",
    "GroupState",
    "GroupType",
    "IsolationLevel",
    "KafkaAdminClient",
    "MemberToRemove",
    "NewPartitions",
    "NewTopic",
    "OffsetShift",
    "OffsetSpec",
    "OffsetTimestamp",
    "PartitionProducerState",
    "ProducerState",
    "RaftVoterEndpoint",
    "ReplicaLogDir",
    "ResourcePattern",
    "ResourcePatternFilter",
    "ResourceType",
    "ScramMechanism",
    "SharePartitionOffset",
    "TransactionDescription",
    "TransactionListing",
    "TransactionState",
    "UpdateFeatureType",
    "UserScramCredentialDeletion",
    "UserScramCredentialUpsertion",
]

_HOMES = {"AsyncKafkaAdminClient": "kafka.admin.async_client", "KafkaAdminClient": "kafka.admin.client"}


def __getattr__(name: str) -> Any:
    """Load a client on first use, because most programs need only one of the two, and each imports many modules."""
    return _old_names.of_a_package(__name__, name, _HOMES)
