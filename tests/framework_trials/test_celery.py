"""Celery: a topic feeds tasks, and tasks send to another topic; without a broker, stopped in the middle, killed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.framework_programs import PATIENCE_S, Start, check_quiet_end, run, values_of
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

FRAMEWORK = "celery"
WORK = ("-m", "celery", "-A", "celery_app", "worker", "--pool", "prefork", "--concurrency", "2", "--loglevel", "INFO")
QUIET = ("--without-gossip", "--without-mingle")


@pytest.fixture
def queue(tmp_path: Path) -> dict[str, str]:
    """Variables that give Celery an empty queue."""
    return {"CELERY_FOLDER": str(tmp_path / "tasks")}


def ask(servers: str, topic: str, count: int) -> None:
    """Write requests."""
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(count):
            producer.send(topic, b"%d" % number, key=b"ada")


def committed(servers: str, topic: str) -> int:
    """What the feed has committed."""
    with KafkaConsumer(bootstrap_servers=servers, group_id=topic) as consumer:
        return consumer.committed(TopicPartition(topic, 0)) or 0


def test_requests_become_tasks_and_tasks_send(
    broker: Broker, make_topic: MakeTopic, start: Start, queue: dict[str, str]
) -> None:
    servers, requests, orders = broker.bootstrap_servers, make_topic(), make_topic()
    queue |= {
        "KAFKA_BOOTSTRAP_SERVERS": servers,
        "KAFKA_REQUESTS": requests,
        "KAFKA_TOPIC": orders,
        "KAFKA_GROUP": requests,
    }
    ask(servers, requests, 20)
    feed = start("celery_feed.py", **queue)
    worker = start(*WORK, *QUIET, **queue)
    expected = sorted((b"ada", b"%d" % number) for number in range(20))
    assert values_of(servers, orders, 20) == expected
    check_quiet_end(feed)
    assert feed.output().endswith("stopped\n")
    check_quiet_end(worker)
    assert committed(servers, requests) == 20
    for number in range(20):
        assert f"[{requests}-0-{number}]" in worker.output(), "the id of a task is its position"


def test_no_request_is_lost_if_the_feed_is_killed_and_the_worker_stopped(
    broker: Broker, make_topic: MakeTopic, start: Start, queue: dict[str, str]
) -> None:
    servers, requests, orders = broker.bootstrap_servers, make_topic(), make_topic()
    count = 300
    queue |= {
        "KAFKA_BOOTSTRAP_SERVERS": servers,
        "KAFKA_REQUESTS": requests,
        "KAFKA_TOPIC": orders,
        "KAFKA_GROUP": requests,
    }
    ask(servers, requests, count)
    worker = start(*WORK, *QUIET, **queue)
    feed = start("celery_feed.py", **queue)
    values_of(servers, orders, 1)
    feed.kill()
    check_quiet_end(worker)
    worker = start(*WORK, *QUIET, **queue)
    feed = start("celery_feed.py", **queue)
    wanted = {b"%d" % number for number in range(count)}
    with KafkaConsumer(
        orders, bootstrap_servers=servers, auto_offset_reset="earliest", consumer_timeout_ms=PATIENCE_S * 1000
    ) as consumer:
        for record in consumer:
            wanted.discard(record.value)
            if not wanted:
                break
    assert wanted == set()
    check_quiet_end(feed)
    check_quiet_end(worker)
    assert committed(servers, requests) == count


def test_without_a_broker_the_feed_ends_and_tasks_are_tried_again(
    python: Path, start: Start, queue: dict[str, str], nobody: str
) -> None:
    queue["KAFKA_BOOTSTRAP_SERVERS"] = nobody
    done = run(python, "celery_feed.py", **queue)
    assert done.returncode == 1
    assert "celery_feed: " in done.stderr
    assert nobody in done.stderr
    assert "Traceback" not in done.stderr
    done = run(python, "-c", "from celery_app import announce; announce.delay('ada', 3)", **queue)
    assert done.returncode == 0, done.stderr
    worker = start(*WORK, *QUIET, **queue)
    assert worker.wait_for("Retry in", PATIENCE_S), worker.output()
    assert "NoBrokersAvailable" in worker.output()
    assert "Timed out waiting for UP message" not in worker.output()
    assert worker.stop(PATIENCE_S), worker.output()
