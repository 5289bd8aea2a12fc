import uuid

from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.errors import LeaderNotAvailableError, TopicAuthorizationFailedError, UnknownTopicOrPartitionError
from kafka.structs import BrokerMetadata, TopicPartition
from kafka.wire.api.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

FIRST, SECOND = uuid.UUID(int=1), uuid.UUID(int=2)


def topic(name, *leaders, topic_id=FIRST, error_code=0, is_internal=False):
    partitions = [
        MetadataResponsePartition(partition_index=index, leader_id=leader, leader_epoch=epoch)
        for index, (leader, epoch) in enumerate(leaders)
    ]
    return MetadataResponseTopic(
        name=name, topic_id=topic_id, error_code=error_code, is_internal=is_internal, partitions=partitions
    )


def response(*topics):
    brokers = [MetadataResponseBroker(node_id=n, host=f"b{n}", port=9092, rack="r") for n in (1, 2)]
    return MetadataResponse(brokers=brokers, cluster_id="c", controller_id=2, topics=list(topics))


def after(*responses, keep_others=False):
    metadata = ClusterMetadata()
    for each in responses:
        metadata = metadata.updated(each, keep_others=keep_others)
    return metadata


def test_a_response_becomes_a_snapshot():
    metadata = after(
        response(topic("t", (1, 5), (-1, 6)), topic("__offsets", (2, 0), topic_id=SECOND, is_internal=True))
    )
    assert metadata.brokers() == {BrokerMetadata(1, "b1", 9092, "r"), BrokerMetadata(2, "b2", 9092, "r")}
    assert metadata.broker_metadata(3) is None
    assert (metadata.cluster_id, metadata.controller_id) == ("c", 2)
    assert metadata.topics() == {"t"}
    assert metadata.topics(exclude_internal_topics=False) == {"t", "__offsets"}
    assert metadata.partitions_for_topic("t") == {0, 1}
    assert metadata.partitions_for_topic("other") is None
    assert metadata.available_partitions_for_topic("t") == {0}
    assert metadata.leader_for_partition(TopicPartition("t", 0)) == 1
    assert metadata.leader_for_partition(TopicPartition("t", 1)) is None
    assert metadata.leader_for_partition(TopicPartition("t", 9)) is None
    assert metadata.leader_epoch(TopicPartition("t", 1)) == 6
    assert metadata.partitions_for_broker(1) == {TopicPartition("t", 0)}
    assert metadata.topic_id("t") == FIRST
    assert metadata.topic_name(SECOND) == "__offsets"


def test_the_controller_is_one_of_the_brokers():
    assert ClusterMetadata().controller is None
    assert after(response()).controller == BrokerMetadata(2, "b2", 9092, "r")


def test_a_leader_epoch_never_goes_back():
    metadata = after(response(topic("t", (2, 7))), response(topic("t", (1, 6))))
    assert metadata.leader_for_partition(TopicPartition("t", 0)) == 2
    assert metadata.leader_epoch(TopicPartition("t", 0)) == 7


def test_a_recreated_topic_starts_over():
    metadata = after(response(topic("t", (2, 7))), response(topic("t", (1, 0), topic_id=SECOND)))
    assert metadata.leader_epoch(TopicPartition("t", 0)) == 0


def test_brokers_without_epochs_are_trusted():
    metadata = after(response(topic("t", (2, 7))), response(topic("t", (1, -1))))
    assert metadata.leader_for_partition(TopicPartition("t", 0)) == 1


def test_missing_topics_are_kept_only_if_some_were_requested():
    assert after(response(topic("a", (1, 0))), response(topic("b", (1, 0)))).topics() == {"b"}
    assert after(response(topic("a", (1, 0))), response(topic("b", (1, 0))), keep_others=True).topics() == {"a", "b"}


def test_an_unknown_topic_is_forgotten_and_has_its_error():
    metadata = after(response(topic("t", (1, 0))), response(topic("t", error_code=3)))
    assert metadata.partitions_for_topic("t") is None
    assert metadata.topic_errors == {"t": UnknownTopicOrPartitionError}
    assert after(response(topic("t", error_code=29))).topic_errors == {"t": TopicAuthorizationFailedError}


def test_a_transient_error_does_not_forget_the_topic():
    metadata = after(response(topic("t", (1, 0))), response(topic("t", error_code=5)))
    assert metadata.leader_for_partition(TopicPartition("t", 0)) == 1
    assert metadata.topic_errors == {"t": LeaderNotAvailableError}


def test_an_error_ends_once_the_topic_exists():
    assert after(response(topic("t", error_code=5)), response(topic("t", (1, 0))), keep_others=True).topic_errors == {}


def test_only_a_newer_leader_named_by_a_response_is_used():
    metadata = after(response(topic("t", (1, 5), (1, 5))))
    tp = TopicPartition("t", 0)
    moved = metadata.with_leader(tp, 2, 6)
    assert (moved.leader_for_partition(tp), moved.leader_epoch(tp)) == (2, 6)
    assert moved.leader_for_partition(TopicPartition("t", 1)) == 1
    assert moved.version > metadata.version
    assert metadata.leader_for_partition(tp) == 1
    assert moved.with_leader(tp, 1, 5) is moved
    assert moved.with_leader(TopicPartition("x", 0), 1, 9) is moved


