"""Handles producers that were never closed: when they are garbage-collected, at exit, and after a fork."""

from __future__ import annotations

import asyncio
import atexit
import logging
import warnings
import weakref
from collections.abc import AsyncGenerator

from kafka.errors import KafkaError
from kafka.net import LoopThread
from kafka.net.fork import after_fork, forked_client_error
from kafka.producer.core import ProducerCore

log = logging.getLogger(__name__)

EXIT_TIMEOUT_S = 5.0
"""Maximum time in seconds to wait for unsent records when the interpreter exits."""

_NEVER_STOPPED = "an AsyncKafkaProducer was never stopped: await stop(), or use it as 'async with'"

_started: weakref.WeakSet[ProducerCore] = weakref.WeakSet()
"""The asyncio producers that have been started."""
_live: dict[ProducerCore, LoopThread] = {}


def register(core: ProducerCore, thread: LoopThread) -> None:
    """Register a started producer, to be closed if the program does not close it."""
    _live[core] = thread


def unregister(core: ProducerCore) -> None:
    """Forget a closed producer."""
    _live.pop(core, None)


def close_dropped(core: ProducerCore) -> None:
    """Send the records of a garbage-collected producer and close it, in the background."""
    thread = _live.get(core)
    if thread is None:
        return
    try:
        thread.spawn(_close(core))
    except KafkaError:  # the loop has stopped, so nothing can be sent
        unregister(core)


async def _close(core: ProducerCore) -> None:
    try:
        await core.close(EXIT_TIMEOUT_S)
    finally:
        unregister(core)


async def close_when_dropped(core: ProducerCore) -> AsyncGenerator[None]:
    """Close an asyncio producer that was not stopped, when it is garbage-collected or `asyncio.run` ends.

    An event loop closes its remaining asynchronous generators when it shuts down. At this point, it no longer runs
    other tasks of the program, but still sends and receives. Only the producer may reference the returned generator.
    """
    _started.add(core)
    try:
        yield
    finally:
        if not core.is_closed:
            unsent = core.unsent()
            if unsent:
                log.warning("an AsyncKafkaProducer was never stopped; trying to deliver its last %d record(s)", unsent)
            try:
                await core.close(EXIT_TIMEOUT_S)
            finally:
                warnings.warn(_NEVER_STOPPED, ResourceWarning, stacklevel=1)


def warn_if_lost(core: ProducerCore) -> None:
    """Log the lost records if an asyncio producer was never stopped and its loop is closed."""
    if not core.is_closed and core.loop_is_closed and core in _started:
        _started.discard(core)
        unsent = core.unsent()
        if unsent:
            log.error("%s: %d record(s) are lost", _NEVER_STOPPED, unsent)
        warnings.warn(_NEVER_STOPPED, ResourceWarning, stacklevel=1)


def _at_exit() -> None:
    """Send the remaining records, for at most `EXIT_TIMEOUT_S` seconds in total."""
    for left in list(_started):
        warn_if_lost(left)
    by_thread: dict[LoopThread, list[ProducerCore]] = {}
    for core, thread in list(_live.items()):
        by_thread.setdefault(thread, []).append(core)
    _live.clear()
    for thread, cores in by_thread.items():
        try:
            thread.run(_close_all(cores), EXIT_TIMEOUT_S + 1)
        except KafkaError as error:
            log.error("records may be lost: a producer that was not closed could not be closed at exit: %s", error)


async def _close_all(cores: list[ProducerCore]) -> None:
    reason = "the interpreter is about to exit, and has closed the producer"
    await asyncio.gather(*(core.close(EXIT_TIMEOUT_S, reason=reason) for core in cores), return_exceptions=True)


def _in_child() -> None:
    """In a forked child, make every call to the parent's producers raise an error instead of waiting."""
    for core in [*_live, *_started]:
        core.buffer.after_fork(forked_client_error("producer"))
        core.appender.rebind()
    _live.clear()
    _started.clear()


after_fork(_in_child)
atexit.register(_at_exit)
