"""The admin calls that the embedded broker does not serve, on one Apache Kafka with an authorizer."""

from __future__ import annotations

import time
import uuid

import pytest

from integration.admin.admin_faces import FACES, opened
from kafka.admin import (
    ACL,
    AbortTransactionSpec,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ConfigResource,
    OffsetSpec,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from kafka.errors import (
    BrokerIdNotRegisteredError,
    BrokerResponseError,
    IllegalArgumentError,
    InvalidReplicationAssignmentError,
    InvalidRequestError,
    KafkaError,
    LogDirNotFoundError,
    NoError,
    TransactionalIdNotFoundError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafka.producer import KafkaProducer
from kafka.structs import TopicPartition, TopicPartitionReplica
from kafka.wire.api.list_groups import ListGroupsRequest

pytestmark = pytest.mark.apache
AUTHORIZER = {"super.users": "User:ANONYMOUS", "allow.everyone.if.no.acl.found": "true"}


@pytest.fixture(scope="module")
def kafka(java_tools, tmp_path_factory):
    from harness.releases import authorizer_class, kafka_of

    folder = tmp_path_factory.mktemp("apache-kafka-admin")
    properties = {**AUTHORIZER, "authorizer.class.name": authorizer_class(java_tools.version)}
    with kafka_of(java_tools.version, folder, properties=properties) as kafka:
        yield kafka


@pytest.fixture(scope="module", params=FACES)
def admin(request, kafka):
    with opened(request.param, bootstrap_servers=kafka.bootstrap_servers) as client:
        yield client


@pytest.fixture
def topic(admin):
    name = f"admin-{uuid.uuid4().hex[:12]}"
    admin.create_topics({name: {"num_partitions": 2, "replication_factor": 1}}, wait_for_metadata=True)
    return name


def until(found):
    """Wait until the broker has heard of a change: the controller answers first."""
    deadline = time.monotonic() + 60
    while not (answer := found()):
        assert time.monotonic() < deadline, "not seen after 60 s"
    return answer


@pytest.mark.needs(broker=(2, 0), why="prefixed ACLs (KIP-290)")
def test_acls_are_created_described_and_deleted(admin, topic):
    acl = ACL("User:alice", "*", ACLOperation.READ, ACLPermissionType.ALLOW, ResourcePattern(ResourceType.TOPIC, topic))
    prefixed = ACL(
        "User:bob",
        "*",
        ACLOperation.WRITE,
        ACLPermissionType.DENY,
        ResourcePattern(ResourceType.GROUP, topic, ACLResourcePatternType.PREFIXED),
    )
    assert admin.create_acls([acl, prefixed]) == {"succeeded": [acl, prefixed], "failed": []}
    pattern = ResourcePatternFilter(ResourceType.ANY, topic, ACLResourcePatternType.ANY)
    both = ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ANY, pattern)
    until(lambda: len(admin.describe_acls(both)[0]) == 2)
    found, error = admin.describe_acls(both)
    assert set(found) == {acl, prefixed}
    assert error is NoError
    ((asked, matched, error),) = admin.delete_acls([both])
    assert asked is both
    assert error is NoError
    assert {one for one, failure in matched if failure is NoError} == {acl, prefixed}
    assert {each.principal for each in matched} == {"User:alice", "User:bob"}
    until(lambda: admin.describe_acls(both)[0] == [])


@pytest.mark.needs(broker=(2, 7), why="AlterUserScramCredentials")
def test_scram_credentials_are_stored_described_and_deleted(admin):
    user = f"user-{uuid.uuid4().hex[:8]}"
    assert admin.alter_user_scram_credentials([UserScramCredentialUpsertion(user, "SCRAM-SHA-512", "secret")]) == {
        user: None
    }
    (info,) = until(lambda: admin.describe_user_scram_credentials([user])[user]["credential_infos"])
    assert (info["mechanism"].name, info["iterations"]) == ("SCRAM_SHA_512", 4096)
    deletion = UserScramCredentialDeletion(user, "SCRAM-SHA-512")
    assert admin.alter_user_scram_credentials([deletion]) == {user: None}
    until(lambda: admin.describe_user_scram_credentials([user])[user]["error"])
    assert admin.alter_user_scram_credentials([deletion])[user]


@pytest.mark.needs(
    broker=(3, 9), why="KRaft, which accepts one change per user in a request; with ZooKeeper, brokers accept several"
)
def test_a_user_whose_scram_credentials_are_changed_twice_is_refused(admin):
    user = f"user-{uuid.uuid4().hex[:8]}"
    first = UserScramCredentialUpsertion(user, "SCRAM-SHA-512", "secret")
    assert admin.alter_user_scram_credentials([first]) == {user: None}
    until(lambda: admin.describe_user_scram_credentials([user])[user]["credential_infos"])
    changes = [
        UserScramCredentialUpsertion(user, "SCRAM-SHA-256", "secret"),
        UserScramCredentialDeletion(user, "SCRAM-SHA-512"),
    ]
    assert "twice" in admin.alter_user_scram_credentials(changes)[user]


@pytest.mark.needs(broker=(2, 6), why="AlterClientQuotas")
def test_client_quotas_are_altered_described_and_taken_away(admin):
    user = f"user-{uuid.uuid4().hex[:8]}"
    both = {"user": user, "client-id": None}
    changes = [({"user": user}, {"producer_byte_rate": 1000}), (both, {"request_percentage": 2.5})]
    assert admin.alter_client_quotas(changes) == [({"user": user}, NoError), (both, NoError)]
    until(lambda: len(admin.describe_client_quotas({"user": user})) == 2)
    (alone,) = admin.describe_client_quotas({"user": user}, strict=True)
    assert alone == {"entity": {"user": user}, "values": {"producer_byte_rate": 1000.0}}
    assert {"entity": both, "values": {"request_percentage": 2.5}} in admin.describe_client_quotas(["client-id"])
    admin.alter_client_quotas([({"user": user}, {"producer_byte_rate": None}), (both, {"request_percentage": None})])
    until(lambda: admin.describe_client_quotas({"user": user}) == [])
    ((_, error),) = admin.alter_client_quotas([({"user": user}, {"no_such_rate": 1})], validate_only=True)
    assert error is InvalidRequestError


@pytest.mark.needs(broker=(1, 0), why="DescribeLogDirs")
def test_log_directories_are_described_as_in_2_and_in_3(admin, topic):
    def sizes():
        (directory,) = admin.describe_log_dirs({topic: [0, 1]})[0]["log_dirs"]
        return [each["partition_size"] for one in directory["topics"] for each in one["partitions"]]

    until(lambda: sizes() == [0, 0])  # the logs are made after the leaders are known
    described = admin.describe_log_dirs({topic: [0, 1]})
    (directory,) = described[0]["log_dirs"]
    ((code, path, topics),) = described.log_dirs
    assert (code, path) == (0, directory["log_dir"])
    # Kafka 2.8 names other topics too, with no partitions.
    assert [name for name, partitions in topics if partitions] == [topic]
    assert admin.describe_log_dirs([topic])[0]["broker"] == described[0]["broker"]
    replica = TopicPartitionReplica(topic, 0, described[0]["broker"])
    assert admin.alter_replica_log_dirs({replica: path}) == {replica: NoError}
    assert admin.alter_replica_log_dirs({replica: "/there/is/no/such"}) == {replica: LogDirNotFoundError}


@pytest.mark.needs(broker=(2, 2), why="ElectLeaders")
def test_leaders_are_elected_where_that_is_needed(admin, topic):
    result = admin.elect_leaders(0, {topic: [0]})
    assert result.replica_election_results[0][0] == topic
    assert result.replication_election_results[0][1][0][:2] == (0, 84)
    assert result["replica_election_results"][0]["partition_result"][0].partition_id == 0
    assert admin.perform_leader_election(0, {topic: [1]}).error_code == 0
    with pytest.raises(UnknownTopicOrPartitionError):
        admin.elect_leaders(0, {topic: [7]})
    assert admin.elect_leaders(0, {topic: [7]}, raise_errors=False).replication_election_results[0][1][0][1] == 3
    assert len(admin.elect_leaders(0, [topic]).replication_election_results[0][1]) == 2


@pytest.mark.needs(broker=(2, 4), why="AlterPartitionReassignments")
def test_replicas_are_reassigned(admin, topic):
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    (broker,) = (each["node_id"] for each in admin.describe_cluster()["brokers"])
    answers = admin.alter_partition_reassignments({first: [broker], second: [broker + 1]})
    assert answers == {first: None, second: InvalidReplicationAssignmentError}
    assert admin.list_partition_reassignments() == admin.list_partition_reassignments([first]) == {}
    with pytest.raises(IllegalArgumentError, match="expected brokers"):
        admin.alter_partition_reassignments({first: []})


@pytest.mark.needs(broker=(4, 0), why="features of a KRaft cluster, and DescribeQuorum")
def test_features_the_quorum_and_versions_are_told(admin):
    features = admin.describe_features()
    low, high = features["metadata.version"]["finalized"]
    assert low <= high <= features["metadata.version"]["supported"][1]
    assert admin.describe_features(send_request_to_controller=True).keys() == features.keys()
    assert admin.update_features({"metadata.version": high}, validate_only=True) == {"metadata.version": "OK"}
    with pytest.raises(BrokerResponseError):
        admin.update_features({"no.such.feature": ("upgrade", 9)})
    (partition,) = admin.describe_metadata_quorum()["topics"][0]["partitions"]
    assert partition["error"] is None
    assert partition["leader_id"] >= 0
    assert len(partition["current_voters"]) == 1
    (broker,) = admin.describe_cluster()["brokers"]
    data = admin.get_broker_version_data(broker["node_id"])
    assert data.api_versions == {int(key): versions for key, versions in admin.api_versions().items()}
    assert data.api_version(ListGroupsRequest) == ListGroupsRequest.MAX_VERSION
    assert admin.send_request(ListGroupsRequest(), broker["node_id"]).error_code == 0


@pytest.mark.needs(broker=(3, 1), why="requests for topics by id (KIP-516)")
def test_topics_are_told_what_may_be_done_with_them_and_found_by_their_ids(admin, topic):
    (described,) = admin.describe_topics([topic])
    assert "READ" in described["authorized_operations"]
    assert "ALTER" in admin.describe_cluster()["authorized_operations"]
    topic_id = uuid.UUID(described["topic_id"])
    assert admin.describe_topics([topic_id])[0]["name"] == topic
    assert admin.delete_topics([topic_id]).topics[0]["topic_id"] == str(topic_id)


@pytest.mark.needs(broker=(4, 1), why="ListConfigResources")
def test_what_has_a_configuration_is_listed(admin, topic):
    metrics = f"metrics-{topic}"
    changed = admin.alter_configs([ConfigResource("client_metrics", metrics, {"interval.ms": ("set", "1000")})])
    assert changed == {"client_metrics": {metrics: "OK"}}
    until(lambda: metrics in admin.list_config_resources(["client_metrics"]).get("client_metrics", []))
    assert topic in admin.list_config_resources()["topic"]


@pytest.mark.needs(broker=(2, 3), why="IncrementalAlterConfigs")
def test_settings_are_altered_in_part_and_reset(admin, topic):
    def settings():
        return {name: each["value"] for name, each in admin.describe_configs([resource])["topic"][topic].items()}

    resource = ConfigResource("topic", topic)
    admin.alter_configs([ConfigResource("topic", topic, {"retention.ms": ("set", 1000), "segment.ms": ("SET", 2000)})])
    until(lambda: settings() == {"retention.ms": "1000", "segment.ms": "2000"})
    admin.reset_configs([ConfigResource("topic", topic, ["retention.ms"])])
    until(lambda: settings() == {"segment.ms": "2000"})
    assert admin.reset_configs([resource]) == {"topic": {topic: "OK"}}
    until(lambda: settings() == {})
    with pytest.raises(IllegalArgumentError, match=r"no\.such"):
        admin.alter_configs([ConfigResource("topic", topic, {"no.such": ("set", 1)})])


@pytest.mark.needs(broker=(3, 0), why="DescribeProducers")
def test_transactions_and_producers_are_described(admin, kafka, topic):
    partition = TopicPartition(topic, 0)
    with KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, enable_idempotence=True) as producer:
        producer.send(topic, b"x", partition=0).get(60)
    (state,) = admin.describe_producers([partition])[partition].active_producers
    assert (state.last_sequence, state.current_transaction_start_offset) == (0, -1)
    listed = [each for listings in admin.list_transactions().values() for each in listings]
    assert [each for each in listed if not each.transactional_id.startswith("id-")] == []
    assert admin.find_hanging_transactions() == []
    with pytest.raises(TransactionalIdNotFoundError):
        admin.describe_transactions(["there-is-no-such-id"])
    with pytest.raises(UnknownTopicOrPartitionError):
        admin.describe_producers([TopicPartition(topic, 9)])
    with pytest.raises(BrokerResponseError):  # the producer has a later epoch
        admin.abort_transaction(AbortTransactionSpec(partition, state.producer_id, state.producer_epoch - 1))
    admin.abort_transaction(AbortTransactionSpec(partition, state.producer_id, state.producer_epoch))


