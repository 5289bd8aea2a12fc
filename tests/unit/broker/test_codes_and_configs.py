"""Error codes compared with the clients' errors, topic configs, and the broker's settings."""

from __future__ import annotations

import pytest

from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.topic_configs import TOPIC_OPTIONS, check_config, parse_settings
from kafka.broker.topic_store import check_name
from kafka.errors import KafkaConfigurationError, for_code

OTHER_NAMES = {-1: "UNKNOWN", 10: "MESSAGE_SIZE_TOO_LARGE", 17: "INVALID_TOPIC", 39: "INVALID_REPLICATION_ASSIGNMENT"}
"""Codes for which kafka-python and Kafka have different names."""


@pytest.mark.parametrize("code", [one for one in ErrorCode if one])
def test_every_code_matches_a_client_error(code: ErrorCode) -> None:
    known = for_code(code)
    assert known.errno == code
    assert known.message == OTHER_NAMES.get(code, code.name)


def test_every_default_value_is_valid() -> None:
    for option in TOPIC_OPTIONS.values():
        assert check_config(option.name, option.default) == option.default


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retention.ms", "-2"),
        ("retention.ms", "soon"),
        ("cleanup.policy", "delete,forget"),
        ("message.timestamp.type", "Whenever"),
        ("min.cleanable.dirty.ratio", "1.5"),
        ("no.such.config", "1"),
        ("retention.ms", None),
    ],
)
def test_an_invalid_config_is_rejected_by_name(name: str, value: str | None) -> None:
    with pytest.raises(RequestFailed, match=name) as caught:
        check_config(name, value)
    assert caught.value.code is ErrorCode.INVALID_CONFIG


def test_topic_configs_take_precedence_over_defaults() -> None:
    defaults = {"segment.bytes": "5000", "retention.ms": "7"}
    settings = parse_settings({"retention.ms": "9", "cleanup.policy": "compact"}, defaults, fsync=False)
    assert settings.log.segment_bytes == 5000
    assert settings.log.retention_ms == 9
    assert settings.max_message_bytes == 1_048_588
    assert settings.compacted
    assert not settings.log.delete_old
    assert parse_settings({}, {}, fsync=True).log.flush_messages == 1


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "ä", "x" * 250, "a/b"])
def test_invalid_topic_names_are_rejected(name: str) -> None:
    with pytest.raises(RequestFailed) as caught:
        check_name(name)
    assert caught.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION


def test_an_unknown_setting_suggests_the_closest_name() -> None:
    with pytest.raises(KafkaConfigurationError, match="num_partitions"):
        BrokerSettings.from_names({"num_partition": 3})


@pytest.mark.parametrize(
    "names", [{"num_partitions": 0}, {"num_partitions": "3"}, {"fsync": 1}, {"max_fetch_bytes": -1}]
)
def test_settings_of_a_wrong_type_or_size_are_rejected(names: dict[str, object]) -> None:
    with pytest.raises(KafkaConfigurationError):
        BrokerSettings.from_names(names)
