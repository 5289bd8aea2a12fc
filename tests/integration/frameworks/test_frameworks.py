"""The programs of `examples/frameworks`, each run by the framework that it is for, in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from conftest import missing
from harness.framework_programs import EXAMPLES, PATIENCE_S, Start, check_quiet_end, starting, url_of, values_of
from harness.frameworks import frameworks_environment
from harness.pins import PinsError
from kafka import KafkaProducer

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

EMBEDDED = pytest.mark.parametrize("broker", ["embedded"], indirect=True)
"""The broker makes no difference here."""


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """Where the frameworks are found."""
    try:
        return frameworks_environment()
    except PinsError as error:
        missing(str(error))
        raise


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Iterator[Start]:
    """Start a module with arguments, in a folder, and with variables; it is ended with the test."""
    with starting(Path(sys.executable), environment["PYTHONPATH"], tmp_path) as begin:
        yield begin


def test_fastapi_takes_orders_and_adds_them_up(broker: Broker, make_topic: MakeTopic, start: Start) -> None:
    topic = make_topic()
    variables = {"KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers, "KAFKA_TOPIC": topic}
    server = start("-m", "uvicorn", "--port", "0", "fastapi_app:app", **variables)
    with httpx.Client(base_url=url_of(server), timeout=PATIENCE_S) as client:
        for number in range(1, 5):
            answer = client.post("/orders/ada", json={"amount": number})
            assert (answer.status_code, answer.json()) == (202, {"partition": 0, "offset": number - 1})
        assert client.post("/orders/ada", json={"amount": "many"}).status_code == 422
        while client.get("/orders/ada").json() != {"total": 10}:  # the test's own time limit ends this
            assert client.get("/health").status_code == 200
        assert client.get("/health").json() == {"orders": 10}
    check_quiet_end(server)
    found = values_of(broker.bootstrap_servers, topic, 4)
    assert [json.loads(value or b"")["amount"] for _, value in found] == [1, 2, 3, 4]


def test_gunicorn_makes_a_producer_in_each_worker(broker: Broker, make_topic: MakeTopic, start: Start) -> None:
    topic = make_topic()
    variables = {"KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers, "KAFKA_TOPIC": topic}
    options = ("--config", "gunicorn.conf.py", "--bind", "127.0.0.1:0")
    server = start("-m", "gunicorn", *options, "wsgi_app:app", cwd=EXAMPLES / "gunicorn", **variables)
    url = url_of(server)
    answers = [httpx.post(f"{url}/ada", content=b"%d" % number, timeout=PATIENCE_S) for number in range(4)]
    assert [each.status_code for each in answers] == [202] * 4, answers[0].text
    assert [each.json()["offset"] for each in answers] == [0, 1, 2, 3]
    check_quiet_end(server)
    assert values_of(broker.bootstrap_servers, topic, 4) == [(b"ada", b"%d" % number) for number in range(4)]


PRELOADED = """
import asyncio, atexit, os
from kafka import AsyncKafkaProducer, KafkaConsumer, KafkaProducer
from kafka.errors import ForkedClientError
servers, topic = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["KAFKA_TOPIC"]
producer = KafkaProducer(bootstrap_servers=servers)  # all of this in the master, before the fork
consumer = KafkaConsumer(topic, bootstrap_servers=servers, auto_offset_reset="earliest", group_id="preloaded")
unstarted = AsyncKafkaProducer(bootstrap_servers=servers)
atexit.register(producer.close)
atexit.register(consumer.close)
async def send():
    async with unstarted:
        return f"offset {(await unstarted.send_and_wait(topic, b'asyncio')).offset}"
def poll():
    return len(consumer.poll(600_000))
calls = {"/send": lambda: producer.send(topic, b"lost?"), "/poll": poll, "/asyncio": lambda: asyncio.run(send())}
def app(environ, start_response):
    try:
        said = calls[environ["PATH_INFO"]]()
    except ForkedClientError as error:
        said = error
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{said}".encode()]
"""


@EMBEDDED
def test_what_gunicorn_preloads_works_or_says_at_once_what_to_do(
    broker: Broker, make_topic: MakeTopic, start: Start, tmp_path: Path
) -> None:
    topic = make_topic()
    (tmp_path / "preloaded.py").write_text(PRELOADED)
    variables = {"KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers, "KAFKA_TOPIC": topic}
    server = start("-m", "gunicorn", "--preload", "--bind", "127.0.0.1:0", "preloaded:app", cwd=tmp_path, **variables)
    url = url_of(server)
    for path in "/send", "/poll":
        said = httpx.get(url + path, timeout=PATIENCE_S).text
        assert "created before the process forked" in said
        assert "create a new one in this process" in said
    assert httpx.get(f"{url}/asyncio", timeout=PATIENCE_S).text == "offset 0"
    check_quiet_end(server)


@EMBEDDED
def test_tasks_of_celery_send_from_forked_workers(
    broker: Broker, make_topic: MakeTopic, start: Start, environment: dict[str, str], tmp_path: Path
) -> None:
    topic = make_topic()
    variables = {
        "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers,
        "KAFKA_TOPIC": topic,
        "CELERY_FOLDER": str(tmp_path / "tasks"),
    }
    calling = "from celery_app import announce\nfor number in range(6):\n    announce.delay('ada', number)"
    done = subprocess.run(
        [sys.executable, "-c", calling],
        cwd=EXAMPLES,
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    options = ("--pool", "prefork", "--concurrency", "2", "--without-gossip", "--without-mingle", "--loglevel", "INFO")
    worker = start("-m", "celery", "-A", "celery_app", "worker", *options, **variables)
    assert values_of(broker.bootstrap_servers, topic, 6) == [(b"ada", b"%d" % number) for number in range(6)]
    check_quiet_end(worker)


def test_a_scheduler_goes_on_after_each_fork(broker: Broker, make_topic: MakeTopic, start: Start) -> None:
    runs, results = make_topic(), make_topic()
    variables = {"KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers, "KAFKA_RUNS": runs, "KAFKA_RESULTS": results}
    days = ["monday", "tuesday", "wednesday"]
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for day in days:
            producer.send(runs, json.dumps({"day": day}).encode(), key=b"report").get(PATIENCE_S)
    scheduler = start("scheduler.py", **variables)
    expected = [(b"report", f"the report of {day}".encode()) for day in days]
    assert values_of(broker.bootstrap_servers, results, 3) == expected
    check_quiet_end(scheduler)
    assert "stopped" in scheduler.output()
