"""What happens to producers that nobody has closed: when they are dropped, at exit, and after a fork."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os

from kafka.errors import ForkedClientError, KafkaError
from kafka.net import LoopThread
from kafka.net.fork import after_fork
from kafka.producer.core import ProducerCore

log = logging.getLogger(__name__)

EXIT_TIMEOUT_S = 5.0
"""How long the interpreter's exit waits for records that are not sent yet."""

_live: dict[ProducerCore, LoopThread] = {}


def keep(core: ProducerCore, thread: LoopThread) -> None:
    """Look after a producer that is started."""
    _live[core] = thread


def release(core: ProducerCore) -> None:
    """The producer is closed."""
    _live.pop(core, None)


def drop(core: ProducerCore) -> None:
    """Nobody has the producer any more: send what it has, and close it, without waiting for that."""
    thread = _live.get(core)
    if thread is None:
        return
    try:
        thread.spawn(_close_dropped(core))
    except KafkaError:  # the loop is gone, and everything with it
        release(core)


async def _close_dropped(core: ProducerCore) -> None:
    try:
        await core.close(EXIT_TIMEOUT_S)
    finally:
        release(core)


def _at_exit() -> None:
    """Send what is left, for at most `EXIT_TIMEOUT_S` seconds for all producers together."""
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
    await asyncio.gather(*(core.close(EXIT_TIMEOUT_S) for core in cores), return_exceptions=True)


def _in_child() -> None:
    """The parent's producers are of no use here: every call says so, and none waits."""
    for core in list(_live):
        reason = ForkedClientError(
            f"this producer was made before the process forked, and its connections belong to the parent; make a new "
            f"one in this process (pid {os.getpid()})"
        )
        core.buffer.after_fork(reason)
        core.appender.rebind()
    _live.clear()


after_fork(_in_child)
atexit.register(_at_exit)
