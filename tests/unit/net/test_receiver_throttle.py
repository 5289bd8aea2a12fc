"""The versions from which a throttled client must wait (KIP-219), compared with Kafka's own table."""

import logging

import pytest

from kafka.net.receiver import ThrottleLog, throttle_s
from kafka.wire import message_class

SINCE = {
    "Produce": 6,
    "Fetch": 8,
    "ListOffsets": 3,
    "Metadata": 6,
    "OffsetCommit": 4,
    "OffsetFetch": 4,
    "FindCoordinator": 2,
    "JoinGroup": 3,
    "Heartbeat": 2,
    "LeaveGroup": 2,
    "SyncGroup": 2,
    "DescribeGroups": 2,
    "ListGroups": 2,
    "ApiVersions": 2,
    "CreateTopics": 3,
    "DeleteTopics": 2,
    "DeleteRecords": 1,
    "InitProducerId": 1,
    "OffsetForLeaderEpoch": 3,
    "AddPartitionsToTxn": 1,
    "AddOffsetsToTxn": 1,
    "EndTxn": 1,
    "TxnOffsetCommit": 1,
    "DescribeAcls": 1,
    "CreateAcls": 1,
    "DeleteAcls": 1,
    "DescribeConfigs": 2,
    "AlterConfigs": 1,
    "AlterReplicaLogDirs": 1,
    "DescribeLogDirs": 1,
    "CreatePartitions": 1,
    "CreateDelegationToken": 1,
    "RenewDelegationToken": 1,
    "ExpireDelegationToken": 1,
    "DescribeDelegationToken": 1,
    "DeleteGroups": 1,
    "ElectLeaders": 0,
    "ConsumerGroupHeartbeat": 0,
}


@pytest.mark.parametrize(("api", "since"), SINCE.items())
def test_before_kip_219_the_broker_waits_itself(api, since):
    request = message_class(f"{api}Request")
    assert throttle_s(request, since, 1_500) == 1.5
    if since:
        assert throttle_s(request, since - 1, 1_500) == 0.0


@pytest.mark.parametrize("asked_ms", [0, -1])
def test_a_throttle_time_of_0_causes_no_pause(asked_ms):
    assert throttle_s(message_class("HeartbeatRequest"), 4, asked_ms) == 0.0


def test_a_throttle_is_logged_at_once_and_again_after_30_seconds(caplog):
    log = ThrottleLog()
    with caplog.at_level(logging.DEBUG, "kafka.net.receiver"):
        for now in (0.0, 29.9, 30.0, 59.9):
            log.tell(now, "b:1", "Fetch", 1.0)
    assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG", "WARNING", "DEBUG"]