def test_partitions_with_the_same_replicas_share_their_lists():
    """A picture of 100,000 partitions would else be 400,000 objects for each full collection."""
    answer = response(topic("t", (1, 5), (2, 5)), topic("u", (1, 0), topic_id=SECOND))
    for each in answer.topics:
        for partition in each.partitions:
            partition.replica_nodes, partition.isr_nodes = [1, 2], [2, 1]
    metadata = after(answer)
    one, two = (metadata.partition_metadata(TopicPartition(*tp)) for tp in (("t", 1), ("u", 0)))
    assert (one.replicas, one.isr, one.offline_replicas) == ([1, 2], [2, 1], [])
    assert one.replicas is two.replicas
    assert one.isr is two.isr


def test_only_a_newer_epoch_replaces_a_leader():
    metadata = after(response(topic("t", (1, 5))))
    tp = TopicPartition("t", 0)
    assert metadata.with_leader(tp, 2, 5) is metadata
    assert metadata.with_leader(tp, 2, 6).leader_for_partition(tp) == 2
    assert after(response(topic("t", (1, 1))), response(topic("t", (2, 0)))).leader_for_partition(tp) == 1
    assert after(response(topic("t", (1, 1))), response(topic("t", (2, 1)))).leader_for_partition(tp) == 2
    assert after(response(topic("t", (1, 1))), response(topic("t", (2, -1)))).leader_for_partition(tp) == 2


def test_a_deleted_topic_is_forgotten_and_one_with_another_error_is_kept():
    known = response(topic("t", (1, 5)), topic("u", (1, 0), topic_id=SECOND))
    for keep_others in (False, True):
        metadata = after(known, response(topic("t", error_code=3), topic("u", error_code=5)), keep_others=keep_others)
        assert metadata.partitions_for_topic("t") is None
        assert metadata.partitions_for_topic("u") == {0}
        assert set(metadata.topic_errors) == {"t", "u"}
    mended = metadata.updated(known, keep_others=True)
    assert dict(mended.topic_errors) == {}
    assert mended.version == metadata.version + 1


def test_the_initial_snapshot_is_empty():
    metadata = ClusterMetadata()
    assert (metadata.version, metadata.controller_id, metadata.cluster_id) == (0, -1, None)
    assert (metadata.brokers(), metadata.topics(), dict(metadata.topic_errors)) == (set(), set(), {})
    assert metadata.available_partitions_for_topic("t") == set()
    assert metadata.leader_epoch(TopicPartition("t", 0)) == -1
    assert metadata.topic_id("t") is None
    assert metadata.topic_name(FIRST) is None
    assert not metadata.is_internal("t")


def test_broker_0_can_be_a_leader():
    metadata = after(response(topic("t", (0, 1), (-1, 1))))
    assert metadata.available_partitions_for_topic("t") == {0}
    assert metadata.leader_for_partition(TopicPartition("t", 0)) == 0
    assert metadata.partitions_for_broker(0) == {TopicPartition("t", 0)}


def test_internal_topics_are_recognized():
    metadata = after(response(topic("t", (1, 1)), topic("__offsets", (1, 1), topic_id=SECOND, is_internal=True)))
    assert [metadata.is_internal(name) for name in ("t", "__offsets", "other")] == [False, True, False]


def test_topics_with_unknown_ids_are_skipped():
    metadata = after(
        response(topic("t", (1, 1))),
        response(topic(None, (1, 1), topic_id=SECOND), topic(None, (2, 2), topic_id=FIRST)),
    )
    assert metadata.topics() == {"t"}
    assert metadata.leader_for_partition(TopicPartition("t", 0)) == 2


def test_each_new_snapshot_has_a_greater_version():
    metadata = after(response(topic("t", (1, 5))), response(topic("t", (1, 5))))
    assert metadata.version == 2
    tp = TopicPartition("t", 0)
    assert metadata.with_leader(tp, 2, 5) is metadata
    assert metadata.with_leader(TopicPartition("t", 1), 2, 6) is metadata
    assert metadata.with_leader(TopicPartition("other", 0), 2, 6) is metadata
    moved = metadata.with_leader(tp, 2, 6)
    assert (moved.version, moved.leader_for_partition(tp)) == (3, 2)
    assert metadata.leader_for_partition(tp) == 1


def test_only_older_epochs_are_rejected():
    tp = TopicPartition("t", 0)
    for epoch, leader in ((6, 1), (7, 2), (-1, 2), (0, 1)):
        assert after(response(topic("t", (1, 7))), response(topic("t", (2, epoch)))).leader_for_partition(tp) == leader


def test_the_cluster_id_is_kept_if_a_response_has_none():
    later = response()
    later.cluster_id = None
    assert after(response(), later).cluster_id == "c"
