"""Compression off the loop: a batch that takes noticeably long is compressed in another thread before it is sent."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from kafka.net.helper_threads import run_blocking
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.intake.record_buffer import RecordBuffer
from kafka.producer.send.outgoing import OutgoingBatches
from kafka.record import BatchBuilder
from kafka.record.codecs import CODECS

Elsewhere = Callable[[Callable[[], None]], Coroutine[Any, Any, None]]


class BatchCompressor:
    """Compresses what queues send next. On the loop.

    Arguments:
        buffer: the unsent records.
        elsewhere: runs a function without holding up the loop; None: in a thread.
    """

    def __init__(self, buffer: RecordBuffer, elsewhere: Elsewhere | None = None) -> None:
        self._outgoing = OutgoingBatches(buffer)
        self._elsewhere: Elsewhere = elsewhere or run_blocking
        codec = CODECS.get(buffer.options.compression)
        self._least = None if codec is None else codec.slow_from

    def long_work(self, queues: Iterable[PartitionQueue]) -> list[BatchBuilder]:
        """The batches that these queues send next and that are still to be compressed, if that takes long.

        They take no more records then.
        """
        if self._least is None:
            return []
        heads = [self._outgoing.next_builder(queue) for queue in queues]
        builders = [builder for builder in heads if builder is not None and builder.can_compress]
        return builders if sum(builder.size_in_bytes for builder in builders) >= self._least else []

    async def compress(self, builders: list[BatchBuilder]) -> None:
        """Compress batches in another thread. What goes wrong is said when the batch is encoded."""

        def work() -> None:
            for builder in builders:
                builder.compress()

        try:
            await self._elsewhere(work)
        except RuntimeError:  # no thread can be had, as when the interpreter is about to end
            work()
