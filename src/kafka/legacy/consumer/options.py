"""The options of the `KafkaConsumer` of 0.9."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.legacy.deprecation import warn_deprecated


def _as_it_is(message: Any) -> Any:
    return message


DEFAULT_CONSUMER_CONFIG: dict[str, Any] = {
    "client_id": "kafka.consumer.kafka",
    "group_id": None,
    "bootstrap_servers": [],
    "socket_timeout_ms": 30_000,
    "fetch_message_max_bytes": 1024 * 1024,
    "auto_offset_reset": "largest",
    "fetch_min_bytes": 1,
    "fetch_wait_max_ms": 100,
    "refresh_leader_backoff_ms": 200,
    "deserializer_class": _as_it_is,
    "auto_commit_enable": False,
    "auto_commit_interval_ms": 60_000,
    "auto_commit_interval_messages": None,
    "consumer_timeout_ms": -1,
    "socket_receive_buffer_bytes": 64 * 1024,
    "num_consumer_fetchers": 1,
    "default_fetcher_backoff_ms": 1000,
    "queued_max_message_chunks": 10,
    "rebalance_max_retries": 4,
    "rebalance_backoff_ms": 2000,
}
"""By name; the last six have no effect, and never had one."""

_OPTIONAL = {"metadata_broker_list", *DEFAULT_CONSUMER_CONFIG} - {"auto_offset_reset"}
"""Options for which None is the same as not giving them."""

DEPRECATED_CONFIG_KEYS = {"metadata_broker_list": "bootstrap_servers"}

Deserializer = Callable[[Any], Any]


def parse(configs: Mapping[str, Any]) -> dict[str, Any]:
    """Give all options; raises `KafkaConfigurationError` for an unknown one and for what is missing."""
    given = {name: value for name, value in configs.items() if value is not None or name not in _OPTIONAL}
    for old, new in DEPRECATED_CONFIG_KEYS.items():
        if old in given:
            warn_deprecated(f"{old} is deprecated: use {new}")
            given.setdefault(new, given.pop(old))
            given.pop(old, None)
    unknown = [name for name in given if name not in DEFAULT_CONSUMER_CONFIG]
    if unknown:
        raise KafkaConfigurationError(
            f"Unknown configuration key(s): {unknown}; a consumer in the manner of kafka-python 0.9 has "
            f"{', '.join(sorted(DEFAULT_CONSUMER_CONFIG))}"
        )
    config = {**DEFAULT_CONSUMER_CONFIG, **given}
    if config["auto_commit_enable"] and not config["group_id"]:
        raise KafkaConfigurationError("auto_commit_enable needs the group to commit for: group_id")
    if not config["bootstrap_servers"]:
        raise KafkaConfigurationError("bootstrap_servers required to configure KafkaConsumer")
    return config
