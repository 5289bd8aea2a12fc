"""A member's assignors: those that it offers when it joins, and the one that it runs if it leads the group.

Assignors run in a thread. On the client's loop, a slow one, such as a user's assignor or a sticky one in a large group,
would delay heartbeats, including those of other clients. Assignors that declare `on_loop` run on the loop.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from kafka.coordinator.assignors import ASSIGNORS
from kafka.coordinator.assignors.abstract import (
    AbstractPartitionAssignor,
    MemberId,
    PartitionCounts,
    RebalanceProtocol,
    Subscription,
    one_by_one,
)
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.consumer_protocol import (
    assigned_partitions,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
    partitions_by_topic,
)
from kafka.coordinator.membership import Partitions
from kafka.errors import InconsistentGroupProtocolError, KafkaConfigurationError, KafkaError
from kafka.net.helper_threads import run_blocking
from kafka.structs import TopicPartition
from kafka.wire.api import consumer_protocol
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka.wire.api.join_group import JoinGroupRequestProtocol, JoinGroupResponse

Assignor = AbstractPartitionAssignor | type[AbstractPartitionAssignor]
Result = TypeVar("Result")

_BY_NAME: dict[Any, type[AbstractPartitionAssignor]] = {assignor.name: assignor for assignor in ASSIGNORS}


class AssignorFailed(Exception):
    """An assignor raised the exception ``__cause__``, which is raised to the caller unchanged."""


class JoinSubscription(NamedTuple):
    """The subscription that a member sends to the leader.

    Arguments:
        topics: the subscribed topics.
        owned: the partitions that the member owns; none in the eager protocol (KIP-429).
        generation_id: the generation of these partitions; -1 if there is none (KIP-792).
        rack_id: the client's rack, or None (KIP-881).
    """

    topics: frozenset[str]
    owned: Partitions = frozenset()
    generation_id: int = -1
    rack_id: str | None = None


class Assignors:
    """The assignors that a consumer can use, in order of preference.

    Arguments:
        configured: classes, instances or names; see ``partition_assignment_strategy``. None: those offered by default.

    Attributes:
        protocol: the highest protocol that all assignors support, as in Java: a cooperative assignor configured
            together with an eager one is eager.

    Raises `KafkaConfigurationError` for an invalid assignor, for two assignors with the same name, and if the
    assignors have no protocol in common.
    """

    def __init__(self, configured: Sequence[Any] | None) -> None:
        self._by_name: dict[str, AbstractPartitionAssignor] = {}
        for each in configured or [assignor for assignor in ASSIGNORS if assignor.by_default]:
            given = _BY_NAME.get(each, each) if isinstance(each, str) else each
            assignor: Any = given() if inspect.isclass(given) else given
            name = getattr(assignor, "name", None)
            if not isinstance(name, str) or not callable(getattr(assignor, "assign", None)):
                raise KafkaConfigurationError(
                    "option 'partition_assignment_strategy' expects assignors (classes or instances with a name and "
                    f"assign(), or one of {', '.join(_BY_NAME)}), not {given!r}"
                )
            if name in self._by_name:
                raise KafkaConfigurationError(
                    f"option 'partition_assignment_strategy' has two assignors named {name!r}"
                )
            self._by_name[name] = assignor
        common = set.intersection(*map(_protocols_of, self._by_name.values()))
        if not common:
            raise KafkaConfigurationError(
                f"option 'partition_assignment_strategy': {list(self._by_name)} have no rebalance protocol in common: "
                "some support only cooperative rebalancing (KIP-429), others only eager"
            )
        self.protocol = max(common)

    async def protocols(self, subscription: JoinSubscription) -> list[JoinGroupRequestProtocol]:
        """Return the protocols to offer when joining, most preferred first. Raises `AssignorFailed`."""
        topics = sorted(subscription.topics)
        offered = []
        for name, assignor in self._by_name.items():
            told: Any = await _call(assignor, assignor.metadata, topics)
            if not isinstance(told, bytes):
                told = encode_subscription(_completed(_read(told, decode_subscription), subscription))
            offered.append(JoinGroupRequestProtocol(name=name, metadata=told))
        return offered

    def choose(self, name: str | None) -> AbstractPartitionAssignor:
        """Return the assignor that the coordinator chose.

        Raises `InconsistentGroupProtocolError` if the assignor was not offered.
        """
        if name is None or name not in self._by_name:
            raise InconsistentGroupProtocolError(
                f"the coordinator chose the assignor {name!r}, but this member offers {list(self._by_name)}"
            )
        return self._by_name[name]


def _protocols_of(assignor: Any) -> set[RebalanceProtocol]:
    supported = getattr(assignor, "supported_protocols", None)
    return {RebalanceProtocol.EAGER} if supported is None else set(map(RebalanceProtocol, supported()))


def read_members(response: JoinGroupResponse) -> dict[str, Subscription]:
    """Read the subscriptions of all members from the JoinGroup response to the leader."""
    members: dict[str, Subscription] = {}
    for member in response.members:
        told = decode_subscription(bytes(member.metadata))
        subscription = Subscription(
            topics=told.topics,
            user_data=told.user_data,
            owned_partitions=one_by_one(told.owned_partitions),
            generation=told.generation_id,
            group_instance_id=member.group_instance_id,
            rack_id=told.rack_id,
        )
        members[MemberId(member.member_id, subscription)] = subscription
    return members


async def run_assignor(
    assignor: AbstractPartitionAssignor, cluster: PartitionCounts, members: Mapping[str, Subscription]
) -> dict[str, bytes]:
    """Run an assignor and return the encoded assignment of each member.

    The result may contain only known members, and each partition at most once. A cooperative assignor must not assign a
    partition that its owner has not revoked.

    Raises `AssignorFailed`, also for an invalid assignment.
    """
    return await _call(assignor, _assign, assignor, cluster, members)


async def notify(assignor: AbstractPartitionAssignor, assignment: ConsumerProtocolAssignment, generation: int) -> None:
    """Pass the member's assignment and generation to an assignor. Older assignors take the two separately.

    Raises `AssignorFailed`.
    """
    if len(inspect.signature(assignor.on_assignment).parameters) > 1:
        await _call(assignor, assignor.on_assignment, assignment, generation)
        return
    await _call(assignor, assignor.on_assignment, assignment)
    older: Any = assignor
    if hasattr(older, "on_generation_assignment"):
        await _call(assignor, older.on_generation_assignment, generation)


def _assign(
    assignor: AbstractPartitionAssignor, cluster: PartitionCounts, members: Mapping[str, Subscription]
) -> dict[str, bytes]:
    assigned = assignor.assign(cluster, members)
    owners: dict[TopicPartition, str] = {}
    encoded = {}
    for member_id, given in assigned.items():
        if member_id not in members:
            raise KafkaConfigurationError(
                f"assignor {assignor.name!r} assigned to {member_id!r}, which is not a member"
            )
        assignment = _read(given, decode_assignment)
        for tp in assigned_partitions(assignment):
            if owners.setdefault(tp, member_id) != member_id:
                raise KafkaConfigurationError(
                    f"assignor {assignor.name!r} assigned {tp} to both {owners[tp]!r} and {member_id!r}"
                )
        encoded[member_id] = encode_assignment(assignment)
    cooperates = RebalanceProtocol.COOPERATIVE in _protocols_of(assignor)
    if cooperates and not isinstance(assignor, CooperativeStickyAssignor):  # ignores outdated claims itself
        _check_nothing_is_taken_away(assignor, members, owners)
    return encoded


def _check_nothing_is_taken_away(
    assignor: AbstractPartitionAssignor, members: Mapping[str, Subscription], owners: Mapping[TopicPartition, str]
) -> None:
    """Check that no partition is assigned while another member owns it. Java: ``validateCooperativeAssignment``."""
    for member_id, member in members.items():
        for tp in member.owned_partitions:
            if owners.get(tp, member_id) != member_id:
                raise KafkaConfigurationError(
                    f"assignor {assignor.name!r} is cooperative, but assigned {tp} to {owners[tp]!r} while "
                    f"{member_id!r} still owns it: omit it until its owner has revoked it and joined again (KIP-429)"
                )


async def _call(assignor: AbstractPartitionAssignor, function: Callable[..., Result], *arguments: Any) -> Result:
    def guarded() -> tuple[Result | None, BaseException | None]:
        try:
            return function(*arguments), None
        except BaseException as error:  # sys.exit() in user code must not end the loop
            return None, error

    if type(assignor) in ASSIGNORS and assignor.on_loop:  # a subclass is user code and may block
        result, error = guarded()
    else:
        result, error = await run_blocking(guarded)
    if error is not None:
        if not isinstance(error, Exception):
            error = _as_exception(assignor, error)
        raise AssignorFailed from error
    return cast("Result", result)


def _as_exception(assignor: AbstractPartitionAssignor, error: BaseException) -> Exception:
    wrapped = KafkaError(f"assignor {assignor.name!r} raised {error!r}")
    wrapped.__cause__ = error
    return wrapped


def _read(given: Any, decode: Callable[[bytes], Result]) -> Result:
    """Read an assignor's message, which may be a self-encoding object of a class from kafka-python 2.3 or earlier."""
    if isinstance(given, (ConsumerProtocolSubscription, ConsumerProtocolAssignment)):
        return cast("Result", given)
    return decode(given.encode())


def _completed(told: ConsumerProtocolSubscription, subscription: JoinSubscription) -> ConsumerProtocolSubscription:
    """Complete an assignor's subscription with the fields that the member fills in."""
    owned = partitions_by_topic(sorted(subscription.owned))
    return ConsumerProtocolSubscription(
        topics=told.topics,
        user_data=told.user_data,
        owned_partitions=told.owned_partitions
        or [consumer_protocol.TopicPartition(topic=topic, partitions=ids) for topic, ids in owned.items()],
        generation_id=told.generation_id if told.generation_id != -1 else subscription.generation_id,
        rack_id=told.rack_id if told.rack_id is not None else subscription.rack_id,
    )
