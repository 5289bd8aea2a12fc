"""The end of a producer's block: it tells of records that were not delivered, and hides no error of the block."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from typing import Any

import pytest

from kafka import AsyncKafkaProducer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import (
    IllegalStateError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    NotEnoughReplicasError,
    TopicAuthorizationFailedError,
    TransactionAbortableError,
)
from kafka.producer.base_producer import ContextExit

PATIENCE_S = 60
Block = Callable[[Any], Awaitable[object]]
FACES = pytest.mark.parametrize("face", [KafkaProducer, AsyncKafkaProducer])


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        yield broker


@pytest.fixture
def refusing(broker: EmbeddedBroker) -> EmbeddedBroker:
    """A broker that takes no records."""
    broker.faults.fail(TopicAuthorizationFailedError, api="Produce")
    return broker


async def of(call: Any) -> Any:
    """What a call of either face gives."""
    return await call if isinstance(call, Coroutine) else call


async def leave(face: type, broker: EmbeddedBroker, block: Block, **options: Any) -> Any:
    """Run a block of a producer to its end; returns the producer."""
    if issubclass(face, KafkaProducer):
        with face(bootstrap_servers=broker.bootstrap_servers, **options) as producer:
            await block(producer)
    else:
        async with face(bootstrap_servers=broker.bootstrap_servers, **options) as producer:
            await block(producer)
    return producer


def unseen(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The log lines of failures that nobody has looked at."""
    return [line for line in caplog.messages if line.endswith("(the futures were never checked)")]


@FACES
async def test_a_lost_record_is_raised_and_the_producer_is_closed(face: type, refusing: EmbeddedBroker) -> None:
    kept: list[Any] = []

    async def block(producer: Any) -> None:
        kept.append(producer)
        for _ in range(3):
            await of(producer.send("t", b"x"))

    with pytest.raises(TopicAuthorizationFailedError, match=r"3 record\(s\) in \d batch\(es\) were not delivered"):
        await leave(face, refusing, block)
    assert kept[0]._core.is_closed
    with pytest.raises(AssertionError, match="the producer is closed"):
        await of(kept[0].send("t", b"y"))


@FACES
async def test_an_oversized_record_and_lost_arrow_rows_are_raised_too(face: type, refusing: EmbeddedBroker) -> None:
    async def too_large(producer: Any) -> None:
        await of(producer.send("t", bytes(3_000_000)))

    with pytest.raises(MessageSizeTooLargeError):
        await leave(face, refusing, too_large)

    async def rows(producer: Any) -> None:
        await of(producer.send_arrow("t", {"value": [b"x"] * 10}))

    with pytest.raises(TopicAuthorizationFailedError, match=r"10 record\(s\)"):
        await leave(face, refusing, rows)


