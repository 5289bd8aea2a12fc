"""Programs written for aiokafka print the same under it and, with their imports changed, under `kafka.aio`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from harness.aio_programs import NAMES, run, topics
from harness.topics import new_topic_name
from kafka.admin import KafkaAdminClient, NewTopic

if TYPE_CHECKING:
    from conftest import Broker
    from harness.releases import Kafka

Printed = dict[str, str]
OURS = "kafka.aio"


def run_all(library: str, servers: str) -> Printed:
    prefix = new_topic_name()
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        wanted = [NewTopic(name, count, 1) for name, count in topics(prefix).items()]
        admin.create_topics(wanted, wait_for_metadata=True)
    return run(library, servers, prefix, NAMES)


@pytest.fixture(scope="module")
def theirs(apache_kafka: Kafka) -> Printed:
    pytest.importorskip("aiokafka")
    return run_all("aiokafka", apache_kafka.bootstrap_servers)


@pytest.fixture(scope="module")
def ours(broker: Broker) -> Printed:
    return run_all(OURS, broker.bootstrap_servers)


@pytest.mark.apache
@pytest.mark.parametrize("name", NAMES)
def test_a_program_prints_what_it_prints_under_aiokafka(name: str, theirs: Printed, ours: Printed) -> None:
    assert "Traceback" not in theirs[name]
    assert ours[name] == theirs[name]
