"""The base classes of interceptors, and the chains that call a client's interceptors in order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from kafka.structs import OffsetAndMetadata, TopicPartition

log = logging.getLogger(__name__)
T = TypeVar("T")


class ProducerRecord(NamedTuple):
    """A record on its way into a producer: the arguments of `send()`, before serialization and partitioning.

    Arguments:
        topic: the record's topic.
        value: the value as passed to ``send()``; None is a tombstone.
        key: the key as passed to ``send()``, or None.
        headers: pairs of a name and bytes or None.
        partition: the requested partition; None lets the partitioner choose.
        timestamp_ms: milliseconds since 1970-01-01 UTC; None means the time at which the record is appended.
    """

    topic: str
    value: Any = None
    key: Any = None
    headers: Sequence[tuple[str, bytes | None]] | None = None
    partition: int | None = None
    timestamp_ms: int | None = None


class ProducerInterceptor:
    """Sees the records that a producer sends, and their results. Exceptions that it raises are logged and ignored.

    Each interceptor receives the record that the previous one returned. Rows of `send_arrow()` are not passed to
    interceptors.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Receive the client's options, without secrets. Called once, before all other methods.

        Arguments:
            configs: the options by keyword name.
        """

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """Return the record to send instead of this one. Called by `send()`, in its thread."""
        return record

    def on_acknowledgement(self, metadata: Any, exception: Exception | None) -> None:
        """Handle a record's acknowledgement or failure. Called in the callback thread, before the future's callbacks.

        Arguments:
            metadata: the `RecordMetadata`; for a failed record only the topic and, if one was chosen, the partition.
            exception: the reason for the failure; None if the record was acknowledged. If `send()` itself raises, this
                method is called first, in the same thread.
        """

    def close(self) -> None:
        """Called when the producer closes, to release what the interceptor holds; does nothing by default."""


class ConsumerInterceptor:
    """Sees the records that a consumer returns, and its commits. Exceptions that it raises are logged and ignored.

    Each interceptor receives the records that the previous one returned. All methods are called in the thread that
    polls, commits or closes. Columns and Arrow batches are not passed to interceptors.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Receive the client's options, without secrets. Called once, before all other methods.

        Arguments:
            configs: the options by keyword name.
        """

    def on_consume(self, records: dict[TopicPartition, list[Any]]) -> dict[TopicPartition, list[Any]]:
        """Return the records that the program receives instead of these, by partition. May omit records.

        Positions move past all records passed in. Iteration calls this with the records that it is about to return, and
        again with those left over if the program then calls `poll()`.
        """
        return records

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Handle an offset commit, explicit or automatic.

        Arguments:
            offsets: the committed offset of each partition, which is the offset of the next record to read.
        """

    def close(self) -> None:
        """Called when the consumer closes, to release what the interceptor holds; does nothing by default."""


I = TypeVar("I", ProducerInterceptor, ConsumerInterceptor)  # noqa: E741  # the kind of interceptors in a chain


class _Chain(Generic[I]):
    """Calls all interceptors. Exceptions are logged, with a traceback the first time, and do not affect the others.

    Arguments:
        given: classes, which are called without arguments, or instances.
        configs: the client's options.
    """

    def __init__(self, given: Sequence[Any], configs: Mapping[str, Any]) -> None:
        self._all: list[I] = [each() if isinstance(each, type) else each for each in given]
        self._told: set[tuple[int, str]] = set()
        for each in self._all:
            configure = getattr(each, "configure", None)
            if configure is not None:
                configure(dict(configs))

    def close(self) -> None:
        """Close all interceptors."""
        self._tell("close", lambda each: each.close())

    def _tell(self, what: str, call: Callable[[I], object]) -> None:
        for each in self._all:
            try:
                call(each)
            except Exception as error:
                self._failed(each, what, error)

    def _pass_on(self, what: str, value: T, call: Callable[[I, T], T], kind: type) -> T:
        """Pass a value through all interceptors. A result that is not of type `kind` is handled like an exception."""
        for each in self._all:
            try:
                changed = call(each, value)
                if not isinstance(changed, kind):
                    raise TypeError(f"it must return a {kind.__name__}, not {changed!r}")
                value = changed
            except Exception as error:
                self._failed(each, what, error)
        return value

    def _failed(self, each: I, what: str, error: Exception) -> None:
        first = (id(each), what) not in self._told
        self._told.add((id(each), what))
        level = logging.WARNING if first else logging.DEBUG
        name = type(each).__name__
        log.log(
            level, "%s() of the interceptor %s has failed: %r", what, name, error, exc_info=error if first else None
        )


class ProducerInterceptors(_Chain[ProducerInterceptor]):
    """The interceptors of a producer."""

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """Return the record to send."""
        return self._pass_on("on_send", record, lambda each, sent: each.on_send(sent), ProducerRecord)

    def on_acknowledgement(self, metadata: Any, exception: Exception | None) -> None:
        """Notify the interceptors of a record's result."""
        self._tell("on_acknowledgement", lambda each: each.on_acknowledgement(metadata, exception))


class ConsumerInterceptors(_Chain[ConsumerInterceptor]):
    """The interceptors of a consumer."""

    def on_consume(self, records: dict[TopicPartition, list[Any]]) -> dict[TopicPartition, list[Any]]:
        """Return the records that the program receives."""
        return self._pass_on("on_consume", records, lambda each, given: each.on_consume(given), dict)

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Notify the interceptors of a commit."""
        self._tell("on_commit", lambda each: each.on_commit(offsets))
