"""Groups of every type: list them, delete them, and remove members."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple, Self

from kafka.admin.admin_requests import AdminRequests, gather
from kafka.admin.enums import EnumHelper
from kafka.admin.group_descriptions import members_of
from kafka.admin.results import as_result
from kafka.admin.routing import Ask, EachBroker, Outcome, ask_each, asking, error_classes, group_route, values_or_raise
from kafka.errors import (
    BrokerResponseError,
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    IllegalArgumentError,
    KafkaError,
    NotCoordinatorError,
    StaleMetadata,
    UnsupportedVersionError,
    for_code,
)
from kafka.wire.api.delete_groups import DeleteGroupsRequest
from kafka.wire.api.leave_group import LeaveGroupRequest, MemberIdentity
from kafka.wire.api.list_groups import ListGroupsRequest


class GroupState(EnumHelper, str, Enum):  # noqa: UP042  # its text is kafka-python's
    """The states of a group (KIP-518, KIP-848, KIP-932, KIP-1071)."""

    UNKNOWN = "Unknown"
    """A value that this client does not know."""
    PREPARING_REBALANCE = "PreparingRebalance"
    """A classic group rebalances, and waits for its members to join."""
    COMPLETING_REBALANCE = "CompletingRebalance"
    """A classic group rebalances, and waits for its leader's assignment."""
    STABLE = "Stable"
    """The members have their assignments."""
    DEAD = "Dead"
    """The group does not exist, or is being removed."""
    EMPTY = "Empty"
    """The group has no members; it may have committed offsets."""
    ASSIGNING = "Assigning"
    """The coordinator computes an assignment (KIP-848)."""
    RECONCILING = "Reconciling"
    """Members are moving to their new assignments (KIP-848)."""
    NOT_READY = "NotReady"
    """A group of Kafka Streams lacks topics (KIP-1071)."""


class GroupType(EnumHelper, str, Enum):  # noqa: UP042  # its text is kafka-python's
    """The types of groups, which brokers name since Kafka 3.8. Java: ``GroupType``."""

    UNKNOWN = "Unknown"
    """A type that this release does not know."""
    CLASSIC = "classic"
    """A group whose members use the classic protocol: of consumers, or of others such as Kafka Connect's workers."""
    CONSUMER = "consumer"
    """A consumer group whose members use the protocol of KIP-848."""
    SHARE = "share"
    """A share group (KIP-932)."""
    STREAMS = "streams"
    """A group of Kafka Streams (KIP-1071)."""


class MemberToRemove(NamedTuple):
    """A member to remove from its group.

    Arguments:
        member_id: id of a dynamic member, assigned by the coordinator.
        group_instance_id: id of a static member (KIP-345, Kafka 2.3).
        reason: reason for the broker's log (KIP-800, Kafka 3.2).
    """

    member_id: str | None = None
    group_instance_id: str | None = None
    reason: str | None = None


class _GroupAndType(NamedTuple):
    group: str
    protocol_type: str


class ListedGroup(_GroupAndType):
    """An entry in a list of groups: a pair of group id and protocol type, with the state as an attribute.

    Attributes:
        state: the state, such as "Stable"; empty if the broker is older than Kafka 2.6.
    """

    state: str = ""

    @classmethod
    def of(cls, group: str, protocol_type: str, state: str) -> Self:
        """Create an entry with a state."""
        listed = cls(group, protocol_type)
        listed.state = state
        return listed


class ListedGroups(list[dict[str, Any]]):
    """The result of `list_groups`: a dict for each group.

    Attributes:
        errors: the errors, by broker id, from brokers that could not list their groups.
    """

    def __init__(self, groups: Iterable[dict[str, Any]], errors: dict[int, KafkaError]) -> None:
        super().__init__(groups)
        self.errors = errors

    def _repr_html_(self) -> str:
        """Return a table with one row per group, for notebooks."""
        from kafka.display.html_tables import groups

        return groups(self)


_STATES_SINCE = 4
_TYPES_SINCE = 5
_MOST_ROUNDS = 3
"""How often the brokers are asked for their groups, if each time one of them leaves the cluster."""


async def list_groups(
    requests: AdminRequests,
    broker_ids: list[int] | None,
    states: Sequence[str] = (),
    types: Sequence[str] = (),
    protocol_types: Sequence[str] | None = None,
    raise_errors: bool = True,
) -> ListedGroups:
    """See `KafkaAdminClient.list_groups`."""
    version = _TYPES_SINCE if types else _STATES_SINCE if states else 0
    request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))

    async def ask(node_id: int, _: list[int]) -> list[Outcome]:
        response = await requests.cluster.send(node_id, request, min_version=version)
        return [Outcome(node_id, response.error_code, None, as_result(response.groups))]

    nodes, answers = await _ask_brokers(requests, broker_ids, ask)
    errors = {node_id: answer for node_id, answer in answers.items() if isinstance(answer, KafkaError)}
    if errors and raise_errors:
        raise next(iter(errors.values()))
    found = {each["group_id"]: each for node_id in nodes if node_id not in errors for each in answers[node_id]}
    wanted = (each for each in found.values() if protocol_types is None or each["protocol_type"] in protocol_types)
    return ListedGroups(wanted, errors)


