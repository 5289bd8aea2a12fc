"""The pairs of programs in docs/SIDE_BY_SIDE.md give the same, each on a broker of its own with the same records."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.config.librdkafka_table import CONVERTED, IDLE, OWN, REFUSED, RENAMED

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "SIDE_BY_SIDE.md"
SECTIONS = re.split(r"^## ", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
(SETTINGS,) = (section for section in SECTIONS if section.startswith("Settings of confluent-kafka\n"))
PAIRS = {
    section.splitlines()[0]: re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    for section in SECTIONS
    if section.startswith(("confluent-kafka: ", "aiokafka: "))
}
FIRST_TIME_MS = 1_700_000_000_000
UNUSUAL = "\x01x"
"""A value that most settings refuse. It has a letter in it, as librdkafka 2.16 looks for one in `client.software.name`
and `client.software.version`, past the end of the text if need be, and then overwrites memory that is not its own."""


def prepare(servers: str) -> None:
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.create_topics({"orders": {"num_partitions": 2}, "done": {"num_partitions": 1}})
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(10):
            time_ms = FIRST_TIME_MS + 1000 * number
            producer.send("orders", b"%d" % number, partition=number % 2, timestamp_ms=time_ms)


def contents(servers: str) -> list[tuple[object, ...]]:
    """What the topics have in the end; which of two partitions is read first is left to each client."""
    found = []
    parts = [TopicPartition("orders", 0), TopicPartition("orders", 1), TopicPartition("done", 0)]
    with KafkaConsumer(bootstrap_servers=servers, isolation_level="read_committed") as consumer:
        consumer.assign(parts)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(parts)
        while any(consumer.position(tp) < end for tp, end in ends.items()):
            for record in consumer.poll(timeout_ms=1000):
                found.append((record.topic, record.partition, record.value or b"", record.key or b"", record.headers))
    return sorted(found)


def test_the_guide_tells_of_each_setting_that_is_not_simply_javas() -> None:
    without_defaults = SETTINGS.partition("**Different defaults")[0]
    told, refused, idle = re.split(r"^\*\*(?:Rejected|Ignored)", without_defaults, flags=re.MULTILINE)
    named = [set(re.findall(r"`([a-z0-9._]+)`", part)) & OWN for part in (told, refused, idle)]
    assert named == [{*RENAMED, *CONVERTED, "default.topic.config"}, {*REFUSED}, {*IDLE}]


def test_each_of_those_settings_is_librdkafkas() -> None:
    of_other_classes = {f"{part}.{kind}" for part in ("key", "value") for kind in ("serializer", "deserializer")}
    for name in OWN - of_other_classes:
        said = []
        for client, settings in ((Producer, {}), (Consumer, {"group.id": "g"})):
            try:
                client({**settings, "log_level": 0, name: UNUSUAL})
            except (KafkaException, TypeError, ValueError, AttributeError) as error:
                said.append(str(error))
        assert sum("No such configuration property" in each for each in said) < 2, name


@pytest.mark.parametrize("title", PAIRS)
def test_both_programs_print_the_same_and_leave_the_same_records(title: str, tmp_path: Path) -> None:
    printed, left = [], []
    assert len(PAIRS[title]) == 2
    for number, program in enumerate(PAIRS[title]):
        with EmbeddedBroker(tmp_path / str(number), group_initial_rebalance_delay_ms=0) as broker:
            prepare(broker.bootstrap_servers)
            command = [sys.executable, "-c", program.replace("localhost:9092", broker.bootstrap_servers)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stderr
            printed.append(done.stdout)
            left.append(contents(broker.bootstrap_servers))
    assert printed[0].strip()
    assert printed[0] == printed[1]
    assert left[0] == left[1]
    assert left[0]
