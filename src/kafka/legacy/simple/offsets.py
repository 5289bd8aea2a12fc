"""Offsets before a time, as brokers before 0.10.1 told them, found by what today's brokers tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka.errors import FailedPayloadsError
from kafka.legacy.payloads import OffsetRequestPayload, OffsetResponsePayload
from kafka.legacy.simple.apis import FIRST_OFFSETS, Api, OffsetsOfSegments

LATEST = -1
EARLIEST = -2

Ask = Callable[[list[Any], Api], list[Any]]
"""Sends payloads to the leaders of their partitions."""


def offsets_before(ask: Ask, payloads: list[Any]) -> list[Any]:
    """Answer payloads with the offset where each time begins, and where more are wanted, with the first one as well.

    A time behind the last message is where the partition ends. `ask` sends payloads to leaders.
    """
    answers = ask(payloads, FIRST_OFFSETS)
    answers = _filled(ask, payloads, answers, LATEST, lambda payload, found: not found)
    return _filled(ask, payloads, answers, EARLIEST, lambda payload, found: 0 < len(found) < payload.max_offsets)


def _filled(
    ask: Ask, payloads: list[Any], answers: list[Any], time: int, wanted: Callable[[Any, tuple[int, ...]], bool]
) -> list[Any]:
    """The answers, with the offset at `time` added to those for which it is wanted."""
    lacking = [
        number
        for number, (payload, answer) in enumerate(zip(payloads, answers, strict=True))
        if payload.time != time and not _is_complete(answer) and wanted(payload, answer.offsets)
    ]
    if not lacking:
        return answers
    more = ask([_at(payloads[number], time) for number in lacking], FIRST_OFFSETS)
    filled = list(answers)
    for number, answer in zip(lacking, more, strict=True):
        filled[number] = answer if _is_error(answer) else _joined(filled[number], answer)
    return filled


def _at(payload: Any, time: int) -> OffsetRequestPayload:
    return OffsetRequestPayload(payload.topic, payload.partition, time, 1)


def _is_complete(answer: Any) -> bool:
    """Whether nothing is added: it is an error, or what brokers gave then."""
    return _is_error(answer) or isinstance(answer, OffsetsOfSegments)


def _is_error(answer: Any) -> bool:
    return isinstance(answer, FailedPayloadsError) or bool(answer.error)


def _joined(first: OffsetResponsePayload, second: OffsetResponsePayload) -> OffsetResponsePayload:
    offsets: Any = (*dict.fromkeys((*first.offsets, *second.offsets)),)  # a tuple, as it was
    return first._replace(offsets=offsets)
