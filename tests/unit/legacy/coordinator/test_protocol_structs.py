"""`kafka.coordinator.protocol` and `kafka.coordinator.subscription` of 1.0 to 2.x, and assignors called as in 1.x."""

from __future__ import annotations

from kafka.coordinator import consumer_protocol as today
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky import sticky_assignor
from kafka.coordinator.assignors.sticky.sticky_assignor import decode_user_data, encode_user_data
from kafka.coordinator.protocol import (
    ConsumerProtocol,
    ConsumerProtocol_v0,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from kafka.coordinator.subscription import Subscription
from kafka.structs import TopicPartition

METADATA = bytes.fromhex("0000000000020001610001620000000178")  # printed by kafka-python 1.4.7
ASSIGNMENT = bytes.fromhex("00000000000100016100000002000000000000000100000000")


class Cluster:
    def partitions_for_topic(self, topic: str) -> set[int]:
        return {0, 1, 2}


def test_bytes_match_1_x() -> None:
    metadata = ConsumerProtocolMemberMetadata(0, ["a", "b"], b"x")
    assert metadata.encode() == METADATA
    read = ConsumerProtocol.METADATA.decode(METADATA)
    assert (read.version, read.subscription, read.topics, read.user_data) == (0, ["a", "b"], ["a", "b"], b"x")
    assignment = ConsumerProtocolMemberAssignment(0, [("a", [0, 1])], b"")
    assert assignment.encode() == ASSIGNMENT
    assert ConsumerProtocol[0].ASSIGNMENT.decode(ASSIGNMENT).partitions() == [
        TopicPartition("a", 0),
        TopicPartition("a", 1),
    ]
    assert ConsumerProtocol.PROTOCOL_TYPE == ConsumerProtocol_v0.PROTOCOL_TYPE == "consumer"


def test_bytes_of_current_members_can_be_decoded() -> None:
    written = today.encode_subscription(today.make_subscription(["b", "a"], b"x"))
    assert ConsumerProtocol.METADATA.decode(written).subscription == ["a", "b"]


def test_assignor_input() -> None:
    told = Subscription(ConsumerProtocolMemberMetadata(0, ["a"], b"x"), "one")
    assert (told.version, told.topics, told.subscription, told.user_data) == (0, ["a"], ["a"], b"x")
    assert told.group_instance_id == "one"
    assert told == Subscription(ConsumerProtocolMemberMetadata(0, ["a"], b"x"), "one")
    assert told != Subscription(ConsumerProtocolMemberMetadata(0, ["a"], b"x"), None)
    assert ConsumerProtocolMemberMetadata.decode(told.encode()).subscription == ["a"]


def test_assignors_accept_1_x_metadata() -> None:
    members = {name: ConsumerProtocolMemberMetadata(0, ["a"], b"") for name in ("m", "n")}
    for assignor, expected in ((RangePartitionAssignor, [0, 1]), (RoundRobinPartitionAssignor, [0, 2])):
        assigned = assignor.assign(Cluster(), members)  # type: ignore[arg-type]  # as in 1.x
        assert today.assigned_partitions(assigned["m"]) == [TopicPartition("a", each) for each in expected]


def test_assignors_accept_metadata_they_created() -> None:
    class Cluster:
        def partitions_for_topic(self, topic: str) -> set[int]:
            return {0, 1, 2}

    for assignor, expected in ((RangePartitionAssignor, ([0, 1], [2])), (RoundRobinPartitionAssignor, ([0, 2], [1]))):
        members = {name: assignor.metadata({"t"}) for name in ("a", "b")}
        found = assignor.assign(Cluster(), members)  # type: ignore[arg-type]  # as programs of 1.x call it
        assert {name: each.partitions() for name, each in found.items()} == {
            name: [TopicPartition("t", number) for number in numbers]
            for name, numbers in zip(members, expected, strict=True)
        }


def test_user_data_of_the_sticky_assignor() -> None:
    data = sticky_assignor.StickyAssignorUserDataV1([("a", [0, 2])], 5).encode()
    had = [TopicPartition("a", 0), TopicPartition("a", 2)]
    assert data == encode_user_data(had, 5)
    assert (decode_user_data(data).partitions, decode_user_data(data).generation) == (had, 5)
    read = sticky_assignor.StickyAssignorUserDataV1.decode(data)
    assert ([tuple(each) for each in read.previous_assignment], read.generation) == ([("a", [0, 2])], 5)
