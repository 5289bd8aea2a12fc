"""Waiting for memory, as a coroutine or in a thread that may block."""

from __future__ import annotations

import asyncio

from kafka.errors import KafkaTimeoutError
from kafka.net.callback_thread import WorkerThread
from kafka.producer.batch.memory_pool import Reservation
from kafka.producer.intake.record_buffer import RecordBuffer


class Reservations:
    """Reserves memory of a buffer for what is sent, as soon as there is enough.

    Arguments:
        buffer: the unsent records.
        max_block_s: longest wait, in seconds.
    """

    def __init__(self, buffer: RecordBuffer, max_block_s: float) -> None:
        self._buffer = buffer
        self._max_block_s = max_block_s

    async def acquire(self, amount: int, reserved: Reservation) -> None:
        """Wait for so many bytes, on the loop, and reserve them.

        Raises `KafkaTimeoutError` after `max_block_ms`, and why the producer takes no more records.
        """
        buffer, memory = self._buffer, self._buffer.memory
        if buffer.refusal is None and memory.reserve(amount, into=reserved):
            return
        if buffer.refusal is None:
            buffer.end_lingering()
            buffer.wake()
            try:
                async with asyncio.timeout(self._max_block_s):
                    await memory.waiter(amount, reserved)
            except TimeoutError:
                raise self._time_is_up(amount) from None
            finally:
                if not reserved.held:
                    memory.wake()  # those behind may need less
        if buffer.refusal is not None:
            raise buffer.refusal

    def acquire_blocking(self, amount: int, reserved: Reservation) -> None:
        """Wait for so many bytes, in a thread that may block, and reserve them. Raises as `acquire`."""
        self._buffer.end_lingering()
        self._buffer.wake()
        in_callback = WorkerThread.is_current()
        if not self._buffer.memory.block(amount, self._max_block_s, self._refuses, reserved, in_callback):
            raise self._buffer.refusal or self._time_is_up(amount)

    def _refuses(self) -> bool:
        """Whether the producer takes no more records."""
        return self._buffer.refusal is not None

    def _time_is_up(self, amount: int) -> KafkaTimeoutError:
        why = self._buffer.first_obstacle()
        error = KafkaTimeoutError(
            f"no {amount} bytes of buffer_memory ({self._buffer.memory.total}) became free within max_block_ms "
            f"({self._max_block_s * 1000:g}): "
            + (
                "records come faster than the brokers take them"
                if why is None
                else f"what is buffered is not sent: {why}"
            )
        )
        error.__cause__ = why
        return error