@FACES
async def test_the_error_of_the_block_propagates_and_the_failure_is_logged(
    face: type, refusing: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    async def block(producer: Any) -> None:
        await of(producer.send("t", b"x"))
        raise ZeroDivisionError("the block's own")

    with pytest.raises(ZeroDivisionError, match="the block's own"):
        await leave(face, refusing, block)
    assert len(unseen(caplog)) == 1


@FACES
async def test_failures_that_are_seen_or_held_are_not_raised(
    face: type, refusing: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    """As by `flush`; what is held is logged."""
    told: list[Any] = []

    async def looks(producer: Any) -> None:
        (await of(producer.send("t", b"x"))).add_errback(told.append)

    await leave(face, refusing, looks)
    assert [type(each) for each in told] == [TopicAuthorizationFailedError]
    assert not unseen(caplog)

    async def holds(producer: Any) -> None:
        told.append(await of(producer.send("t", b"x")))

    await leave(face, refusing, holds)
    assert len(unseen(caplog)) == 1


@FACES
async def test_failures_raised_by_flush_are_not_raised_again(face: type, refusing: EmbeddedBroker) -> None:
    async def block(producer: Any) -> None:
        await of(producer.send("t", b"x"))
        with pytest.raises(TopicAuthorizationFailedError):
            await of(producer.flush())

    assert (await leave(face, refusing, block))._core.is_closed


@FACES
async def test_a_producer_closed_inside_the_block_raises_nothing_at_its_end(
    face: type, refusing: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    async def block(producer: Any) -> None:
        await of(producer.send("t", b"x"))
        await of(producer.close())

    await leave(face, refusing, block)
    assert len(unseen(caplog)) == 1


@FACES
async def test_an_open_transaction_is_aborted_and_a_failed_one_raised_once(face: type, broker: EmbeddedBroker) -> None:
    async def leaves_it_open(producer: Any) -> None:
        await of(producer.init_transactions())
        await of(producer.begin_transaction())
        await of(producer.send("t", b"x"))

    await leave(face, broker, leaves_it_open, transactional_id="open")
    broker.faults.fail(TopicAuthorizationFailedError, api="Produce")

    async def fails(producer: Any) -> None:
        await of(producer.init_transactions())
        await of(producer.begin_transaction())
        await of(producer.send("t", b"x"))
        with pytest.raises(TransactionAbortableError):
            await of(producer.commit_transaction())
        await of(producer.abort_transaction())

    await leave(face, broker, fails, transactional_id="failed")


@FACES
async def test_an_overridden_close_is_used_and_its_failures_raised(face: type, broker: EmbeddedBroker) -> None:
    class Hurried(face):  # type: ignore[misc, valid-type]
        def close(self, timeout: float | None = None, null_logger: bool = False) -> Any:
            return super().close(0)

    async def block(producer: Any) -> None:
        await of(producer.partitions_for("t"))
        broker.faults.drop_answers(api="Produce")
        await of(producer.send("t", b"x"))

    with pytest.raises(KafkaTimeoutError, match="the producer was closed before the record was acknowledged"):
        await leave(Hurried, broker, block)


async def test_running_callbacks_are_reported(broker: EmbeddedBroker) -> None:
    class Hurried(KafkaProducer[Any, Any]):
        def close(self, timeout: float | None = None, null_logger: bool = False) -> None:
            super().close(0.05)

    async def block(producer: Any) -> None:
        future = producer.send("t", b"x").add_callback(lambda _: release.wait(PATIENCE_S))
        unavailable.remove()  # only now, as a callback that comes too late is called at once, in this thread
        future.get(PATIENCE_S)

    unavailable = broker.faults.fail(NotEnoughReplicasError, api="Produce")
    release = threading.Event()
    try:
        with pytest.raises(KafkaTimeoutError, match="but callbacks are still running"):
            await leave(Hurried, broker, block)
    finally:
        release.set()


async def test_a_cancelled_stop_propagates_and_closing_continues(broker: EmbeddedBroker) -> None:
    rule = broker.faults.delay(0.1, api="Produce")
    kept: list[Any] = []

    async def block(producer: Any) -> None:
        kept.append(producer)
        await producer.send("t", b"x")
        asyncio.get_running_loop().call_soon(task.cancel)

    task = asyncio.ensure_future(leave(AsyncKafkaProducer, broker, block))
    with pytest.raises(asyncio.CancelledError):
        await task
    rule.remove()
    await kept[0].stop()
    assert kept[0]._core.unsent() == 0


def test_an_interrupt_of_closing_propagates_and_failures_are_logged() -> None:
    for block_failed in (False, True):
        core = FakeCore()
        end = ContextExit(core, ZeroDivisionError() if block_failed else None)  # type: ignore[arg-type]
        with pytest.raises(KeyboardInterrupt), end:
            raise KeyboardInterrupt
        assert core.kept == [not block_failed, False]
        assert core.raised == 0


def test_an_error_of_closing_is_raised_or_logged_if_the_block_failed(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(IllegalStateError, match="cannot wait here"), ContextExit(None, None):
        raise IllegalStateError("cannot wait here")
    assert not caplog.records
    with ContextExit(None, ZeroDivisionError()):
        raise IllegalStateError("cannot wait here")
    (logged,) = caplog.records
    assert (logged.levelno, logged.getMessage()) == (
        logging.WARNING,
        "closing a producer whose block has failed: cannot wait here",
    )


def test_a_closed_generator_raises_nothing_and_an_exhausted_one_does(refusing: EmbeddedBroker) -> None:
    def sends() -> Generator[int]:
        with KafkaProducer(bootstrap_servers=refusing.bootstrap_servers) as producer:
            for number in range(2):
                producer.send("t", b"x")
                yield number

    left = sends()
    assert next(left) == 0
    left.close()
    with pytest.raises(TopicAuthorizationFailedError):
        list(sends())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_leaves_the_block_without_closing_and_the_parent_raises(refusing: EmbeddedBroker) -> None:
    producer = KafkaProducer(bootstrap_servers=refusing.bootstrap_servers)
    producer.send("t", b"x")
    outcomes = producer._core._outcomes
    assert outcomes is not None
    while not outcomes.failures._reports:
        producer.partitions_for("t")
    child = os.fork()
    if not child:
        signal.alarm(PATIENCE_S)
        try:
            producer.__exit__(None, None, None)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.raises(TopicAuthorizationFailedError):
        producer.__exit__(None, None, None)


class FakeCore:
    """What `ContextExit` needs of a producer's core."""

    def __init__(self) -> None:
        self.kept: list[bool] = []
        self.raised = 0

    @property
    def keep_failures(self) -> bool:
        return self.kept[-1]

    @keep_failures.setter
    def keep_failures(self, kept: bool) -> None:
        self.kept.append(kept)

    def raise_failures(self) -> None:
        self.raised += 1
