"""The base classes of interceptors, and the chains that call all interceptors of one client in order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from kafka.structs import OffsetAndMetadata, TopicPartition

log = logging.getLogger(__name__)
T = TypeVar("T")


class ProducerRecord(NamedTuple):
    """A record on its way into a producer: the arguments of `send()`, before serializers and the partitioner.

    Arguments:
        topic: where it goes.
        value: as it was given to ``send()``; None is a tombstone.
        key: as it was given; None where it has none.
        headers: pairs of a name and bytes or None.
        partition: the one that was asked for; None: the partitioner chooses.
        timestamp_ms: milliseconds since 1970; None: when it is appended.
    """

    topic: str
    value: Any = None
    key: Any = None
    headers: Sequence[tuple[str, bytes | None]] | None = None
    partition: int | None = None
    timestamp_ms: int | None = None


class ProducerInterceptor:
    """Sees the records that a producer sends, and their results. Exceptions that it raises are logged and ignored.

    With several, each is given what the one before it has returned. Rows of `send_arrow()` are not seen.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Receive the client's options without secrets; called once, first.

        Arguments:
            configs: by the names of the keyword arguments.
        """

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """Return the record to send in place of this one. Called within `send()`, in its thread."""
        return record

    def on_acknowledgement(self, metadata: Any, exception: Exception | None) -> None:
        """Handle a record's acknowledgement or failure. Called in the callbacks' thread, before the future's callbacks.

        Arguments:
            metadata: the `RecordMetadata`; of one that has failed only topic and, if it was chosen, partition.
            exception: why it has failed; None: it was acknowledged. Where `send()` itself raises, this is called first,
                in the same thread.
        """

    def close(self) -> None:
        """Handle the closing of the producer."""


class ConsumerInterceptor:
    """Sees the records that a consumer returns, and its commits. Exceptions that it raises are logged and ignored.

    With several, each is given what the one before it has returned. All of it is called in the thread that polls, or
    commits, or closes. Columns and Arrow batches are not seen.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Receive the client's options without secrets; called once, first.

        Arguments:
            configs: by the names of the keyword arguments.
        """

    def on_consume(self, records: dict[TopicPartition, list[Any]]) -> dict[TopicPartition, list[Any]]:
        """Return the records that the program receives instead of these, by partition; may omit some.

        Positions move past all of them. While iterating, this is called with what is about to be gone through, again
        with what was not returned where the program turns to `poll()`.
        """
        return records

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Handle a commit of offsets, by a call or automatic.

        Arguments:
            offsets: partition to what is committed, the offset of the next record.
        """

    def close(self) -> None:
        """Handle the closing of the consumer."""


I = TypeVar("I", ProducerInterceptor, ConsumerInterceptor)  # noqa: E741  # the kind of interceptors in a chain


class _Chain(Generic[I]):
    """Calls all interceptors; exceptions are logged, with a traceback the first time, and do not affect the others.

    Arguments:
        given: classes, which are made without arguments, or objects.
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
        """Pass a value through all interceptors; a result that is not of type `kind` is handled like an exception."""
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
