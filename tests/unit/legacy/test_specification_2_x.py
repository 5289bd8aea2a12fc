"""Options and arguments that the documentation of kafka-python 2.x lists for `KafkaConsumer`."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from kafka import ConsumerRebalanceListener, KafkaConsumer
from kafka.structs import MemberInformation, Node

pytestmark = pytest.mark.once

DEFAULTS = {
    "enable_auto_commit": True,
    "auto_commit_interval_ms": 5000,
    "session_timeout_ms": 10000,
    "heartbeat_interval_ms": 3000,
    "max_poll_records": 500,
    "fetch_min_bytes": 1,
    "fetch_max_wait_ms": 500,
    "max_partition_fetch_bytes": 1024 * 1024,
}
OTHERS = [
    "bootstrap_servers",
    "group_id",
    "key_deserializer",
    "value_deserializer",
    "auto_offset_reset",
    "security_protocol",
    "api_version",
]
ARGUMENTS = {
    "subscribe": {"topics": (), "pattern": None, "listener": None},
    "assign": {"partitions": inspect.Parameter.empty},
    "poll": {"timeout_ms": 0, "max_records": None, "update_offsets": True},
    "commit": {"offsets": None},
    "commit_async": {"offsets": None, "callback": None},
    "seek": {"partition": inspect.Parameter.empty, "offset": inspect.Parameter.empty},
    "position": {"partition": inspect.Parameter.empty},
    "committed": {"partition": inspect.Parameter.empty},
    "close": {"autocommit": True},
    "subscription": {},
    "assignment": {},
    "paused": {},
    "beginning_offsets": {"partitions": inspect.Parameter.empty},
    "end_offsets": {"partitions": inspect.Parameter.empty},
    "offsets_for_times": {"timestamps": inspect.Parameter.empty},
    "metrics": {},
}


def test_defaults_of_options() -> None:
    config: Any = KafkaConsumer.DEFAULT_CONFIG
    assert {name: config[name] for name in DEFAULTS} == DEFAULTS
    assert set(OTHERS) <= set(config)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_of_methods(name: str) -> None:
    found = list(inspect.signature(getattr(KafkaConsumer, name)).parameters.values())[1:]
    listed = ARGUMENTS[name]
    assert {each.name: each.default for each in found[: len(listed)]} == listed
    assert all(each.default is not each.empty for each in found[len(listed) :])


@pytest.mark.parametrize("name", ["seek_to_beginning", "seek_to_end", "pause", "resume"])
def test_methods_with_any_number_of_partitions(name: str) -> None:
    (_, partitions) = inspect.signature(getattr(KafkaConsumer, name)).parameters.values()
    assert (partitions.name, partitions.kind) == ("partitions", partitions.VAR_POSITIONAL)


@pytest.mark.parametrize(("name", "argument"), [("revoked", "revoked"), ("assigned", "assigned")])
def test_arguments_of_a_listener(name: str, argument: str) -> None:
    method = getattr(ConsumerRebalanceListener, f"on_partitions_{name}")
    assert list(inspect.signature(method).parameters) == ["self", argument]


def test_values_have_the_documented_fields() -> None:
    assert Node._fields == ("id", "host", "port", "rack")
    assert MemberInformation._fields == (
        "member_id", "client_id", "client_host", "member_metadata", "member_assignment"
    )  # fmt: skip
