"""What no cluster can have is taken out of an answer, and named; what is just possible stays."""

from __future__ import annotations

import pytest

from kafka.cluster.metadata_requests import MOST_PARTITIONS, remove_impossible
from kafka.wire.api.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


def answer(brokers=(), topics=()):
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=node, host="h", port=port) for node, port in brokers],
        topics=[
            MetadataResponseTopic(
                name=name, partitions=[MetadataResponsePartition(partition_index=number) for number in numbers]
            )
            for name, numbers in topics
        ],
    )


def test_valid_extremes_are_kept():
    response = answer([(0, 1), (2**31 - 1, 65_535)], [(None, [0]), ("t", []), ("n" * 249, [0, MOST_PARTITIONS - 1])])
    brokers, topics = list(response.brokers), list(response.topics)
    numbers = [[each.partition_index for each in topic.partitions] for topic in topics]
    assert remove_impossible(response) == []
    assert (response.brokers, response.topics) == (brokers, topics)
    assert [[each.partition_index for each in topic.partitions] for topic in response.topics] == numbers
    assert MOST_PARTITIONS == 1_000_000


@pytest.mark.parametrize("broker", [(-1, 9092), (1, 0), (1, -1), (1, 65_536)])
def test_a_broker_without_an_id_or_port_is_removed(broker):
    response = answer([(0, 9092), broker])
    assert remove_impossible(response) == [f"brokers {broker[0]} at h:{broker[1]}"]
    assert [(each.node_id, each.port) for each in response.brokers] == [(0, 9092)]


@pytest.mark.parametrize("name", ["", "n" * 250])
def test_a_topic_with_an_impossible_name_is_removed(name):
    response = answer(topics=[(name, [-1]), ("t", [0]), (name, [])])
    assert remove_impossible(response) == ["2 topics without a possible name"]
    assert [topic.name for topic in response.topics] == ["t"]


@pytest.mark.parametrize("number", [-1, -(2**31), MOST_PARTITIONS, 2**31 - 1])
def test_a_partition_with_an_impossible_number_is_removed(number):
    response = answer(topics=[("t", [0, number, 1]), ("u", [0])])
    assert remove_impossible(response) == [f"partitions {number} of topic 't'"]
    numbers = [[each.partition_index for each in topic.partitions] for topic in response.topics]
    assert numbers == [[0, 1], [0]]


def test_no_more_than_five_of_a_kind_are_named():
    response = answer([(-number, 1) for number in range(1, 8)], [("t", range(-7, 0))])
    assert remove_impossible(response) == [
        "brokers -1 at h:1, -2 at h:1, -3 at h:1, -4 at h:1, -5 at h:1",
        "partitions -7, -6, -5, -4, -3 of topic 't'",
    ]
    assert (response.brokers, response.topics[0].partitions) == ([], [])
