"""A program that sets up no logging sees our warnings, and where nothing is wrong it sees nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.once

_ORDINARY = """
import kafka
from kafka.broker import EmbeddedBroker
with EmbeddedBroker() as broker:
    servers = {"bootstrap_servers": broker.bootstrap_servers}
    with kafka.KafkaProducer(**servers) as producer:
        producer.send("made-by-sending", b"v").get(60)
    with kafka.KafkaConsumer("made-by-sending", group_id="g", consumer_timeout_ms=100, **servers) as consumer:
        assert list(consumer) == []
    with kafka.KafkaAdminClient(**servers) as admin:
        admin.create_topics(["made-by-admin"])
        admin.delete_topics(["made-by-admin"])
    assert [each.value for each in kafka.read("made-by-sending", **servers)] == [b"v"]
"""
_WRONG = """
import sys
import threading
import kafka
from kafka.broker import EmbeddedBroker

class Counted:
    lines = 0
    def write(self, text):
        self.lines += text.count("\\n")
        sys.__stderr__.write(text)
    def flush(self):
        sys.__stderr__.flush()

def until(lines, consumer):
    while sys.stderr.lines < lines:
        assert consumer.poll(10) == {}

sys.stderr = Counted()
with EmbeddedBroker() as broker:
    servers = {"bootstrap_servers": broker.bootstrap_servers}
    kafka.KafkaAdminClient(sasl_mechanism="PLAIN", sasl_plain_username="a", sasl_plain_password="b", **servers).close()
    with kafka.KafkaConsumer(allow_auto_create_topics=False, **servers) as consumer:
        consumer.poll(0)
        consumer.subscribe(["missing"])
        until(3, consumer)
        with kafka.KafkaProducer(**servers) as producer:
            producer.send("small", b"v").get(60)
        consumer.unsubscribe()
        consumer.assign([kafka.TopicPartition("small", 77)])
        until(4, consumer)
    port = broker.port

late = EmbeddedBroker(port=port)
told = threading.Event()

class Announcing(Counted):
    def write(self, text):
        super().write(text)
        told.set()

def start_once_told():
    told.wait()
    late.start()

sys.stderr = Announcing()
starting = threading.Thread(target=start_once_told)
starting.start()
kafka.KafkaAdminClient(**servers).close()  # finds the broker, which only starts after the warning
starting.join()
late.stop()
print("port", port, file=sys.stderr)
"""


def told(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


@pytest.mark.slow
def test_where_nothing_is_wrong_nothing_is_said() -> None:
    assert told(_ORDINARY) == []


@pytest.mark.slow
def test_warnings_are_seen_without_any_logging_set_up() -> None:
    unused = "sasl_mechanism, sasl_plain_password, sasl_plain_username; they require 'SASL_PLAINTEXT' or 'SASL_SSL'"
    lines = told(_WRONG)
    port = lines.pop().removeprefix("port ")
    refused = f"cannot connect to 127.0.0.1:{port}: connection refused (ECONNREFUSED)"
    assert [each for each in lines if not each.startswith("still looking")] == [
        f"security_protocol is 'PLAINTEXT', so these options have no effect: {unused}",
        "poll() cannot return anything: nothing is subscribed to or assigned; call subscribe() or assign()",
        "topic 'missing' does not exist; waiting for it to be created",
        "topic 'small' has 1 partition, and none with the number 77; waiting for it",
        f"a bootstrap server could not be used: {refused}; trying again until bootstrap_timeout_ms (30 s)",
    ]
