"""The examples of docs/MIGRATION.md, old and present, run as they stand but for the broker's address."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka import KafkaAdminClient, KafkaProducer
from kafka.broker import EmbeddedBroker

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "MIGRATION.md"
SECTIONS = re.split(r"^## ", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
BLOCKS = [
    pytest.param(code, id=f"{section.splitlines()[0]} {number}")
    for section in SECTIONS
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL))
]
WITH_BOTH = [
    "KafkaConsumer as in 0.9",
    "SimpleClient, and KafkaClient with hosts",
    "SimpleConsumer",
    "kafka.context",
    "MultiProcessConsumer",
    "SimpleProducer and KeyedProducer",
    "kafka.future",
    "KafkaClient of 2.x",
    "BaseCoordinator",
    "kafka.conn",
    "kafka.protocol",
    "kafka.record",
    "kafka.common",
    "kafka.codec and kafka.util",
    "The admin client of 2.x and of 3.0",
]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("migration")
    with EmbeddedBroker(folder, group_initial_rebalance_delay_ms=0) as broker:
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.create_topics({"orders": {"num_partitions": 2}})
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for number in range(10):
                producer.send("orders", b"%d" % number, key=b"key", partition=number % 2)
        yield broker.bootstrap_servers


@pytest.mark.parametrize("code", BLOCKS)
def test_an_example_runs_and_prints(code: str, servers: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", code.replace("localhost:9092", servers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("title", WITH_BOTH)
def test_an_old_interface_has_an_example_before_and_now(title: str) -> None:
    (section,) = [each for each in SECTIONS if each.splitlines()[0] == title]
    assert section.count("```python") >= 2
