"""The assignors of a member: what is refused, what it offers, and what a leader's assignment has to be like."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from kafka.cluster import ClusterMetadata
from kafka.config import from_java_names
from kafka.config.java_names import JAVA_ASSIGNORS
from kafka.coordinator.assignors import ASSIGNORS
from kafka.coordinator.assignors.abstract import RebalanceProtocol, Subscription
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.classic.assignment import (
    AssignorFailed,
    Assignors,
    JoinSubscription,
    notify,
    read_members,
    run_assignor,
)
from kafka.coordinator.consumer_protocol import decode_assignment, decode_subscription, make_assignment
from kafka.coordinator.protocol import ConsumerProtocolMemberAssignment, ConsumerProtocolMemberMetadata
from kafka.errors import InconsistentGroupProtocolError, KafkaConfigurationError, KafkaError
from kafka.protocol.consumer import metadata as messages
from kafka.structs import TopicPartition
from kafka.wire.api.consumer_protocol import ConsumerProtocolSubscription
from kafka.wire.api.join_group import JoinGroupResponse, JoinGroupResponseMember

MEMBERS: dict[str, Any] = {"one": None, "two": None}


class Given(RangePartitionAssignor):
    """Assigns what it was made with."""

    def __init__(self, assigned: Mapping[str, Mapping[str, list[int]]]) -> None:
        self._assigned = assigned

    def assign(self, cluster: Any, members: Any) -> Any:
        return {name: make_assignment(topics) for name, topics in self._assigned.items()}


def run(assignor: Any) -> dict[str, bytes]:
    return asyncio.run(run_assignor(assignor, None, MEMBERS))  # type: ignore[arg-type]


class NamesOnly:
    name = "only"


class AssignsOnly:
    def assign(self) -> None:
        """Has no name."""


def test_consumers_can_be_configured_with_the_names_of_java_classes() -> None:
    for java_class, name in JAVA_ASSIGNORS.items():
        configs = from_java_names({"partition.assignment.strategy": f"org.apache.kafka.clients.consumer.{java_class}"})
        assert type(Assignors(configs["partition_assignment_strategy"]).choose(name)) in ASSIGNORS
        assert java_class.removesuffix("Assignor").lower() == name.replace("-", "")
    assert len(set(JAVA_ASSIGNORS.values())) == len(JAVA_ASSIGNORS) == 4


@pytest.mark.parametrize("configured", [object(), NamesOnly, AssignsOnly()])
def test_invalid_assignors_are_refused(configured: object) -> None:
    with pytest.raises(KafkaConfigurationError, match="expects assignors"):
        Assignors([configured])


def test_two_assignors_of_one_name_are_refused() -> None:
    with pytest.raises(KafkaConfigurationError, match="two assignors named 'range'"):
        Assignors([RangePartitionAssignor, Given({})])


class Either(RangePartitionAssignor):
    """As kafka-python 3's range assignor, which says what it supports."""

    def supported_protocols(self) -> list[RebalanceProtocol]:
        return [RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER]


class Cooperative(RangePartitionAssignor):
    name = "keeping"

    def supported_protocols(self) -> list[RebalanceProtocol]:
        return [RebalanceProtocol.COOPERATIVE]


def test_the_protocol_is_the_most_that_all_assignors_can_do() -> None:
    assert RangePartitionAssignor().supported_protocols() == (RebalanceProtocol.EAGER,)
    assert Assignors(None).protocol is RebalanceProtocol.EAGER
    assert Assignors([RangePartitionAssignor]).protocol is RebalanceProtocol.EAGER
    assert Assignors([CooperativeStickyAssignor]).protocol is RebalanceProtocol.COOPERATIVE
    assert Assignors([CooperativeStickyAssignor, RangePartitionAssignor]).protocol is RebalanceProtocol.EAGER
    assert Assignors([Cooperative, CooperativeStickyAssignor]).protocol is RebalanceProtocol.COOPERATIVE
    assert Assignors([Either]).protocol is RebalanceProtocol.COOPERATIVE


def test_assignors_that_have_no_protocol_in_common_are_refused() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"\['keeping', 'range'\] have no rebalance protocol in common"):
        Assignors([Cooperative, RangePartitionAssignor])