@pytest.mark.needs(broker=(4, 0), why="fenced brokers (KIP-1073)")
def test_nodes_and_voters_are_told_what_is_wrong(admin):
    (broker,) = admin.describe_cluster(include_fenced_brokers=True)["brokers"]
    assert not broker["is_fenced"]
    with pytest.raises(BrokerIdNotRegisteredError):
        admin.unregister_broker(4711)
    with pytest.raises(BrokerResponseError):  # the voters of this cluster are fixed
        admin.add_raft_voter(4711, uuid.uuid4(), [("CONTROLLER", "localhost", 9093)])
    with pytest.raises(BrokerResponseError):
        admin.remove_raft_voter(4711, uuid.uuid4())
    with pytest.raises(BrokerResponseError):
        admin.unregister_controller(4711)
    with pytest.raises(UnsupportedVersionError):
        admin.client_instance_id()


@pytest.mark.needs(broker=(1, 1), why="describing log directories (KIP-113)")
def test_the_directories_of_replicas_are_told(admin, topic):
    (broker,) = admin.describe_cluster()["brokers"]
    replica, other = (TopicPartitionReplica(topic, index, broker["node_id"]) for index in (0, 9))
    until(
        lambda: admin.describe_replica_log_dirs([replica])[replica].current_replica_offset_lag == 0
    )  # -1: not led yet
    found = admin.describe_replica_log_dirs([replica, other])
    assert (found[replica].current_replica_offset_lag, found[replica].future_replica_log_dir) == (0, None)
    assert found[other].current_replica_log_dir is None


