"""The cluster: brokers, API versions, features (KIP-584), the metadata quorum (KIP-853) and partitions (KIP-966)."""

import base64
import binascii
from collections.abc import Iterable
from enum import IntEnum
from typing import Any, NamedTuple
from uuid import UUID

from kafka.admin.acls import operation_names
from kafka.admin.admin_requests import AdminRequests, check_answered, own_error_code, raise_first
from kafka.admin.enums import EnumHelper
from kafka.admin.results import as_result
from kafka.admin.topics import read_metadata
from kafka.errors import IllegalArgumentError, UnsupportedVersionError, for_code
from kafka.version import __version__
from kafka.wire.api.add_raft_voter import AddRaftVoterRequest, Listener
from kafka.wire.api.api_versions import ApiVersionsRequest
from kafka.wire.api.describe_cluster import DescribeClusterRequest
from kafka.wire.api.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from kafka.wire.api.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest, TopicRequest
from kafka.wire.api.remove_raft_voter import RemoveRaftVoterRequest
from kafka.wire.api.unregister_broker import UnregisterBrokerRequest
from kafka.wire.api.unregister_controller import UnregisterControllerRequest
from kafka.wire.api.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kafka.wire.index import API_NAMES

_FENCED_SINCE = 2
_FEATURES_SINCE = 3
_UPGRADE_TYPE_SINCE = 1


async def describe_cluster(requests: AdminRequests, fenced_brokers: bool = False) -> dict[str, Any]:
    """See `KafkaAdminClient.describe_cluster`."""
    request = DescribeClusterRequest(include_cluster_authorized_operations=True, include_fenced_brokers=fenced_brokers)
    try:
        response: Any = await requests.any_broker(
            request, min_version=_FENCED_SINCE if fenced_brokers else 0, error_codes=own_error_code
        )
    except UnsupportedVersionError:
        if fenced_brokers:
            raise
        return _cluster(await read_metadata(requests, ()))  # for brokers before 2.8
    raise_first([("describing the cluster", response.error_code, response.error_message)])
    return _cluster(response)


def _cluster(response: Any) -> dict[str, Any]:
    return {
        "throttle_time_ms": response.throttle_time_ms,
        "cluster_id": response.cluster_id,
        "controller_id": response.controller_id,
        "brokers": [_broker(each) for each in response.brokers],
        "authorized_operations": operation_names(response.cluster_authorized_operations),
    }


def _broker(broker: Any) -> dict[str, Any]:
    """Return a broker as a dict with the key names of both generations of kafka-python."""
    node_id = getattr(broker, "broker_id", None)
    if node_id is None:
        node_id = broker.node_id
    return {
        "node_id": node_id,
        "broker_id": node_id,
        "host": broker.host,
        "port": broker.port,
        "rack": broker.rack,
        "is_fenced": getattr(broker, "is_fenced", False),
    }


async def all_partitions(requests: AdminRequests, topics: list[str]) -> dict[str, list[int]]:
    """Return the numbers of all partitions by topic. Raises the broker's error for a topic that does not exist."""
    response = await read_metadata(requests, topics)
    raise_first([(f"topic {each.name!r}", each.error_code, None) for each in response.topics])
    return {each.name or "": sorted(one.partition_index for one in each.partitions) for each in response.topics}


async def describe_topic_partitions(
    requests: AdminRequests, topics: list[str], limit: int, cursor: tuple[str, int] | None
) -> dict[str, Any]:
    """See `KafkaAdminClient.describe_topic_partitions`."""
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=topic) for topic in sorted(topics)],
        response_partition_limit=limit,
        cursor=None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    response = await requests.any_broker(request)
    described = as_result(response.topics)
    for topic, told in zip(described, response.topics, strict=True):
        topic["topic_id"] = told.topic_id  # a UUID, as in kafka-python 3
        topic["authorized_operations"] = operation_names(told.topic_authorized_operations)
    return {"topics": described, "next_cursor": as_result(response.next_cursor)}