def test_a_cooperative_assignor_must_not_assign_owned_partitions() -> None:
    class Keeping(Given):
        name = "keeping"

        def supported_protocols(self) -> list[RebalanceProtocol]:
            return [RebalanceProtocol.COOPERATIVE]

    tp = TopicPartition("t", 1)
    members = {"a": Subscription(["t"], owned_partitions=[tp]), "b": Subscription(["t"])}
    moves, waits = Keeping({"a": {}, "b": {"t": [1]}}), Keeping({"a": {}, "b": {}})
    with pytest.raises(AssignorFailed) as caught:
        asyncio.run(run_assignor(moves, ClusterMetadata(), members))
    assert f"'keeping' is cooperative, but assigned {tp} to 'b' while 'a' still owns it" in str(caught.value.__cause__)
    assert set(asyncio.run(run_assignor(waits, ClusterMetadata(), members))) == {"a", "b"}
    members["a"] = Subscription(["t"])
    assert set(asyncio.run(run_assignor(moves, ClusterMetadata(), members))) == {"a", "b"}


def test_assignors_are_offered_in_order_and_only_those_can_be_chosen() -> None:
    async def offered(configured: list[Any] | None) -> list[str]:
        return [each.name for each in await Assignors(configured).protocols(JoinSubscription(frozenset({"t"})))]

    assert asyncio.run(offered(None)) == ["range", "roundrobin"]
    assert asyncio.run(offered([RoundRobinPartitionAssignor])) == ["roundrobin"]
    assert Assignors(None).choose("roundrobin").name == "roundrobin"
    for name in ("sticky", None):
        with pytest.raises(InconsistentGroupProtocolError, match="offers \\['range', 'roundrobin'\\]"):
            Assignors(None).choose(name)


def test_an_assignor_may_give_bytes_or_a_subscription_that_is_completed() -> None:
    class Bytes(RangePartitionAssignor):
        name = "bytes"

        @classmethod
        def metadata(cls, topics: Any) -> Any:
            return b"as they are"

    class OwnRack(RangePartitionAssignor):
        name = "rack"

        @classmethod
        def metadata(cls, topics: Any) -> ConsumerProtocolSubscription:
            return ConsumerProtocolSubscription(topics=list(topics), user_data=b"u", rack_id="mine", generation_id=3)

    owned = frozenset({TopicPartition("t", 1), TopicPartition("t", 0), TopicPartition("s", 4)})
    told = JoinSubscription(frozenset({"t", "s"}), owned, 7, "r")
    first, second, third = asyncio.run(Assignors([Bytes, OwnRack, RangePartitionAssignor]).protocols(told))
    assert first.metadata == b"as they are"
    own = decode_subscription(second.metadata)
    assert (own.user_data, own.rack_id, own.generation_id) == (b"u", "mine", 3)
    (member,) = read_members(
        JoinGroupResponse(members=[JoinGroupResponseMember(member_id="m", metadata=third.metadata)])
    ).values()
    assert member.topics == ["s", "t"]
    assert set(member.owned_partitions) == owned
    assert (member.generation, member.rack_id) == (7, "r")


def test_the_assignment_of_a_leader_is_checked() -> None:
    assigned = run(Given({"one": {"t": [0]}, "two": {"t": [1]}}))
    assert decode_assignment(assigned["two"]).assigned_partitions[0].partitions == [1]
    for wrong, text in (
        ({"three": {"t": [0]}}, "assigned to 'three', which is not a member"),
        ({"one": {"t": [0]}, "two": {"t": [0]}}, "to both 'one' and 'two'"),
    ):
        with pytest.raises(AssignorFailed) as caught:
            run(Given(wrong))
        assert text in str(caught.value.__cause__)


def test_the_users_assignors_run_in_a_thread_and_ours_at_once() -> None:
    threads = []

    class Watched(RangePartitionAssignor):
        @classmethod
        def assign(cls, cluster: Any, members: Any) -> Any:
            threads.append(threading.current_thread())
            return {}

    run(Watched())
    assert threads[0] is not threading.current_thread()