async def _ask_brokers(
    requests: AdminRequests, broker_ids: list[int] | None, ask: Ask[int]
) -> tuple[list[int], dict[int, Any]]:
    """Return the ids of the brokers, and their answers.

    If a broker leaves the cluster in the meantime, its groups move to others. Therefore, unless the caller has named
    the brokers, the remaining ones are asked again, instead of waiting for the one that is gone.
    """
    what = "listing the groups of broker"
    for _ in range(_MOST_ROUNDS):
        nodes = await requests.broker_ids(broker_ids)
        answers = await ask_each(requests, what, nodes, EachBroker(waits=broker_ids is not None), ask)
        if broker_ids is not None or not any(isinstance(each, StaleMetadata) for each in answers.values()):
            break
    return nodes, answers


async def list_consumer_groups(requests: AdminRequests, broker_ids: list[int] | None) -> list[ListedGroup]:
    """See `KafkaAdminClient.list_consumer_groups`."""
    return [
        ListedGroup.of(each["group_id"], each["protocol_type"], each.get("group_state", ""))
        for each in await list_groups(requests, broker_ids)
    ]


async def delete_groups(
    requests: AdminRequests, group_ids: Iterable[str], node_id: int | None
) -> list[tuple[str, type[KafkaError]]]:
    """See `KafkaAdminClient.delete_consumer_groups`."""

    def read(response: Any) -> Iterable[Outcome]:
        return [Outcome(each.group_id, each.error_code, None, None) for each in response.results]

    def make(ids: list[str]) -> DeleteGroupsRequest:
        return DeleteGroupsRequest(groups_names=ids)

    route = group_route(requests, node_id)
    deleted = await ask_each(requests, "deleting group", group_ids, route, asking(requests, make, read))
    return list(error_classes(deleted).items())


_MANY_SINCE = 3
_PASSING = (CoordinatorLoadInProgressError.errno, CoordinatorNotAvailableError.errno, NotCoordinatorError.errno)


async def remove_group_members(
    requests: AdminRequests, group_id: str, members: list[MemberToRemove] | None, node_id: int | None
) -> dict[str | None, type[BrokerResponseError]]:
    """See `KafkaAdminClient.remove_group_members`."""
    leaving = members if members is not None else await _all_members(requests, group_id, node_id)
    if not leaving:
        return {}
    alone: dict[MemberToRemove, type[BrokerResponseError]] = {}

    async def ask(broker_id: int, _: list[str]) -> list[Outcome]:
        connection = await requests.cluster.connection(broker_id)
        version = connection.api_versions.version_for(LeaveGroupRequest)
        if version >= _MANY_SINCE:
            response = await connection.send(_request(group_id, leaving), version)
            told = {each.member_id or each.group_instance_id: for_code(each.error_code) for each in response.members}
            return [Outcome(group_id, response.error_code, None, told)]
        left = [each for each in leaving if each not in alone]
        asked = [_request_of_one(group_id, each) for each in left]
        codes = [answer.error_code for answer in await gather(connection.send(each, version) for each in asked)]
        alone.update((each, for_code(code)) for each, code in zip(left, codes, strict=True) if code not in _PASSING)
        passing = next((code for code in codes if code in _PASSING), 0)
        return [Outcome(group_id, passing, None, {each.member_id: alone.get(each) for each in leaving})]

    route = group_route(requests, node_id)
    found = await ask_each(requests, "removing members of group", [group_id], route, ask)
    removed: dict[str | None, type[BrokerResponseError]] = values_or_raise(found)[group_id]
    return removed


async def _all_members(requests: AdminRequests, group_id: str, node_id: int | None) -> list[MemberToRemove]:
    """Return all members of a group. Static members are identified by their instance ids.

    If a static member were removed by its member id, it could rejoin as if it had never left.
    """
    members = await members_of(requests, group_id, node_id)
    return [MemberToRemove(member_id if instance is None else None, instance) for member_id, instance in members]


def _request(group_id: str, members: list[MemberToRemove]) -> LeaveGroupRequest:
    leaving = [
        MemberIdentity(member_id=each.member_id or "", group_instance_id=each.group_instance_id, reason=each.reason)
        for each in members
    ]
    return LeaveGroupRequest(group_id=group_id, members=leaving)


def _request_of_one(group_id: str, member: MemberToRemove) -> LeaveGroupRequest:
    if member.group_instance_id is not None:
        raise UnsupportedVersionError("brokers before 2.3 have no static members: give the member_id")
    if not member.member_id:
        raise IllegalArgumentError(f"{member}: expected a member_id")
    return LeaveGroupRequest(group_id=group_id, member_id=member.member_id)
