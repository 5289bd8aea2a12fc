"""`kafka.future.Future`."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

import kafka.future
from kafka.errors import KafkaConnectionError
from kafka.future import Future
from kafka.producer.future import FutureRecordMetadata


def test_callbacks_run_in_order_and_late_ones_immediately() -> None:
    told: list[Any] = []
    future = Future()
    assert future.add_callback(told.append) is future
    future.add_callback(lambda *args, **kwargs: told.append((args, kwargs)), "first", key=1)
    future.add_errback(lambda error: told.append("wrong"))
    assert (future.is_done, future.succeeded(), future.failed()) == (False, False, False)
    assert future.success(5) is future
    future.add_both(told.append)
    assert told == [5, (("first", 5), {"key": 1}), 5]
    assert (future.value, future.exception) == (5, None)
    assert (future.is_done, future.succeeded(), future.failed(), future.retriable()) == (True, True, False, False)


def test_failure_stores_the_error() -> None:
    told: list[Any] = []
    future = Future().add_both(told.append)
    future.failure(KafkaConnectionError)
    assert told == [future.exception]
    assert isinstance(future.exception, KafkaConnectionError)
    assert (future.succeeded(), future.failed(), future.retriable()) == (False, True, True)
    assert not Future().failure(ValueError("x")).retriable()


def test_it_can_be_completed_only_once() -> None:
    future = Future().success(None)
    with pytest.raises(AssertionError, match="already complete"):
        future.success(None)
    with pytest.raises(AssertionError, match="already complete"):
        future.failure(ValueError())
    with pytest.raises(TypeError, match="without an exception"):
        Future().failure("no error")  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [None, ValueError("x")])
def test_chain_completes_another_future(error: Exception | None) -> None:
    first, second = Future(), Future()
    first.chain(second)
    if error is None:
        first.success(1)
    else:
        first.failure(error)
    assert (second.value, second.exception) == (first.value, error)


def test_callback_errors_are_logged_or_raised(caplog: pytest.LogCaptureFixture) -> None:
    told: list[Any] = []
    with caplog.at_level(logging.ERROR, "kafka.future"):
        Future().add_callback(lambda value: 1 / value).add_callback(told.append).success(0)
    assert "Error processing callback" in caplog.text
    assert told == [0]

    class Raising(Future):
        error_on_callbacks = True

    with pytest.raises(ZeroDivisionError):
        Raising().add_callback(lambda value: 1 / value).success(0)


async def test_it_can_be_awaited_and_completed_in_another_thread() -> None:
    future = Future()
    threading.Timer(0, future.success, (5,)).start()
    assert await future == 5
    with pytest.raises(ValueError, match="why"):
        await Future().failure(ValueError("why"))


def test_a_producers_future_is_an_instance() -> None:
    assert issubclass(FutureRecordMetadata, kafka.future.Future)


@pytest.mark.parametrize("is_failed", [False, True])
def test_a_done_future_can_be_awaited_without_a_loop(is_failed: bool) -> None:
    future = Future().failure(KeyError("k")) if is_failed else Future().success(5)

    async def wait() -> Any:
        return await future

    with pytest.raises(KeyError if is_failed else StopIteration) as ended:
        wait().send(None)
    assert is_failed or ended.value.args == (5,)
