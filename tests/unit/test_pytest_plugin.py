"""The pytest plugin in a separate project."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

CONFIGURATION = "[pytest]\nasyncio_default_fixture_loop_scope = function\n"

PROJECT = """
import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import ConfigResource
from kafka.errors import (
    NoBrokersAvailable,
    NotLeaderForPartitionError,
    SaslAuthenticationFailedError,
    UnknownTopicOrPartitionError,
)

SEEN = set()


@pytest.mark.kafka_broker(num_partitions=3, auto_create_topics=False)
def test_settings_by_marker(kafka_broker, kafka_producer, kafka_topics):
    topic = kafka_topics()
    assert kafka_producer().partitions_for(topic) == {0, 1, 2}
    with pytest.raises(Exception, match="(?i)topic"):
        kafka_producer(max_block_ms=500).send("absent", b"1").get(60)


@pytest.mark.kafka_topic(num_partitions=2)
@pytest.mark.parametrize("number", range(4))
def test_topics_and_clients(kafka_shared_broker, kafka_topic, kafka_producer, kafka_consumer, kafka_admin, number):
    assert not SEEN or SEEN == {kafka_shared_broker.bootstrap_servers}  # one broker for all of them
    SEEN.add(kafka_shared_broker.bootstrap_servers)
    assert not kafka_shared_broker.faults.rules
    kafka_shared_broker.faults.fail(NotLeaderForPartitionError, api="Produce", topic=kafka_topic, times=1)
    producer = kafka_producer(value_serializer=str.encode, retry_backoff_ms=1)
    for key in range(10):
        producer.send(kafka_topic, str(key), partition=key % 2)
    producer.flush()
    assert kafka_shared_broker.faults.rules[0].hits == 1
    consumer = kafka_consumer(kafka_topic, consumer_timeout_ms=60_000)
    assert sorted(int(next(consumer).value) for _ in range(10)) == list(range(10))
    assert kafka_admin().list_topics(include_internal=False) == [kafka_topic]  # those of other tests are gone
    described = kafka_admin().describe_configs([ConfigResource("topic", kafka_topic)], config_filter="all")
    assert described["topic"][kafka_topic]["retention.ms"]["value"] == "-1"  # tests write records of the past
    assert kafka_topic.startswith("test_topics_and_clients-")


@pytest.mark.kafka_broker(users={"alice": "secret", "bob": "secret of bob"})
def test_a_broker_with_users(kafka_broker, kafka_topic, kafka_producer, kafka_consumer):
    kafka_producer().send(kafka_topic, b"x").get(60)
    bob = dict(sasl_plain_username="bob", sasl_plain_password=kafka_broker.users["bob"], sasl_mechanism="PLAIN")
    assert next(kafka_consumer(kafka_topic, consumer_timeout_ms=60_000, **bob)).value == b"x"
    with pytest.raises(SaslAuthenticationFailedError):
        kafka_producer(sasl_plain_password="wrong")
    with pytest.raises(NoBrokersAvailable):
        kafka_producer(security_protocol="PLAINTEXT", bootstrap_timeout_ms=500)


@pytest.mark.parametrize("number", range(2))
def test_faults_end_with_the_test(kafka_shared_broker, kafka_topic, kafka_producer, kafka_consumer, number):
    kafka_producer().send(kafka_topic, b"x").get(60)
    assert next(kafka_consumer(kafka_topic, group_id="g", consumer_timeout_ms=60_000)).value == b"x"
    kafka_shared_broker.faults.hang_up()


async def both(producer, consumer, topic):
    await producer.send_and_wait(topic, b"there")
    assert (await anext(consumer)).value == b"there"


@pytest.mark.asyncio
async def test_asyncio(kafka_broker, kafka_topic, kafka_async_producer, kafka_async_consumer, kafka_async_admin):
    producer = await kafka_async_producer()
    consumer = await kafka_async_consumer(kafka_topic)
    await both(producer, consumer, kafka_topic)
    assert kafka_topic in await (await kafka_async_admin()).list_topics()
    kafka_broker.faults.hang_up()
