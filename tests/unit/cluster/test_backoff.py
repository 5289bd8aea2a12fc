import asyncio
import logging
import random

import pytest

from kafka.cluster import Backoff, retry
from kafka.cluster.flood import FloodGate
from kafka.errors import KafkaConnectionError, KafkaTimeoutError, TopicAlreadyExistsError

NO_PAUSE = Backoff(0, 0)


def test_pauses_double_up_to_the_limit_with_a_fifth_of_jitter():
    backoff = Backoff(100, 1_000, random.Random(1))
    for failures, middle in ((1, 0.1), (2, 0.2), (3, 0.4), (4, 0.8), (5, 1.0), (500, 1.0)):
        for _ in range(50):
            assert middle * 0.8 <= backoff.seconds(failures) <= middle * 1.2
    assert backoff.seconds(0) == 0


def test_pauses_differ():
    backoff = Backoff(100, 1_000, random.Random(1))
    assert len({backoff.seconds(3) for _ in range(20)}) > 10


class Operation:
    def __init__(self, *outcomes):
        self.outcomes, self.calls = list(outcomes), 0

    async def __call__(self):
        self.calls += 1
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def soon(seconds=5.0):
    return asyncio.get_running_loop().time() + seconds


async def test_retriable_errors_are_tried_again_and_shown_to_the_listener():
    seen = []

    async def on_error(error):
        seen.append(str(error))

    operation = Operation(KafkaConnectionError("one"), KafkaConnectionError("two"), "done")
    assert await retry(operation, soon(), backoff=NO_PAUSE, on_error=on_error) == "done"
    assert seen == ["KafkaConnectionError: one", "KafkaConnectionError: two"]


async def test_other_errors_are_raised_at_once():
    operation = Operation(TopicAlreadyExistsError("t"))
    with pytest.raises(TopicAlreadyExistsError):
        await retry(operation, soon(), backoff=NO_PAUSE)
    assert operation.calls == 1


async def test_when_the_time_is_up_the_last_error_is_told():
    with pytest.raises(KafkaTimeoutError, match="refused") as caught:
        await retry(Operation(KafkaConnectionError("refused")), soon(0.02), backoff=Backoff(5, 5))
    assert isinstance(caught.value.__cause__, KafkaConnectionError)


async def test_an_operation_that_hangs_is_ended_at_the_deadline():
    async def hang():
        await asyncio.Event().wait()

    with pytest.raises(KafkaTimeoutError, match="no answer yet"):
        await retry(hang, soon(0.01))


async def test_a_cause_that_repeats_is_logged_once_and_then_with_its_number(caplog, monkeypatch):
    loop, now = asyncio.get_running_loop(), [100.0]
    monkeypatch.setattr(loop, "time", lambda: now[0])
    gate = FloodGate(logging.getLogger("flood"), every_s=30)
    with caplog.at_level(logging.INFO, "flood"):
        for _ in range(10):
            gate.warning("a", "a failed")
        gate.warning("b", "b failed")
        now[0] = 131.0
        gate.warning("a", "a failed")
        gate.over("a", "a works")
        gate.over("a", "a works")
    assert [record.getMessage() for record in caplog.records] == [
        "a failed",
        "b failed",
        "a failed (and 9 times more since the last line about it)",
        "a works",
    ]