class UpdateFeatureType(EnumHelper, IntEnum):
    """What an update may do to the level of a feature (KIP-584, KIP-778). Java: ``FeatureUpdate.UpgradeType``."""

    UNKNOWN = 0
    """A value that this client does not know."""
    UPGRADE = 1
    """Raise it only."""
    SAFE_DOWNGRADE = 2
    """Lower it if no metadata is lost."""
    UNSAFE_DOWNGRADE = 3
    """Lower it even if metadata is lost."""


ApiKey = IntEnum("ApiKey", {name: key for key, name in API_NAMES.items()})  # type: ignore[misc]  # from a table
"""API keys by name."""


class BrokerVersionData:
    """The API versions that a broker supports.

    Attributes:
        api_versions: API key to its lowest and highest version.
    """

    def __init__(self, api_versions: dict[int, tuple[int, int]]) -> None:
        self.api_versions = api_versions

    def api_version(self, operation: Any, min_version: int = 0, max_version: int | None = None) -> int:
        """Return the highest version of a request that both the broker and this client support.

        Raises `UnsupportedVersionError` if there is no such version.
        """
        low, high = self.api_versions.get(operation.API_KEY, (0, -1))
        limits = [high, operation.MAX_VERSION, *([] if max_version is None else [max_version])]
        if min(limits) < max(low, min_version, operation.MIN_VERSION):
            raise UnsupportedVersionError(f"the broker supports no suitable version of {operation.__name__}")
        return int(min(limits))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BrokerVersionData) and self.api_versions == other.api_versions

    __hash__ = None  # type: ignore[assignment]  # it holds a dict


async def api_versions(requests: AdminRequests, node_id: int | None) -> dict[int, tuple[int, int]]:
    """Return the API versions that a broker supports. If ``node_id`` is None, any broker is queried."""
    cluster = requests.cluster
    connection = await (cluster.any_connection() if node_id is None else cluster.connection(node_id))
    return dict(connection.api_versions.items())


async def describe_features(requests: AdminRequests, to_controller: bool) -> dict[str, dict[str, Any]]:
    """See `KafkaAdminClient.describe_features`."""
    request = ApiVersionsRequest(client_software_name="kafka-columnar", client_software_version=__version__)
    node_id = await requests.cluster.controller() if to_controller else None
    response = await requests.any_broker(request, node_id, min_version=_FEATURES_SINCE, error_codes=own_error_code)
    raise_first([("describing features", response.error_code, None)])
    epoch = response.finalized_features_epoch
    features: dict[str, dict[str, Any]] = {}
    for each in response.supported_features:
        features.setdefault(each.name, {})["supported"] = (each.min_version, each.max_version)
    for each in response.finalized_features:
        feature = features.setdefault(each.name, {})
        feature["finalized"] = (each.min_version_level, each.max_version_level)
        feature["finalized_epoch"] = epoch if epoch >= 0 else None
    return features


async def update_features(
    requests: AdminRequests,
    updates: dict[str, tuple[UpdateFeatureType, int]],
    validate_only: bool,
    timeout_ms: int | None,
) -> dict[str, str]:
    """See `KafkaAdminClient.update_features`."""
    request = UpdateFeaturesRequest(
        timeout_ms=requests.limit_ms(timeout_ms),
        feature_updates=[
            FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=kind)
            for feature, (kind, level) in updates.items()
        ],
        validate_only=validate_only,
    )
    response = await requests.controller(
        request, lambda response: [response.error_code], timeout_ms, min_version=_UPGRADE_TYPE_SINCE
    )
    raise_first([("updating features", response.error_code, response.error_message)])
    results = dict.fromkeys(updates, "OK")
    for each in response.results:
        if each.error_code:
            results[each.feature] = str(for_code(each.error_code)(each.error_message))
    return results


