"""A watch times what moves, and nothing else; a job's process says what came of it."""

from __future__ import annotations

import dataclasses

import pytest
from bench import runner as rounds
from bench.clients import ours
from bench.figures import Row
from bench.job import Job, Result, Watch, run
from bench.runner import JobFailed, Runner, WrongAnswer
from bench.tasks import Task, row
from bench.topics import Topic
from bench.trips import WARM_UP_TRIPS, round_trips
from bench.workload import Sums, expected, make_records

pytestmark = pytest.mark.once

JOB = Job("poll", "ours", "127.0.0.1:1", "topic", 4, 300, 100, "none")
TOPIC = Topic("none", 100, 300)
TASK = Task("poll", "`poll()`", ("ours", "confluent"), (TOPIC,))


def test_the_first_records_are_not_timed() -> None:
    watch, (keys, values) = Watch(JOB, Sums(100)), make_records(300, 100)
    assert not watch.done()
    watch.sums.add(keys[:100], values[:100])
    assert not watch.done()
    watch.sums.add(keys[100:], values[100:])
    assert watch.done()
    result = watch.result("1")
    assert (result.count, result.timed) == (300, 200)
    assert result.seconds > 0
    assert result.checksum == expected(300, 100).checksum


def test_what_comes_at_once_cannot_be_timed() -> None:
    watch = Watch(JOB, Sums(100))
    watch.sums.add(*make_records(300, 100))
    with pytest.raises(RuntimeError, match="all 300 records came at once"):
        watch.done()


def test_trips_are_told_without_those_of_the_warm_up() -> None:
    watch, held = Watch(JOB, Sums(100)), list[tuple[bytes, bytes]]()

    def receive() -> list[tuple[bytes, bytes]]:
        return [held.pop()] if held else []

    round_trips(JOB, watch, lambda key, value: held.append((key, value)), receive)
    result = watch.result("1")
    assert len(result.latencies_ms) == JOB.count - WARM_UP_TRIPS
    assert set(result.parts_ms) == {"acknowledged", "received"}
    assert result.checksum == expected(300, 100).checksum


def test_a_record_that_comes_twice_is_noticed() -> None:
    with pytest.raises(RuntimeError, match="2 records came back"):
        round_trips(JOB, Watch(JOB, Sums(100)), lambda key, value: None, lambda: [(b"k", b"v")] * 2)


def test_with_a_warm_up_the_second_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    watches: list[Watch] = []
    topics: list[str] = []

    def poll(job: Job, watch: Watch) -> None:
        topics.append(job.topic)
        watches.append(watch)
        watch.start()
        watch.sums.add(*make_records(100 * len(watches), 100))
        watch.stop()

    monkeypatch.setattr(ours, "poll", poll)
    assert run(JOB).count == 100
    assert run(dataclasses.replace(JOB, warm_up="another")).count == 300
    assert topics == ["topic", "another", "topic"]
    assert len(watches) == 3


def run_with(monkeypatch: pytest.MonkeyPatch, **answers: Result | Exception) -> tuple[Row, list[str]]:
    """Run two rounds with clients that answer what they are told to."""
    asked: list[str] = []

    def job(self: Runner, task: str, client: str, *rest: object) -> Result:
        asked.append(client)
        answer = answers[client]
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(Runner, "_job", job)
    runner, done = Runner("127.0.0.1:1", lambda text: None), row(TASK, TOPIC)
    for _ in range(2):
        runner.round(TASK, TOPIC, done)
    return done, asked


def result(count: int = 300, checksum: str = "") -> Result:
    return Result(count, count, 1.0, checksum or expected(300, 100).checksum, 1.0, 1.0, "1")


def test_every_second_round_has_the_opposite_order(monkeypatch: pytest.MonkeyPatch) -> None:
    done, asked = run_with(monkeypatch, ours=result(), confluent=result())
    assert asked == ["ours", "confluent", "confluent", "ours"]
    assert [len(done.results[client]) for client in ("ours", "confluent")] == [2, 2]


def test_clients_take_turns_and_who_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    done, asked = run_with(monkeypatch, ours=result(), confluent=JobFailed("no brokers"))
    assert asked == ["ours", "confluent", "ours"]
    assert len(done.results["ours"]) == 2
    assert done.failures == {"confluent": "no brokers"}


@pytest.mark.parametrize("wrong", [result(count=299), result(checksum="00000000")])
def test_a_wrong_answer_ends_the_run(monkeypatch: pytest.MonkeyPatch, wrong: Result) -> None:
    with pytest.raises(WrongAnswer, match="confluent on 100 bytes, none: "):
        run_with(monkeypatch, ours=result(), confluent=wrong)


@pytest.mark.slow
def test_a_process_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "process_environment", lambda client: {"PYTHONPATH": ""})
    topic = Topic("none", 102, 4)
    done = row(TASK, topic)
    Runner("no address", lambda text: None).round(TASK, topic, done)
    assert "multiple of 4" in done.failures["ours"]
