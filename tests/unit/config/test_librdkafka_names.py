"""Settings of librdkafka as keyword arguments: conversions, omitted settings, and settings rejected with advice."""

from __future__ import annotations

import logging
import math
import socket
from typing import Any

import pytest

from kafka.config import (
    from_java_names,
    from_librdkafka_names,
    option_table,
    parse_admin,
    parse_consumer,
    parse_producer,
)
from kafka.config.librdkafka import _CONVERT
from kafka.config.librdkafka_table import CONVERTED, IDLE, OWN, REFUSED, RENAMED
from kafka.errors import KafkaConfigurationError

pytestmark = pytest.mark.once
NO_DELAY = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
KEEP_ALIVE = (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


@pytest.mark.parametrize(
    ("client", "settings", "wanted"),
    [
        ("producer", {"metadata.broker.list": "a:1,b:2"}, {"bootstrap_servers": "a:1,b:2"}),
        ("producer", {"message.timeout.ms": 5000}, {"delivery_timeout_ms": 5000}),
        ("producer", {"message.timeout.ms": "0"}, {"delivery_timeout_ms": math.inf}),
        ("producer", {"delivery.timeout.ms": 0}, {"delivery_timeout_ms": math.inf}),
        ("producer", {"queue.buffering.max.ms": "7.5"}, {"linger_ms": 7.5}),
        ("producer", {"queue.buffering.max.kbytes": 2}, {"buffer_memory": 2048}),
        ("producer", {"message.send.max.retries": "3"}, {"retries": 3}),
        ("producer", {"request.required.acks": -1}, {"acks": -1}),
        (
            "producer",
            {"compression.codec": "zstd", "compression.level": 3},
            {"compression_type": "zstd", "compression_level": 3},
        ),
        ("producer", {"compression.level": "-1"}, {"compression_level": None}),
        ("producer", {"max.in.flight": 4}, {"max_in_flight_requests_per_connection": 4}),
        ("producer", {"message.max.bytes": 9}, {"max_request_size": 9}),
        ("producer", {"partitioner": "murmur2_random"}, {}),
        (
            "producer",
            {"key.serializer": str.encode, "value.serializer": len},
            {"key_serializer": str.encode, "value_serializer": len},
        ),
        (
            "consumer",
            {"key.deserializer": bytes.decode, "value.deserializer": len},
            {"key_deserializer": bytes.decode, "value_deserializer": len},
        ),
        ("producer", {"partitioner": "random"}, {"partitioner_ignore_keys": True}),
        ("producer", {"request.timeout.ms": 1}, {"request_timeout_ms": 1}),
        ("producer", {"socket.timeout.ms": 2, "request.timeout.ms": 1}, {"request_timeout_ms": 2}),
        ("producer", {"default.topic.config": {"acks": "all"}}, {"acks": "all"}),
        ("producer", {"default.topic.config": {"acks": "all"}, "acks": "1"}, {"acks": "1"}),
        ("consumer", {"fetch.wait.max.ms": 10}, {"fetch_max_wait_ms": 10}),
        ("consumer", {"fetch.message.max.bytes": 10}, {"max_partition_fetch_bytes": 10}),
        ("consumer", {"auto.offset.reset": "beginning"}, {"auto_offset_reset": "earliest"}),
        ("consumer", {"auto.offset.reset": "end"}, {"auto_offset_reset": "latest"}),
        ("consumer", {"auto.offset.reset": "error"}, {"auto_offset_reset": "none"}),
        ("consumer", {"auto.offset.reset": "earliest"}, {"auto_offset_reset": "earliest"}),
        (
            "consumer",
            {"partition.assignment.strategy": "range, cooperative-sticky"},
            {"partition_assignment_strategy": ["range", "cooperative-sticky"]},
        ),
        ("consumer", {"enable.auto.offset.store": True, "enable.partition.eof": "false"}, {}),
        ("consumer", {"connections.max.idle.ms": 0}, {"connections_max_idle_ms": -1}),
        ("consumer", {"topic.metadata.refresh.interval.ms": 5, "metadata.max.age.ms": 15}, {"metadata_max_age_ms": 5}),
        ("consumer", {"auto.commit.interval.ms": "0"}, {"auto_commit_interval_ms": 2**31 - 1}),
        ("consumer", {"auto.commit.interval.ms": 200}, {"auto_commit_interval_ms": 200}),
        ("producer", {"enable.idempotence": "1"}, {"enable_idempotence": True}),
        (
            "consumer",
            {"check.crcs": "f", "enable.partition.eof": " F ", "exclude.internal.topics": 1},
            {
                "check_crcs": False,
                "exclude_internal_topics": True,
            },
        ),
        ("admin", {"socket.timeout.ms": "10"}, {"request_timeout_ms": 10}),
        ("admin", {"socket.send.buffer.bytes": 0, "socket.receive.buffer.bytes": 4096}, {"receive_buffer_bytes": 4096}),
        ("admin", {"socket.keepalive.enable": "true"}, {"socket_options": [NO_DELAY, KEEP_ALIVE]}),
        ("admin", {"socket.nagle.disable": False}, {"socket_options": []}),
        (
            "admin",
            {"sasl.mechanisms": "PLAIN", "sasl.username": "a"},
            {"sasl_mechanism": "PLAIN", "sasl_plain_username": "a"},
        ),
        ("admin", {"ssl.ca.location": "probe"}, {}),
        ("admin", {"ssl.ca.location": "ca.pem"}, {"ssl_cafile": "ca.pem"}),
        ("admin", {"ssl.ca.pem": "x"}, {"ssl_truststore_certificates": "x"}),
        (
            "admin",
            {"ssl.certificate.pem": "c", "ssl.key.pem": "k"},
            {"ssl_keystore_certificate_chain": "c", "ssl_keystore_key": "k"},
        ),
        ("admin", {"ssl.cipher.suites": "ECDHE-RSA-AES128-GCM-SHA256"}, {"ssl_ciphers": "ECDHE-RSA-AES128-GCM-SHA256"}),
        ("admin", {"sasl.oauthbearer.method": "OIDC"}, {}),
        ("admin", {"error_cb": None}, {}),
        (
            "consumer",
            {"enable.auto.commit": 0, "check.crcs": "T", "allow.auto.create.topics": "1"},
            {"enable_auto_commit": False, "check_crcs": True, "allow_auto_create_topics": True},
        ),
        ("consumer", {"enable.partition.eof": "0", "enable.auto.offset.store": 1}, {}),
        ("admin", {"socket.keepalive.enable": "1"}, {"socket_options": [NO_DELAY, KEEP_ALIVE]}),
    ],
    ids=str,
)
def test_a_setting_becomes_an_option(client: str, settings: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert from_librdkafka_names(settings, client) == wanted
    taken = {name: value for name, value in wanted.items() if not name.startswith(("ssl_", "sasl_"))}
    {"consumer": parse_consumer, "producer": parse_producer, "admin": parse_admin}[client](taken)


def test_settings_without_meaning_are_omitted_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    settings = {"log_level": 7, "batch.num.messages": 5, "linger.ms": 1, "group.id": "g", "request.timeout.ms": 3}
    with caplog.at_level(logging.WARNING, logger="kafka"):
        assert from_librdkafka_names(settings, "consumer") == {"group_id": "g"}
        assert from_librdkafka_names({"compression.level": 3, "acks": 1}, "consumer") == {}
    (first, second) = [record.getMessage() for record in caplog.records]
    assert first.endswith("no effect here: batch.num.messages, linger.ms, log_level, request.timeout.ms")
    assert second.endswith("no effect here: acks, compression.level")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"partitioner": "consistent_random"}, "'murmur2_random' is the default"),
        ({"enable.auto.offset.store": False}, "commit(offsets)"),
        ({"enable.partition.eof": "true"}, "but 'false': compare position() with end_offsets()"),
        ({"error_cb": print}, "health() shows"),
        ({"on_delivery": print}, "add_callback()"),
        ({"enable.ssl.certificate.verification": False}, "ssl_context"),
        ({"topic.metadata.refresh.interval.ms": -1}, "-1"),
        ({"queue.buffering.max.kbytes": "many"}, "expects a whole number, not other text"),
        ({"socket.keepalive.enable": "yes"}, "expects true or false, not 'yes'"),
        ({"mesage.timeout.ms": 5}, "unknown setting 'mesage.timeout.ms'; did you mean 'message.timeout.ms'?"),
    ],
    ids=str,
)
def test_unsupported_settings_are_rejected_with_advice(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        from_librdkafka_names(settings)
    assert says in str(caught.value)


def test_each_setting_is_in_one_table() -> None:
    fates = [set(RENAMED), set(CONVERTED), set(IDLE), set(REFUSED)]
    assert sum(map(len, fates)) == len(set().union(*fates))
    assert tuple(_CONVERT) == CONVERTED
    assert {*OWN} == {*set().union(*fates), "default.topic.config"}
    advice = [instead for _, instead in REFUSED.values()]
    named = {
        word.strip("'") for text in advice for word in text.replace(",", "").split() if "_" in word and "'" in word
    }
    assert named <= {*option_table()}, named


def test_a_librdkafka_setting_among_java_names_is_recognized() -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        from_java_names({"message.timeout.ms": 5}, "producer")
    assert "a setting of librdkafka (in Java 'delivery.timeout.ms')" in str(caught.value)
    assert "from_librdkafka_names()" in str(caught.value)
    for name in ("message.timeout.ms", "message_timeout_ms"):
        with pytest.raises(
            KafkaConfigurationError, match=r"unknown: it is a setting of librdkafka \(in Java 'delivery"
        ):
            parse_producer({name: 5})
    with pytest.raises(KafkaConfigurationError, match="did you mean 'key_serializer'"):
        parse_producer({"key.serializer": print})
    with pytest.raises(KafkaConfigurationError, match="not of the producer") as caught:
        parse_producer({"auto_offset_reset": "earliest"})
    assert "librdkafka" not in str(caught.value)
    with pytest.raises(KafkaConfigurationError, match="a setting of librdkafka; convert its settings"):
        from_java_names({"error_cb": print})