@pytest.mark.needs(broker=(3, 0), why="describing transactions (KIP-664)")
def test_producers_are_fenced_and_transactions_terminated(admin, kafka, topic):
    transactional_id = f"id-{topic}"
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, transactional_id=transactional_id)
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(topic, b"x", partition=0).get(60)
    assert admin.describe_transactions([transactional_id])[transactional_id].state.value == "Ongoing"
    fenced = admin.fence_producers([transactional_id])[transactional_id]
    assert fenced.producer_epoch > 0
    with pytest.raises(KafkaError):
        producer.commit_transaction()
    producer.close()
    ended = ("CompleteAbort", "Empty")
    until(lambda: admin.describe_transactions([transactional_id])[transactional_id].state.value in ended)
    admin.force_terminate_transaction(transactional_id)
    told = admin.describe_transactions([transactional_id, "no-such-id"], raise_errors=False)
    assert told[transactional_id].state.value in ended
    assert isinstance(told["no-such-id"], TransactionalIdNotFoundError)


@pytest.mark.needs(broker=(4, 0), why="offsets in tiered storage (KIP-405, KIP-1005), and volume sizes (KIP-827)")
def test_offsets_of_tiers_and_sizes_of_volumes_are_told(admin, topic, kafka):
    first = TopicPartition(topic, 0)
    with KafkaProducer(bootstrap_servers=kafka.bootstrap_servers) as producer:
        for _ in range(3):
            producer.send(topic, b"v", partition=0)
        producer.flush(20)
    assert admin.list_partition_offsets({first: OffsetSpec.EARLIEST_LOCAL})[first].offset == 0
    assert admin.list_partition_offsets({first: OffsetSpec.LATEST_TIERED})[first].offset == -1, "nothing is tiered"
    (directory,) = admin.describe_log_dirs({topic: [0]})[0]["log_dirs"]
    assert 0 < directory["usable_bytes"] < directory["total_bytes"]
    assert directory["is_cordoned"] is False


@pytest.mark.needs(broker=(2, 4), why="broker log levels (KIP-412)")
def test_log_levels_of_a_broker_are_altered(admin):
    node = admin.describe_cluster()["brokers"][0]["node_id"]
    logger = ConfigResource("broker_logger", node)

    def level():
        described = admin.describe_configs([logger], config_filter="all")
        return described.of(logger)["kafka.log.LogCleaner"]["value"]

    before = level()
    wanted = "DEBUG" if before != "DEBUG" else "INFO"
    admin.alter_configs([ConfigResource("broker_logger", node, {"kafka.log.LogCleaner": wanted})], incremental=True)
    until(lambda: level() == wanted)
    admin.alter_configs([ConfigResource("broker_logger", node, {"kafka.log.LogCleaner": before})], incremental=True)
    until(lambda: level() == before)
