"""Spark on a broker that is encrypted and asks for a login, by the options that a query for Spark's connector has."""

from __future__ import annotations

import subprocess

import pytest

from .spark_support import FORMAT, spark

__all__ = ["spark"]

pytestmark = pytest.mark.apache
PASSWORD = "changeit"


@pytest.fixture(scope="module")
def secured(java_tools, tmp_path_factory):
    """A real broker, with the authority in a store of Java's."""
    from harness.apache import ApacheKafka

    folder = tmp_path_factory.mktemp("spark-kafka")
    with ApacheKafka(folder, version=java_tools.version, listeners=("plaintext", "sasl_ssl")) as kafka:
        store = ("-keystore", "trust.jks", "-storetype", "JKS", "-storepass", PASSWORD)
        command = ["keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem", *store]
        subprocess.run(command, cwd=kafka.tls_folder, check=True, capture_output=True)
        yield kafka


def test_a_batch_is_written_and_read_with_javas_options(spark, secured):
    login = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="alice-secret";'
    options = {
        "kafka.bootstrap.servers": secured.bootstrap("sasl_ssl"),
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": login,
        "kafka.ssl.truststore.location": str(secured.tls_folder / "trust.jks"),
        "kafka.ssl.truststore.password": PASSWORD,
        "kafka.ssl.truststore.type": "JKS",
    }
    frame = spark.range(10).selectExpr("cast(id as string) as value")
    # What is for the other client does no harm, as with Spark's connector.
    frame.write.format(FORMAT).options(**options).option("topic", "t").option("kafka.group.id", "g").mode(
        "append"
    ).save()
    read = spark.read.format(FORMAT).options(**options).option("subscribe", "t").option("kafka.acks", "all").load()
    assert sorted(int(row.value) for row in read.collect()) == list(range(10))
