"""A dict of settings instead of keyword arguments is rejected with advice."""

from __future__ import annotations

import pytest

import kafka

pytestmark = pytest.mark.once
SETTINGS = {"bootstrap.servers": "localhost:9092", "sasl.password": "hunter2"}
CLIENTS = {
    "KafkaProducer": "producer",
    "AsyncKafkaProducer": "producer",
    "KafkaAdminClient": "admin",
    "AsyncKafkaAdminClient": "admin",
    "KafkaConsumer": "consumer",
    "AsyncKafkaConsumer": "consumer",
    "KafkaShareConsumer": "share consumer",
    "AsyncKafkaShareConsumer": "share consumer",
}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_dict_of_settings_is_rejected_with_advice(name: str) -> None:
    for settings in (SETTINGS, {"group.id": "g"}, {"message.timeout.ms": 5}, {"bootstrap_servers": "localhost:9092"}):
        with pytest.raises(TypeError) as caught:
            getattr(kafka, name)(settings)
        assert f"**from_java_names(settings, {CLIENTS[name]!r}))" in str(caught.value)
        assert "hunter2" not in str(caught.value)


def test_a_dict_of_partitions_is_accepted_as_in_0_9() -> None:
    with pytest.raises(kafka.errors.KafkaConfigurationError, match="bootstrap_servers required"):
        kafka.KafkaConsumer({"orders": "0"})
