"""The interceptors of one client, called one after the other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from kafka.interceptor.abstract import ConsumerInterceptor, ProducerInterceptor, ProducerRecord
from kafka.structs import OffsetAndMetadata, TopicPartition

log = logging.getLogger(__name__)

I = TypeVar("I", ProducerInterceptor, ConsumerInterceptor)  # noqa: E741  # what the chain is of
T = TypeVar("T")


class _Chain(Generic[I]):
    """Calls each; whatever one raises is logged, at length the first time, and the others are called all the same.

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
        """Have all of them closed."""
        self._tell("close", lambda each: each.close())

    def _tell(self, what: str, call: Callable[[I], object]) -> None:
        for each in self._all:
            try:
                call(each)
            except Exception as error:
                self._failed(each, what, error)

    def _pass_on(self, what: str, value: T, call: Callable[[I, T], T], kind: type) -> T:
        """Hand a value through all of them; what one makes of it that is not of its kind is as if it had raised."""
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
    """Those of a producer."""

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """The record to send."""
        return self._pass_on("on_send", record, lambda each, sent: each.on_send(sent), ProducerRecord)

    def on_acknowledgement(self, metadata: Any, exception: Exception | None) -> None:
        """Tell what became of a record."""
        self._tell("on_acknowledgement", lambda each: each.on_acknowledgement(metadata, exception))


class ConsumerInterceptors(_Chain[ConsumerInterceptor]):
    """Those of a consumer."""

    def on_consume(self, records: dict[TopicPartition, list[Any]]) -> dict[TopicPartition, list[Any]]:
        """The records that the program is given."""
        return self._pass_on("on_consume", records, lambda each, given: each.on_consume(given), dict)

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Tell that offsets are committed."""
        self._tell("on_commit", lambda each: each.on_commit(offsets))
