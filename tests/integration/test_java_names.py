"""Each option of Kafka's own Java clients is understood, told of, or refused for a reason."""

import re

import pytest

from kafka.config.java_names import _ONLY, _REFUSED, _SPECIAL, _WITHOUT_MEANING, java_names

pytestmark = pytest.mark.apache
CLASSES = ("consumer.ConsumerConfig", "producer.ProducerConfig", "admin.AdminClientConfig")
_LEVELS = {f"compression.{codec}.level" for codec in ("gzip", "lz4", "zstd")}


def test_every_name_of_javas_clients_is_known(java_tools):
    names = set()
    for each in CLASSES:
        page = java_tools.run(f"org.apache.kafka.clients.{each}").stdout
        names |= set(re.findall(r'id="\w+configs_([a-z0-9.]+)"', page))
    assert len(names) > 130
    known = set(java_names()) | _WITHOUT_MEANING | set(_ONLY) | set(_REFUSED) | set(_SPECIAL) | _LEVELS
    assert names - known == {"sasl.jaas.config"}
