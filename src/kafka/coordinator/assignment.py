"""What the leader of a group does between JoinGroup and SyncGroup: run the assignor that the group agreed on."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor, PartitionCounts, Subscription
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.protocol import assigned_partitions, decode_subscription, encode_assignment, encode_subscription
from kafka.errors import InconsistentGroupProtocolError, KafkaConfigurationError
from kafka.structs import TopicPartition
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment
from kafka.wire.api.join_group import JoinGroupRequestProtocol, JoinGroupResponse

Assignor = AbstractPartitionAssignor | type[AbstractPartitionAssignor]


class Assignors:
    """The assignors that a consumer can use, in order of preference.

    Arguments:
        configured: classes or instances, as ``partition_assignment_strategy`` takes them; None: range, round robin.

    Raises `KafkaConfigurationError` for what is no assignor, and for two of one name.
    """

    def __init__(self, configured: Sequence[Any] | None) -> None:
        self._by_name: dict[str, AbstractPartitionAssignor] = {}
        for given in configured or (RangePartitionAssignor, RoundRobinPartitionAssignor):
            assignor: Any = given() if inspect.isclass(given) else given
            name = getattr(assignor, "name", None)
            if not isinstance(name, str) or not callable(getattr(assignor, "assign", None)):
                raise KafkaConfigurationError(
                    "option 'partition_assignment_strategy' expects assignors (classes or instances with a name and "
                    f"assign()), not {given!r}"
                )
            if name in self._by_name:
                raise KafkaConfigurationError(
                    f"option 'partition_assignment_strategy' has two assignors named {name!r}"
                )
            self._by_name[name] = assignor

    def protocols(self, topics: Iterable[str]) -> list[JoinGroupRequestProtocol]:
        """What this member offers when it joins, most preferred first."""
        wanted = list(topics)
        return [
            JoinGroupRequestProtocol(name=name, metadata=_as_bytes(assignor.metadata(wanted)))
            for name, assignor in self._by_name.items()
        ]

    def choose(self, name: str | None) -> AbstractPartitionAssignor:
        """The assignor that the coordinator chose; raises `InconsistentGroupProtocolError` if it is not one of ours."""
        if name is None or name not in self._by_name:
            raise InconsistentGroupProtocolError(
                f"the coordinator chose the assignor {name!r}, but this member offers {list(self._by_name)}"
            )
        return self._by_name[name]


def read_members(response: JoinGroupResponse) -> dict[str, Subscription]:
    """The subscriptions of all members, from what the coordinator sends to the leader."""
    members = {}
    for member in response.members:
        told = decode_subscription(bytes(member.metadata))
        members[member.member_id] = Subscription(
            topics=told.topics,
            user_data=told.user_data,
            owned_partitions=[
                TopicPartition(owned.topic, p) for owned in told.owned_partitions for p in owned.partitions
            ],
            generation=told.generation_id,
            group_instance_id=member.group_instance_id,
            rack_id=told.rack_id,
        )
    return members


def run_assignor(
    assignor: AbstractPartitionAssignor, cluster: PartitionCounts, members: Mapping[str, Subscription]
) -> dict[str, bytes]:
    """The assignment of each member as bytes, checked: every member known, no partition given twice."""
    assigned = assignor.assign(cluster, members)
    owners: dict[TopicPartition, str] = {}
    encoded = {}
    for member_id, assignment in assigned.items():
        if member_id not in members:
            raise KafkaConfigurationError(f"assignor {assignor.name!r} assigned to {member_id!r}, who is no member")
        for tp in assigned_partitions(assignment):
            if owners.setdefault(tp, member_id) != member_id:
                raise KafkaConfigurationError(
                    f"assignor {assignor.name!r} gave {tp} to both {owners[tp]!r} and {member_id!r}"
                )
        encoded[member_id] = encode_assignment(assignment)
    return encoded


def notify(assignor: AbstractPartitionAssignor, assignment: ConsumerProtocolAssignment, generation: int) -> None:
    """Tell an assignor what its member got; older assignors do not take the generation."""
    taken = inspect.signature(assignor.on_assignment).parameters
    if len(taken) > 1:
        assignor.on_assignment(assignment, generation)
    else:
        assignor.on_assignment(assignment)


def _as_bytes(metadata: Any) -> bytes:
    if isinstance(metadata, bytes):
        return metadata
    return encode_subscription(metadata)
