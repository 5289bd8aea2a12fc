"""Samplers measure the lag of groups and the rates of topics, and end whatever they wait for."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kafka.notebook
from kafka import AsyncKafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.notebook.measurements import GroupLag, Measurement, TopicRates
from kafka.notebook.sampler import Sampler, State

pytestmark = pytest.mark.once
PATIENCE_S = 60


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path / "broker", group_initial_rebalance_delay_ms=0, num_partitions=2) as running:
        yield running


def filled(servers: str, count: int) -> None:
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(count):
            producer.send("t", b"v", partition=number % 2)


async def test_the_lag_of_a_group(broker: EmbeddedBroker) -> None:
    servers = broker.bootstrap_servers
    filled(servers, 10)
    async with AsyncKafkaAdminClient(bootstrap_servers=servers) as admin:
        unknown = await GroupLag("g").measure(admin)
        assert (unknown.rows, unknown.total) == ({}, None)
        assert unknown.note == "the group g has committed nothing yet"
        with KafkaConsumer(bootstrap_servers=servers, group_id="g", auto_offset_reset="earliest") as consumer:
            consumer.subscribe(["t"])
            seen = [next(consumer) for _ in range(10)]
            assert len(seen) == 10
        filled(servers, 3)
        assert (await GroupLag("g").measure(admin)).rows == {"t-0": 2, "t-1": 1}


async def test_the_rates_of_topics(broker: EmbeddedBroker) -> None:
    servers, now = broker.bootstrap_servers, [100.0]
    filled(servers, 4)
    async with AsyncKafkaAdminClient(bootstrap_servers=servers) as admin:
        await admin.create_topics({"quiet": {"num_partitions": 1, "replication_factor": 1}})
        rates = TopicRates(["t", "quiet", "none"], now=lambda: now[0])
        first = await rates.measure(admin)
        assert first == Measurement({"t": None, "quiet": None, "none": None}, "not found: none")
        filled(servers, 10)
        now[0] = 104.0
        second = await rates.measure(admin)
        assert second.rows == {"t": 2.5, "quiet": 0.0, "none": None}
        assert second.total == 2.5


class Told:
    """Collects what a sampler tells, and waits for states."""

    def __init__(self) -> None:
        self.states: list[State] = []
        self.problems: list[str] = []
        self._changed = threading.Condition()

    def __call__(self, state: State, found: Measurement | None, problem: str) -> None:
        with self._changed:
            self.states.append(state)
            self.problems.append(problem)
            self._changed.notify_all()

    def until(self, state: State) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: state in self.states[-1:], PATIENCE_S), self.states


def names() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == "kafka-notebook"]


def test_a_broker_that_is_gone_is_told_and_the_thread_ends(broker: EmbeddedBroker) -> None:
    filled(broker.bootstrap_servers, 1)
    configs = {"bootstrap_servers": broker.bootstrap_servers, "request_timeout_ms": 1_000}
    told = Told()
    sampler = Sampler(TopicRates(["t"]), configs, told, 0.01)
    sampler.start()
    sampler.start()
    assert names() == ["kafka-notebook"]
    told.until("live")
    broker.stop()
    told.until("unreachable")
    assert "refused" in told.problems[-1]
    sampler.stop()
    sampler.stop()
    assert names() == []
    assert not sampler.is_running
    sampler.start()  # has ended for good
    assert names() == []


def test_it_ends_at_once_while_no_answer_comes(broker: EmbeddedBroker) -> None:
    dropped = broker.faults.drop_answers(api="Metadata")
    sampler = Sampler(TopicRates(["t"]), {"bootstrap_servers": broker.bootstrap_servers}, Told(), 0.01)
    sampler.start()
    dropped.wait(1, PATIENCE_S)
    sampler.stop()
    assert names() == []


def test_a_sampler_that_is_stopped_before_its_loop_runs_ends() -> None:
    class Never:
        async def measure(self, admin: Any) -> Measurement:
            raise AssertionError("was measured")

    told = Told()
    sampler = Sampler(Never(), {"bootstrap_servers": "127.0.0.1:1"}, told, 0.01)
    sampler.start()
    sampler.stop()
    assert names() == []


@pytest.mark.slow
def test_the_interpreter_ends_while_a_sampler_runs() -> None:
    code = (
        "import threading\n"
        "from kafka.notebook.measurements import TopicRates\n"
        "from kafka.notebook.sampler import Sampler\n"
        "told = threading.Event()\n"
        "Sampler(TopicRates(['t']), {'bootstrap_servers': '127.0.0.1:1', 'bootstrap_timeout_ms': 1},\n"
        "        lambda *_: told.set(), 0.01).start()\n"
        "print(told.wait(60))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n")
    assert "Traceback" not in done.stderr


def test_the_error_without_anywidget_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"LagWidget needs anywidget .*pip install 'kafka-columnar\[notebook\]'"):
        kafka.notebook.LagWidget  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'Lag'"):
        kafka.notebook.Lag  # type: ignore[attr-defined]  # noqa: B018
    assert {"LagWidget", "RateWidget"} <= set(dir(kafka.notebook))
