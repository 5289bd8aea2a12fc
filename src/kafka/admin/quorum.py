"""The nodes of a KRaft cluster: describe the metadata quorum, change its voters (KIP-853), unregister lost nodes."""

import base64
import binascii
from collections.abc import Iterable
from typing import Any, NamedTuple
from uuid import UUID

from kafka.admin.requests import AdminRequests, check_answered, own_error_code, raise_first
from kafka.admin.results import as_result
from kafka.errors import IllegalArgumentError, for_code
from kafka.wire.api.add_raft_voter import AddRaftVoterRequest, Listener
from kafka.wire.api.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from kafka.wire.api.remove_raft_voter import RemoveRaftVoterRequest
from kafka.wire.api.unregister_broker import UnregisterBrokerRequest
from kafka.wire.api.unregister_controller import UnregisterControllerRequest


class RaftVoterEndpoint(NamedTuple):
    """Where a voter of the metadata quorum listens.

    Arguments:
        listener: the listener's name, such as "CONTROLLER".
        host: a name or an address.
        port: the port.
    """

    listener: str
    host: str
    port: int


def directory_id(what: str, given: object) -> UUID:
    """The id of a log directory: a `uuid.UUID`, its text, or the 22 characters in which Kafka writes it."""
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
    _check(f"adding voter {voter_id}", response)


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
    _check(f"removing voter {voter_id}", response)


async def unregister_broker(requests: AdminRequests, broker_id: int, timeout_ms: int | None) -> None:
    """See `KafkaAdminClient.unregister_broker`."""
    request = UnregisterBrokerRequest(broker_id=broker_id)
    response = await requests.any_broker(request, error_codes=own_error_code, timeout_ms=timeout_ms)
    _check(f"unregistering broker {broker_id}", response)


async def unregister_controller(requests: AdminRequests, controller_id: int, timeout_ms: int | None) -> None:
    """See `KafkaAdminClient.unregister_controller`."""
    request = UnregisterControllerRequest(controller_id=controller_id)
    response = await requests.any_broker(request, error_codes=own_error_code, timeout_ms=timeout_ms)
    _check(f"unregistering controller {controller_id}", response)


def _check(what: str, response: Any) -> None:
    raise_first([(what, response.error_code, response.error_message)])
