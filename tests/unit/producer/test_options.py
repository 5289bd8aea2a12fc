"""What follows from several options together, and what a caller may give."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.config import parse_producer
from kafka.errors import IllegalArgumentError
from kafka.producer.appending.checks import checked_partition, checked_topic
from kafka.producer.base_producer import client_configs
from kafka.producer.idempotence import is_idempotent
from kafka.producer.send.schedule import sender_options


def idempotent(**configs: Any) -> bool:
    config = parse_producer(configs)
    return is_idempotent(config.connection, config.producer)


def test_idempotence_is_the_default_unless_an_option_prevents_it() -> None:
    assert idempotent()
    assert idempotent(max_in_flight_requests_per_connection=5, retries=1)
    assert not idempotent(max_in_flight_requests_per_connection=6)
    assert not idempotent(retries=0)
    assert not idempotent(acks=1)
    assert not idempotent(enable_idempotence=False)
    assert not idempotent(api_version=(0, 10, 2))
    assert idempotent(api_version=(0, 11))
    assert idempotent(enable_idempotence=True)


def test_sender_options_are_in_seconds() -> None:
    config = parse_producer({"linger_ms": 20, "delivery_timeout_ms": 90_000, "max_request_size": 5_000})
    options = sender_options(config.connection, config.producer)
    assert (options.linger, options.delivery_timeout, options.max_request_size) == (0.02, 90, 5_000)
    assert options.max_in_flight == 5


def test_producers_without_a_client_id_get_a_unique_one() -> None:
    given = {"client_id": None, "acks": 1}
    first, second = client_configs(given), client_configs({})
    assert (first["acks"], given["client_id"]) == (1, None)
    numbers = [int(each["client_id"].removeprefix("kafka-python-producer-")) for each in (first, second)]
    assert numbers[1] == numbers[0] + 1
    assert client_configs({"client_id": "mine"}) == {"client_id": "mine"}


@pytest.mark.parametrize("name", ["t", "a" * 249, "a.b_c-9", "...", "A"])
def test_valid_topic_names_are_accepted(name: str) -> None:
    assert checked_topic(name) == name


@pytest.mark.parametrize("name", ["", "a" * 250, ".", "..", "a b", "a/b", "ä", "a\n"])
def test_invalid_topic_names_are_refused(name: str) -> None:
    with pytest.raises(IllegalArgumentError, match="is not a topic name"):
        checked_topic(name)


def test_partitions_must_be_existing_integers() -> None:
    class Number:
        def __index__(self) -> int:
            return 2

        def __int__(self) -> int:
            return 2

    assert [checked_partition("t", given, 3, "partition") for given in (0, 2, Number())] == [0, 2, 2]
    for wrong in (-1, 3):
        with pytest.raises(IllegalArgumentError, match=f"partitions 0 to 2, but partition is {wrong}"):
            checked_partition("t", wrong, 3, "partition")
    for odd in (True, 1.0, "1", None):
        with pytest.raises(TypeError, match="must be an int"):
            checked_partition("t", odd, 3, "partition")
