"""Each option of Kafka's own Java clients is understood, told of, or refused for a reason."""

import re

import pytest

from kafka.config.java_names import all_java_names

pytestmark = pytest.mark.apache
CLASSES = ("consumer.ConsumerConfig", "producer.ProducerConfig", "admin.AdminClientConfig")


def test_every_name_of_javas_clients_is_known(java_tools):
    names = set()
    for each in CLASSES:
        page = java_tools.run(f"org.apache.kafka.clients.{each}").stdout
        names |= set(re.findall(r'id="\w+configs_([a-z0-9.]+)"', page))
    assert len(names) > 130
    assert names <= all_java_names()