"""


ALONE = ("--disable-plugin-autoload", "-p", "kafka_columnar")
"""Loads only this plugin, by its entry point; importing all other installed plugins would take most of the time."""


def run(folder: Path, *arguments: str, expected: int = 0, plugins: Sequence[str] = (*ALONE, "-p", "asyncio")) -> str:
    """Run pytest, and return its output.

    Arguments:
        folder: the project.
        arguments: further arguments on the command line.
        expected: the expected exit status.
        plugins: arguments that choose pytest's plugins; empty: pytest loads all installed ones.
    """
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "--strict-markers", *plugins, *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text(CONFIGURATION)
    (tmp_path / "test_project.py").write_text(PROJECT)
    return tmp_path


@pytest.mark.slow
def test_fixtures_provide_brokers_topics_and_clients(project: Path) -> None:
    assert "9 passed" in run(project, plugins=())


@pytest.mark.slow
def test_each_xdist_worker_has_its_own_broker(project: Path) -> None:
    assert "9 passed" in run(project, "-p", "xdist", "-n", "2")


@pytest.mark.slow
def test_other_fixtures_work_without_pytest_asyncio(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\nmarkers = asyncio\n")
    out = run(project, "-k", "not asyncio", plugins=ALONE)
    assert "8 passed" in out


@pytest.mark.slow
def test_asyncio_fixtures_fail_with_a_hint_without_pytest_asyncio(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(kafka_async_producer, kafka_async_consumer): pass\n")
    out = run(tmp_path, expected=1, plugins=ALONE)
    assert "kafka_async_producer needs pytest-asyncio: pip install pytest-asyncio" in out


@pytest.mark.slow
def test_positional_marker_arguments_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(CONFIGURATION)
    (tmp_path / "test_it.py").write_text("import pytest\n@pytest.mark.kafka_topic(3)\ndef test_it(kafka_topic): pass\n")
    assert "Expected kafka_topic with arguments by name" in run(tmp_path, expected=1)


@pytest.mark.slow
def test_the_bootstrap_servers_can_be_overridden(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(CONFIGURATION)
    (tmp_path / "conftest.py").write_text(
        "import pytest\n"
        "@pytest.fixture(scope='session')\ndef kafka_broker_settings():\n"
        "    return {'num_partitions': 5, 'topic_defaults': {'retention.ms': '60000', 'segment.bytes': '4096'}}\n"
        "@pytest.fixture\ndef kafka_bootstrap_servers(kafka_shared_broker):\n"
        "    return kafka_shared_broker.bootstrap_servers\n"
    )
    (tmp_path / "test_it.py").write_text(
        "from kafka.admin import ConfigResource\n"
        "def test_it(kafka_topic, kafka_producer, kafka_admin):\n"
        "    assert len(kafka_producer().partitions_for(kafka_topic)) == 5\n"
        "    described = kafka_admin().describe_configs([ConfigResource('topic', kafka_topic)], config_filter='all')\n"
        "    given = [described['topic'][kafka_topic][name]['value'] for name in ('retention.ms', 'segment.bytes')]\n"
        "    assert given == ['60000', '4096']\n"
    )
    assert "1 passed" in run(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["the override", "the test"])
def test_a_shared_broker_rejects_a_marker_with_other_settings(asked: str, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(CONFIGURATION)
    override = "@pytest.fixture\ndef kafka_bootstrap_servers(kafka_shared_broker):\n"
    override += "    return kafka_shared_broker.bootstrap_servers\n"
    (tmp_path / "conftest.py").write_text(
        "import pytest\n"
        "@pytest.fixture(scope='session')\ndef kafka_broker_settings(): return {'num_partitions': 5}\n"
        + (override if asked == "the override" else "")
    )
    shared = "" if asked == "the override" else "kafka_shared_broker, "
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "@pytest.mark.kafka_broker(num_partitions=5, users={'alice': 'secret'})\n"
        f"def test_other({shared}kafka_topic): pass\n"
        "@pytest.mark.kafka_broker(num_partitions=5)\n"
        f"def test_same({shared}kafka_topic): pass\n"
        "@pytest.mark.kafka_broker(users={'alice': 'secret'})\n"
        "def test_two(kafka_shared_broker, kafka_broker): assert kafka_broker.users\n"
    )
    printed = run(tmp_path, expected=1)
    assert "2 passed, 1 error" in printed
    assert "test_it.py::test_other uses the broker that all tests share" in printed
    assert "its marker kafka_broker (users): set that for all of them in the fixture kafka_broker_settings" in printed
    assert "secret'" not in printed.partition("uses the broker")[2]