@pytest.mark.parametrize("failure", [SystemExit(3), KeyboardInterrupt()])
def test_base_exceptions_of_an_assignor_become_errors(failure: BaseException) -> None:
    class Exits(RangePartitionAssignor):
        @classmethod
        def assign(cls, cluster: Any, members: Any) -> Any:
            raise failure

    with pytest.raises(AssignorFailed) as caught:
        run(Exits())
    cause = caught.value.__cause__
    assert isinstance(cause, KafkaError)
    assert cause.__cause__ is failure


def test_a_member_that_was_in_no_generation_says_so() -> None:
    assert JoinSubscription(frozenset({"t"})).generation_id == -1


def test_an_assignor_for_kafka_python_2_may_use_its_classes() -> None:
    class Older(RangePartitionAssignor):
        name = "older"
        told: ClassVar[list[Any]] = []

        @classmethod
        def metadata(cls, topics: Any) -> Any:
            return ConsumerProtocolMemberMetadata(0, list(topics), b"mine")

        @classmethod
        def assign(cls, cluster: Any, members: Any) -> Any:
            return {"m": ConsumerProtocolMemberAssignment(0, [("t", [1, 0])], b"yours")}

        @classmethod
        def on_assignment(cls, assignment: Any) -> None:  # type: ignore[override]
            cls.told = [assignment.assignment, assignment.partitions(), assignment.user_data]

    (offer,) = asyncio.run(Assignors([Older]).protocols(JoinSubscription(frozenset({"t"}))))
    subscription = decode_subscription(offer.metadata)
    assert (subscription.topics, subscription.user_data) == (["t"], b"mine")
    given = asyncio.run(run_assignor(Older(), ClusterMetadata(), {"m": Subscription(topics=["t"])}))
    asyncio.run(notify(Older(), decode_assignment(given["m"]), 3))
    assert Older.told == [[("t", [1, 0])], [TopicPartition("t", 1), TopicPartition("t", 0)], b"yours"]


def test_an_assignor_for_kafka_python_2_gets_the_generation_separately() -> None:
    class Sticky(RangePartitionAssignor):
        told: ClassVar[list[Any]] = []

        @classmethod
        def on_assignment(cls, assignment: Any) -> None:  # type: ignore[override]
            cls.told.append(assignment)

        @classmethod
        def on_generation_assignment(cls, generation: int) -> None:
            cls.told.append(generation)

    assignment = make_assignment({"t": [1]})
    asyncio.run(notify(Sticky(), assignment, 3))
    assert Sticky.told == [assignment, 3]


class _Newer(RangePartitionAssignor):
    """An assignor as programs for kafka-python 3 have them."""

    name = "newer"
    version = 1
    told: ClassVar[list[Any]] = []

    @classmethod
    def metadata(cls, topics: Any) -> Any:
        return messages.ConsumerProtocolSubscription(cls.version, sorted(topics), b"mine")

    @classmethod
    def assign(cls, cluster: Any, members: Any) -> Any:
        cls.told = [(each.member_id, each.group_instance_id, each.metadata.topics) for each in members]
        return {
            each.member_id: messages.ConsumerProtocolAssignment(cls.version, [("t", [number])], b"yours")
            for number, each in enumerate(members)
        }


def test_an_assignor_for_kafka_python_3_may_use_its_members_and_messages() -> None:
    (offer,) = asyncio.run(Assignors([_Newer]).protocols(JoinSubscription(frozenset({"t"}))))
    assert (decode_subscription(offer.metadata).topics, decode_subscription(offer.metadata).user_data) == (
        ["t"],
        b"mine",
    )
    joined = [
        JoinGroupResponseMember(member_id=name, group_instance_id=instance, metadata=offer.metadata)
        for name, instance in (("m", None), ("n", "static"))
    ]
    members = read_members(JoinGroupResponse(members=joined))
    given = asyncio.run(run_assignor(_Newer(), ClusterMetadata(), members))
    assert _Newer.told == [("m", None, ["t"]), ("n", "static", ["t"])]
    read = {name: decode_assignment(data) for name, data in given.items()}
    assert {name: (each.partitions(), each.user_data) for name, each in read.items()} == {
        "m": ([TopicPartition("t", 0)], b"yours"),
        "n": ([TopicPartition("t", 1)], b"yours"),
    }