class RaftVoterEndpoint(NamedTuple):
    """An address on which a voter of the metadata quorum listens.

    Arguments:
        listener: name of the listener, such as "CONTROLLER".
        host: host name or IP address.
        port: the port.
    """

    listener: str
    host: str
    port: int


def directory_id(what: str, given: object) -> UUID:
    """Return the id of a log directory, given as a `uuid.UUID`, as its text, or in Kafka's 22-character notation."""
    if isinstance(given, UUID):
        return given
    try:
        if isinstance(given, str):
            return UUID(bytes=base64.urlsafe_b64decode(given + "==")) if len(given) == 22 else UUID(given)
    except (ValueError, binascii.Error):
        pass
    raise IllegalArgumentError(f"{what}: expected a uuid.UUID, or the text of one, got {given!r:.80}")


async def describe_metadata_quorum(requests: AdminRequests) -> dict[str, Any]:
    """See `KafkaAdminClient.describe_metadata_quorum`."""
    topic = "__cluster_metadata"
    partitions = [DescribeQuorumRequestPartitionData(partition_index=0)]
    request = DescribeQuorumRequest(topics=[DescribeQuorumRequestTopicData(topic_name=topic, partitions=partitions)])
    response = await requests.any_broker(request, error_codes=own_error_code)
    raise_first([("describing the quorum", response.error_code, response.error_message)])
    check_answered("topics", [topic], (each.topic_name for each in response.topics))
    result: dict[str, Any] = as_result(response)
    for name in ("error_code", "error_message"):
        del result[name]
    for each in result["topics"]:
        for partition in each["partitions"]:
            code, message = partition.pop("error_code"), partition.pop("error_message")
            partition["error"] = str(for_code(code)(message)) if code else None
    return result


async def add_raft_voter(
    requests: AdminRequests,
    voter_id: int,
    voter_directory_id: UUID,
    endpoints: Iterable[RaftVoterEndpoint],
    cluster_id: str | None,
    timeout_ms: int | None,
) -> None:
    """See `KafkaAdminClient.add_raft_voter`."""
    request = AddRaftVoterRequest(
        cluster_id=cluster_id,
        timeout_ms=requests.limit_ms(timeout_ms),
        voter_id=voter_id,
        voter_directory_id=voter_directory_id,
        listeners=[Listener(name=each.listener, host=each.host, port=each.port) for each in endpoints],
    )
    response = await requests.any_broker(request, repeatable=False, timeout_ms=timeout_ms)
    _raise_error(f"adding voter {voter_id}", response)


async def remove_raft_voter(
    requests: AdminRequests,
    voter_id: int,
    voter_directory_id: UUID,
    cluster_id: str | None,
    timeout_ms: int | None,
) -> None:
    """See `KafkaAdminClient.remove_raft_voter`."""
    request = RemoveRaftVoterRequest(cluster_id=cluster_id, voter_id=voter_id, voter_directory_id=voter_directory_id)
    response = await requests.any_broker(request, repeatable=False, timeout_ms=timeout_ms)
    _raise_error(f"removing voter {voter_id}", response)


async def unregister_broker(requests: AdminRequests, broker_id: int, timeout_ms: int | None) -> None:
    """See `KafkaAdminClient.unregister_broker`."""
    request = UnregisterBrokerRequest(broker_id=broker_id)
    response = await requests.any_broker(request, error_codes=own_error_code, timeout_ms=timeout_ms)
    _raise_error(f"unregistering broker {broker_id}", response)


async def unregister_controller(requests: AdminRequests, controller_id: int, timeout_ms: int | None) -> None:
    """See `KafkaAdminClient.unregister_controller`."""
    request = UnregisterControllerRequest(controller_id=controller_id)
    response = await requests.any_broker(request, error_codes=own_error_code, timeout_ms=timeout_ms)
    _raise_error(f"unregistering controller {controller_id}", response)


def _raise_error(what: str, response: Any) -> None:
    raise_first([(what, response.error_code, response.error_message)])
