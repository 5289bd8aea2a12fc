"""The future of a record: a view of the batch that the record is in.

A batch has one lock, one event and one outcome; a record has none of these, so that a future costs next to nothing.
Compiled by Cython, equal (but for the speed) when it runs plain.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

from kafka.errors import IllegalStateError, KafkaError, KafkaTimeoutError
from kafka.producer.metadata import RecordMetadata

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if TYPE_CHECKING:
    from kafka.producer.batch import ProducerBatch

__all__ = ["FutureRecordMetadata", "RecordMetadata", "append_record"]

log = logging.getLogger(__name__)

ON_SUCCESS = 1
ON_FAILURE = 2
ON_BOTH = 3


@cython.cclass
class FutureRecordMetadata:
    """What becomes of one record: a view of its batch, cheap to make and to drop.

    `get`, the callbacks and `await` give a `RecordMetadata` or the error. Callbacks run in the thread that completes
    the batch (the clients' loop), so they have to be quick and must not wait for anything of the producer's; one that
    is added to a future that is done runs at once, in the caller's thread.
    """

    _batch: Any
    _index: cython.Py_ssize_t
    _timestamp_ms: cython.longlong
    _key_size: cython.Py_ssize_t
    _value_size: cython.Py_ssize_t
    _header_size: cython.Py_ssize_t

    @property
    def index(self) -> int:
        """The record's place in the batch it was first put in."""
        index: int = self._index
        return index

    @property
    def is_done(self) -> bool:
        """Whether the record is delivered or has failed."""
        done: bool = self._place()[0].done
        return done

    @property
    def value(self) -> RecordMetadata | None:
        """Where the record is, or None if it is not delivered (yet)."""
        batch, index = self._place()
        return self._metadata(batch, index) if batch.done and batch.error is None else None

    @property
    def exception(self) -> KafkaError | None:
        """Why the record failed, or None if it has not (yet)."""
        batch, index = self._place()
        if not batch.done or batch.error is None:
            return None
        batch.look()
        error: KafkaError | None = batch.error_of(index)
        return error

    def succeeded(self) -> bool:
        """Whether the record is delivered."""
        batch, _ = self._place()
        batch.look()
        return batch.done and batch.error is None

    def failed(self) -> bool:
        """Whether the record has failed."""
        return self.exception is not None

    def retriable(self) -> bool:
        """Whether the record has failed with an error after which sending it again may help."""
        error = self.exception
        return error is not None and error.retriable

    def get(self, timeout: float | None = None) -> RecordMetadata:
        """Wait for the record to be acknowledged and return where it is.

        Arguments:
            timeout: longest wait in seconds; None waits until the record is delivered or has failed, which it does at
                the latest after `delivery_timeout_ms`.

        Raises `KafkaTimeoutError` when the time is up, and else what befell the record.
        """
        batch, index = self._place()
        while not batch.done:
            if batch.home.on_own_loop():
                raise IllegalStateError(
                    "get() on the producer's own event loop (as in a callback) would wait for itself; "
                    "use add_callback() or await"
                )
            if not batch.wait(timeout):
                raise KafkaTimeoutError(
                    f"the record for {batch.name} was not acknowledged within {timeout} seconds; it is still on its way"
                )
            batch, index = self._place()
        if batch.error is not None:
            batch.look()
            raise batch.error_of(index).with_traceback(None)
        return self._metadata(batch, index)

    def add_callback(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> FutureRecordMetadata:
        """Call ``f(*args, record_metadata, **kwargs)`` when the record is delivered; returns this future."""
        self._add(ON_SUCCESS, partial(f, *args, **kwargs) if args or kwargs else f)
        return self

    def add_errback(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> FutureRecordMetadata:
        """Call ``f(*args, error, **kwargs)`` when the record has failed; returns this future."""
        self._add(ON_FAILURE, partial(f, *args, **kwargs) if args or kwargs else f)
        return self

    def add_both(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> FutureRecordMetadata:
        """Call ``f`` in either case, with the `RecordMetadata` or the error last; returns this future."""
        self._add(ON_BOTH, partial(f, *args, **kwargs) if args or kwargs else f)
        return self

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        """Wait on an event loop, which need not be the producer's."""
        if not self.is_done:
            loop = asyncio.get_running_loop()
            arrived = loop.create_future()
            self._add(ON_BOTH, partial(_tell, loop, arrived))
            yield from arrived
        return self.get(0)

    def run_callback(self, when: int, function: Callable[[Any], object]) -> None:
        """Call one callback of a record that is done, if it is meant for this outcome; what it raises is logged."""
        batch, index = self._place()
        try:
            if batch.error is None:
                if when != ON_FAILURE:
                    function(self._metadata(batch, index))
            elif when != ON_SUCCESS:
                function(batch.error_of(index))
        except Exception:
            log.exception("a callback of a record for %s raised", batch.name)

    def _place(self) -> tuple[Any, int]:
        """The batch that the record is in now, and its index there."""
        batch: Any = self._batch
        if batch.parts is None:
            return batch, self._index
        place: tuple[Any, int] = batch.locate(self._index)
        return place

    def _add(self, when: int, function: Callable[[Any], object]) -> None:
        batch: Any = self._batch
        with batch.home.lock:
            batch, _ = self._place()
            if when != ON_SUCCESS:
                batch.look()
            if not batch.done:
                if batch.callbacks is None:
                    batch.callbacks = []
                batch.callbacks.append((self, when, function))
                return
        self.run_callback(when, function)

    def _metadata(self, batch: ProducerBatch, index: int) -> RecordMetadata:
        topic_partition = batch.topic_partition
        return RecordMetadata(
            topic_partition.topic,
            topic_partition.partition,
            topic_partition,
            batch.base_offset + index if batch.base_offset >= 0 else -1,
            batch.log_append_time if batch.log_append_time >= 0 else self._timestamp_ms,
            None,
            self._key_size,
            self._value_size,
            self._header_size,
        )


def _tell(loop: asyncio.AbstractEventLoop, arrived: asyncio.Future[None], outcome: object) -> None:
    """Wake a coroutine that waits for a record, whichever loop it runs on."""

    def wake() -> None:
        if not arrived.done():
            arrived.set_result(None)

    if not loop.is_closed():
        loop.call_soon_threadsafe(wake)


def append_record(
    batch: Any,
    timestamp_ms: cython.longlong,
    key: bytes | None,
    value: bytes | None,
    headers: Any,
    header_size: cython.Py_ssize_t,
) -> FutureRecordMetadata | None:
    """Add a record to an open batch and return its future; None if it does not fit. Needs the accumulator's lock."""
    builder = batch.builder
    if not builder.has_room_for(key, value, headers):
        return None
    future: FutureRecordMetadata = FutureRecordMetadata.__new__(FutureRecordMetadata)
    future._batch = batch
    future._index = builder.append(timestamp_ms, key, value, headers)
    future._timestamp_ms = timestamp_ms
    future._key_size = -1 if key is None else len(key)
    future._value_size = -1 if value is None else len(value)
    future._header_size = header_size
    return future
