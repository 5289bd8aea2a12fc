"""Connections and the cluster client on real listeners, with all the ways of security."""

import asyncio
import base64
import json
import subprocess
import sys
import textwrap
import time

import pytest

from integration.consumer_support import is_since, poll_until
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.cluster import ClusterClient
from kafka.config import parse_admin
from kafka.errors import (
    KafkaConnectionError,
    KafkaTimeoutError,
    NoBrokersAvailable,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)
from kafka.structs import TopicPartition
from kafka.wire.api.metadata import MetadataRequest
from kafka.wire.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData

BY_KRAFT = pytest.mark.needs(broker=(3, 9), why="authentication, which the tests only set up with KRaft")
ALICE = {"sasl_plain_username": "alice", "sasl_plain_password": "alice-secret"}
REAUTHENTICATE_MS = 1_500


class Unsecured:
    """Gives tokens that no one has signed, which the brokers of these tests accept."""

    def __init__(self, subject="alice", life_s=60):
        self.subject, self.life_s, self.calls = subject, life_s, 0

    def token(self):
        self.calls += 1
        now = int(time.time())  # a broker's clock has milliseconds, and refuses tokens of the future
        parts = ({"alg": "none"}, {"sub": self.subject, "iat": now, "exp": now + self.life_s})
        return ".".join(base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts) + "."


@pytest.fixture(scope="module")
def secured(java_tools, tmp_path_factory):
    """A real broker with a listener of each kind; it ends SASL sessions soon."""
    from harness.apache import ApacheKafka

    folder = tmp_path_factory.mktemp("secured-kafka")
    listeners = ("plaintext", "sasl", "ssl", "mtls", "sasl_ssl")
    lifetime = {"connections.max.reauth.ms": str(REAUTHENTICATE_MS)}
    with ApacheKafka(folder, version=java_tools.version, listeners=listeners, properties=lifetime) as kafka:
        yield kafka


def topics(kafka, listener, bootstrap_timeout_ms=30_000, **options):
    servers = kafka.bootstrap(listener)
    with KafkaAdminClient(bootstrap_servers=servers, bootstrap_timeout_ms=bootstrap_timeout_ms, **options) as admin:
        return admin.list_topics()


def trusted(kafka):
    return {"ssl_cafile": str(kafka.tls_folder / "ca.pem")}


async def started(broker, **options):
    parsed = parse_admin({"bootstrap_servers": broker.bootstrap_servers, **options})
    cluster = ClusterClient(parsed.connection, parsed.security)
    await cluster.start()
    return cluster


async def test_metadata_leaders_and_coordinators_are_found(broker, make_topic):
    topic = make_topic(3)
    cluster = await started(broker)
    await cluster.refresh_metadata([topic])
    assert cluster.metadata.partitions_for_topic(topic) == {0, 1, 2}
    assert (cluster.metadata.topic_id(topic) is not None) == is_since(broker, (2, 8))
    leader = await cluster.partition_leader(TopicPartition(topic, 1), 5_000)
    assert cluster.metadata.broker_metadata(leader) is not None
    assert await cluster.coordinator("group", "some-group") in {node.nodeId for node in cluster.metadata.brokers()}
    await cluster.close()


async def test_many_requests_share_a_connection(broker):
    cluster = await started(broker)
    node = next(iter(cluster.metadata.brokers())).nodeId
    answers = await asyncio.gather(*(cluster.send(node, MetadataRequest(topics=[])) for _ in range(500)))
    assert {answer.cluster_id for answer in answers} == {cluster.metadata.cluster_id}
    await cluster.close()


async def test_every_version_of_metadata_is_understood(broker, make_topic):
    from kafka.cluster.metadata_requests import metadata_request

    topic = make_topic(2)
    cluster = await started(broker)
    connection = await cluster.any_connection()
    low, high = connection.api_versions.range(MetadataRequest.API_KEY)
    for version in range(low, min(high, MetadataRequest.MAX_VERSION) + 1):
        answer = await connection.send(metadata_request({topic}, version, True), version)
        assert [(each.name, len(each.partitions)) for each in answer.topics] == [(topic, 2)]
    await cluster.close()


async def test_acks_0_is_not_waited_for_and_not_answered(broker, make_topic):
    from kafka.record import BatchBuilder

    topic = make_topic()
    builder = BatchBuilder(2 if is_since(broker, (0, 11)) else 1, size_limit=1_000)
    builder.append(1_700_000_000_000, None, b"value", ())
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=builder.build())])
    cluster = await started(broker)
    leader = await cluster.partition_leader(TopicPartition(topic, 0), 5_000)
    request = ProduceRequest(acks=0, timeout_ms=1_000, topic_data=[data])
    await cluster.send(leader, request, max_version=8)
    answer = await cluster.send(leader, MetadataRequest(topics=[]))
    assert answer.brokers
    await cluster.close()


# Security, on Apache Kafka


@pytest.mark.apache
@BY_KRAFT
def test_tls_with_an_authority_that_is_trusted(secured):
    topics(secured, "ssl", security_protocol="SSL", **trusted(secured))


@pytest.mark.apache
@BY_KRAFT
def test_tls_refuses_a_certificate_that_the_system_does_not_trust(secured):
    with pytest.raises(NoBrokersAvailable, match="certificate is not trusted"):
        topics(secured, "ssl", security_protocol="SSL")


