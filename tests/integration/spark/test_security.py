"""Spark on a broker that is encrypted and asks for a login, by the options that a query for Spark's connector has."""

from __future__ import annotations

import subprocess

import pytest

from kafka import KafkaAdminClient
from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType

from .spark_support import FORMAT, needs_reports, spark

__all__ = ["spark"]

pytestmark = pytest.mark.apache
PASSWORD = "changeit"
LOGIN = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="alice-secret";'
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "true",
}


@pytest.fixture(scope="module")
def secured(java_tools, tmp_path_factory):
    """A real broker, with the authority in a store of Java's."""
    from harness.apache import ApacheKafka

    folder = tmp_path_factory.mktemp("spark-kafka")
    listeners = ("plaintext", "sasl_ssl")
    with ApacheKafka(folder, version=java_tools.version, listeners=listeners, properties=AUTHORIZER) as kafka:
        store = ("-keystore", "trust.jks", "-storetype", "JKS", "-storepass", PASSWORD)
        command = ["keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem", *store]
        subprocess.run(command, cwd=kafka.tls_folder, check=True, capture_output=True)
        yield kafka


@pytest.fixture(scope="module")
def login(secured):
    """The options of one who logs in."""
    return {
        "kafka.bootstrap.servers": secured.bootstrap("sasl_ssl"),
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": LOGIN,
        "kafka.ssl.truststore.location": str(secured.tls_folder / "trust.jks"),
        "kafka.ssl.truststore.password": PASSWORD,
        "kafka.ssl.truststore.type": "JKS",
    }


def test_a_batch_is_written_and_read_with_javas_options(spark, login):
    frame = spark.range(10).selectExpr("cast(id as string) as value")
    # What is for the other client does no harm, as with Spark's connector.
    frame.write.format(FORMAT).options(**login).option("topic", "t").option("kafka.group.id", "g").mode("append").save()
    read = spark.read.format(FORMAT).options(**login).option("subscribe", "t").option("kafka.acks", "all").load()
    assert sorted(int(row.value) for row in read.collect()) == list(range(10))


@needs_reports
def test_a_group_that_may_not_be_committed_to_fails_no_batch_and_checkpoints_have_no_secret(
    spark, secured, login, tmp_path
):
    forbidden = ACL(
        "User:alice", "*", ACLOperation.ALL, ACLPermissionType.DENY, ResourcePattern(ResourceType.GROUP, "forbidden")
    )
    with KafkaAdminClient(bootstrap_servers=secured.bootstrap_servers) as admin:
        admin.create_topics({"watched": {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
        assert not admin.create_acls([forbidden])["failed"]
        spark.range(10).selectExpr("cast(id as string) as value").write.format(FORMAT).options(**login).option(
            "topic", "watched"
        ).mode("append").save()
        for group in ("forbidden", "allowed"):
            stream = spark.readStream.format(FORMAT).options(
                **login, subscribe="watched", startingOffsets="earliest", commitGroup=group
            )
            writer = stream.load().writeStream.format("noop").option("checkpointLocation", f"{tmp_path}/{group}")
            query = writer.trigger(availableNow=True).start()
            assert query.awaitTermination(180)
            assert query.lastProgress["numInputRows"] == 10
        assert not admin.list_consumer_group_offsets("forbidden")
        (found,) = admin.list_consumer_group_offsets("allowed").values()
        assert found.offset == 10
    checkpoints = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert checkpoints
    assert not [path for path in checkpoints if b"alice-secret" in path.read_bytes()]


def test_plans_show_no_secrets(spark):
    secrets = {
        "kafka.sasl.jaas.config": LOGIN,
        "kafka.ssl.keystore.key": "-----BEGIN KEY-----alice-secret",
        "kafka.ssl.key.password": "alice-secret",
        "kafka.sasl.oauthbearer.assertion.private.key.passphrase": "alice-secret",
        "kafka.sasl.oauthbearer.client.credentials.client.secret": "alice-secret",
    }
    options = ", ".join(f"'{name}' '{value}'" for name, value in {**secrets, "subscribe": "told"}.items())
    view = f"explain extended create temporary view secretive using {FORMAT} options ({options})"
    plan = spark.sql(view).collect()[0][0]
    assert "told" in plan
    assert "alice-secret" not in plan
