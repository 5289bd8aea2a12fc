"""Results that kafka-python 3 returns as responses: access to fields by name and index, and unpacking."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic
from kafka.admin.results import ElectLeadersResult, Response, as_result
from kafka.aio.admin import AIOKafkaAdminClient
from kafka.broker import EmbeddedBroker
from kafka.wire.api.elect_leaders import ElectLeadersResponse, PartitionResult, ReplicaElectionResult

pytestmark = pytest.mark.once


@pytest.fixture
def admin() -> Iterator[KafkaAdminClient]:
    with EmbeddedBroker() as broker, KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("topic", 2, 1)])
        yield admin


def test_the_result_of_create_partitions_supports_all_generations(admin: KafkaAdminClient) -> None:
    response = admin.create_partitions({"topic": NewPartitions(3)})
    (result,) = response.results
    assert (result[0], result[1], result[-1], result[:2]) == ("topic", 0, None, ["topic", 0])
    assert (result["name"], result.error_code) == ("topic", 0)
    name, code, message = result
    assert (name, code, message) == result == {"name": "topic", "error_code": 0, "error_message": None}
    assert result != ("topic", 0)
    assert (response[0], response[1]) == (response.throttle_time_ms, response["results"])
    assert response.topic_errors == [("topic", 0, None)]
    assert dict(result) == json.loads(json.dumps(result)) == {**result}
    assert "name" in result
    with pytest.raises(IndexError):
        result[3]
    with pytest.raises(KeyError):
        result["topic"]


def test_the_result_of_an_election_supports_all_generations() -> None:
    partitions = [PartitionResult(partition_id=index, error_code=84, error_message=None) for index in (0, 1)]
    told = ReplicaElectionResult(topic="topic", partition_result=partitions)
    response = ElectLeadersResult(as_result(ElectLeadersResponse(replica_election_results=[told]), Response))
    topic, found = response.replica_election_results[0]
    assert topic == response[2][0]["topic"] == "topic"
    assert [(each[0], each.error_code) for each in found] == [(0, 84), (1, 84)]
    assert response.replication_election_results == [("topic", [(0, 84, None), (1, 84, None)])]


def test_results_convert_to_dicts_with_the_names_of_2_x(admin: KafkaAdminClient) -> None:
    fine = {"topic": "other", "error_code": 0, "error_message": None}
    created = admin.create_topics([NewTopic("other", 1, 1)])
    assert created.to_object() == {"throttle_time_ms": 0, "topic_errors": [fine]}
    grown = admin.create_partitions({"other": NewPartitions(2)})
    assert grown.to_object() == {"throttle_time_ms": 0, "topic_errors": [fine]}
    resource = {"error_code": 0, "error_message": None, "resource_type": 2, "resource_name": "other"}
    altered = admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, "other", {"retention.ms": 5})])
    assert altered.to_object() == {"throttle_time_ms": 0, "resources": [resource]}
    (described,) = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, "other", ["retention.ms"])])
    (told,) = described.to_object()["resources"]
    (entry,) = told.pop("config_entries")
    assert (told, entry["config_names"], entry["config_value"]) == (resource, "retention.ms", "5")
    deleted = admin.delete_topics(["other"])
    assert deleted.to_object() == {
        "throttle_time_ms": 0,
        "topic_error_codes": [{"topic": "other", "error_code": 0}],
    }


def test_election_results_convert_to_dicts_with_the_names_of_2_x() -> None:
    partitions = [PartitionResult(partition_id=1, error_code=84, error_message="no")]
    told = ReplicaElectionResult(topic="topic", partition_result=partitions)
    response = ElectLeadersResult(as_result(ElectLeadersResponse(replica_election_results=[told]), Response))
    assert response.to_object() == {
        "throttle_time_ms": 0,
        "error_code": 0,
        "replication_election_results": [
            {"topic": "topic", "partition_result": [{"partition_id": 1, "error_code": 84, "error_message": "no"}]}
        ],
    }


def test_results_of_aiokafkas_admin_client_contain_errors() -> None:
    async def create_twice(servers: str) -> list[tuple[str, int]]:
        async with AIOKafkaAdminClient(bootstrap_servers=servers) as admin:
            results = [await admin.create_topics([NewTopic("topic", 1, 1)]) for _ in range(2)]
        return [
            (each["topic"], each["error_code"]) for result in results for each in result.to_object()["topic_errors"]
        ]

    with EmbeddedBroker() as broker:
        assert asyncio.run(create_twice(broker.bootstrap_servers)) == [("topic", 0), ("topic", 36)]