@pytest.mark.apache
@BY_KRAFT
def test_a_client_certificate_is_shown_where_it_is_asked_for(secured):
    tls = secured.tls_folder
    own = {"ssl_certfile": str(tls / "client.pem"), "ssl_keyfile": str(tls / "client.key")}
    topics(secured, "mtls", security_protocol="SSL", **trusted(secured), **own)
    for version in ("TLSv1.2", "TLSv1.3"):  # at once: the error does not say after how long
        with pytest.raises(NoBrokersAvailable, match=r"could be used: .* 'ssl_certfile'"):
            topics(secured, "mtls", security_protocol="SSL", **trusted(secured), ssl_enabled_protocols=version)


@pytest.mark.apache
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("listener", ["sasl", "sasl_ssl"])
@BY_KRAFT
def test_passwords(secured, mechanism, listener):
    protocol = {"sasl": "SASL_PLAINTEXT", "sasl_ssl": "SASL_SSL"}[listener]
    options = {"security_protocol": protocol, "sasl_mechanism": mechanism, **trusted(secured)}
    topics(secured, listener, **options, **ALICE)
    with pytest.raises(SaslAuthenticationFailedError, match=mechanism):
        topics(secured, listener, **options, sasl_plain_username="alice", sasl_plain_password="wrong")


@pytest.mark.apache
@BY_KRAFT
def test_bearer_tokens(secured):
    options = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER"}
    topics(secured, "sasl", **options, sasl_oauth_token_provider=Unsecured())
    with pytest.raises(SaslAuthenticationFailedError):
        topics(secured, "sasl", **options, sasl_oauth_token_provider=Unsecured(life_s=-60))


@pytest.mark.apache
@BY_KRAFT
def test_a_mechanism_that_the_broker_lacks_is_told_with_those_it_has(java_tools, tmp_path):
    from harness.apache import ApacheKafka

    only = {"sasl.enabled.mechanisms": "PLAIN"}
    listeners = ("plaintext", "sasl")
    with (
        ApacheKafka(tmp_path, version=java_tools.version, listeners=listeners, properties=only) as kafka,
        pytest.raises(UnsupportedSaslMechanismError, match="offers PLAIN"),
    ):
        topics(kafka, "sasl", security_protocol="SASL_PLAINTEXT", sasl_mechanism="SCRAM-SHA-256", **ALICE)


@pytest.mark.apache
@pytest.mark.parametrize(
    ("listener", "protocol", "said"),
    [
        ("ssl", "PLAINTEXT", "speaks TLS"),
        ("sasl", "PLAINTEXT", "requires SASL authentication"),
        ("plaintext", "SSL", "does not speak TLS"),
    ],
)
@BY_KRAFT
def test_each_mistake_about_the_listener_has_its_own_message(secured, listener, protocol, said):
    servers = secured.bootstrap(listener)
    with pytest.raises(NoBrokersAvailable, match=said):
        KafkaAdminClient(bootstrap_servers=servers, bootstrap_timeout_ms=2_000, security_protocol=protocol)


@pytest.mark.apache
@pytest.mark.slow
@BY_KRAFT
def test_a_session_that_the_broker_limits_is_renewed_without_a_failed_request(secured):
    provider = Unsecured()
    options = {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": provider}

    async def use() -> int:
        parsed = parse_admin(
            {"bootstrap_servers": secured.bootstrap("sasl"), "security_protocol": "SASL_PLAINTEXT", **options}
        )
        cluster = ClusterClient(parsed.connection, parsed.security)
        await cluster.start()
        connection = await cluster.any_connection()
        end = asyncio.get_running_loop().time() + 2.5 * REAUTHENTICATE_MS / 1000
        requests = 0
        while asyncio.get_running_loop().time() < end:
            await asyncio.gather(*(connection.send(MetadataRequest(topics=[])) for _ in range(5)))
            requests += 5
        assert not connection.closed
        await cluster.close()
        return requests

    assert asyncio.run(use()) > 100
    assert provider.calls >= 3


@pytest.mark.apache
@pytest.mark.slow
def test_a_client_outlives_the_restart_of_its_broker(java_tools, tmp_path):
    from harness.releases import kafka_of

    with kafka_of(java_tools.version, tmp_path) as kafka:
        options = {"bootstrap_servers": kafka.bootstrap_servers, "reconnect_backoff_max_ms": 500}
        with KafkaAdminClient(**options) as admin:
            admin.create_topics([NewTopic("kept", 1, 1)])
            kafka.kill()
            with pytest.raises((KafkaTimeoutError, KafkaConnectionError), match=r"refused|closed the connection"):
                admin.create_topics([NewTopic("lost", 1, 1)], timeout_ms=2_000)
            kafka.restart()
            # A broker with a ZooKeeper serves before it has heard of the topics.
            poll_until(lambda: "kept" in admin.list_topics())


def test_the_interpreter_exits_at_once_though_a_client_is_open_and_its_broker_gone():
    program = """
        import logging, sys
        from kafka.admin import KafkaAdminClient
        from kafka.broker import EmbeddedBroker
        # In development mode asyncio also tells of a callback that took long, which a busy machine makes of any.
        logging.getLogger("asyncio").addFilter(lambda record: not record.getMessage().startswith("Executing "))
        with EmbeddedBroker() as broker:
            admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
            admin.list_topics()
        sys.exit(3)
    """
    command = [sys.executable, "-X", "dev", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 3)
