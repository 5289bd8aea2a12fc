"""Reads the newest dead letters of a pipeline for its page.

They are read again only if the pipeline has written more of them, or after a while, because each read opens a consumer.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from contextlib import aclosing

from kafka.pipelines.record_headers import ATTEMPT, CAUSE, PIPELINE, RULE, Position, added_headers, position_of
from kafka.pipelines.report.dead_letter_list import DeadLetterLike, chosen
from kafka.ui.search import Found, Progress, Search, Searches

_READ = 200
"""Number of records that are read, because a topic may contain the dead letters of several pipelines."""

_MEMORY_S = 60.0
"""Seconds until dead letters are read again, because other programs may delete or add some."""


@dataclasses.dataclass(frozen=True, slots=True)
class FoundDeadLetter:
    """A dead letter that was read from its topic; see `kafka.pipelines.dead_letters.DeadLetter`."""

    position: Position
    source: Position | None
    pipeline: str
    rules: tuple[str, ...]
    cause: str
    attempt: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


def dead_letter_of(topic: str, record: Found) -> FoundDeadLetter:
    """Interpret a record as a dead letter. A record of any content is accepted."""
    texts: dict[str, list[str]] = {}
    for name, value in added_headers(record.headers):
        texts.setdefault(name, []).append((value or b"").decode("utf-8", "replace"))
    attempt = texts.get(ATTEMPT, [""])[-1]
    return FoundDeadLetter(
        position=Position(topic, record.partition, record.offset),
        source=position_of(record.headers),
        pipeline=texts.get(PIPELINE, [""])[-1],
        rules=tuple(dict.fromkeys(texts.get(RULE, ()))),
        cause=texts.get(CAUSE, [""])[-1],
        attempt=int(attempt) if attempt.isascii() and attempt.isdecimal() and len(attempt) < 10 else 0,
        timestamp_ms=record.timestamp,
        key=record.key,
        value=record.value,
        headers=tuple(record.headers),
    )


class DeadLetterReader:
    """Reads the newest dead letters of pipelines, and keeps them.

    Arguments:
        searches: reads records.
        clock: returns the time in seconds.
    """

    def __init__(self, searches: Searches, clock: Callable[[], float] = time.monotonic) -> None:
        self._searches = searches
        self._clock = clock
        self._kept: dict[tuple[str, str], tuple[int, float, list[DeadLetterLike]]] = {}

    async def newest(self, topic: str, pipeline: str, written: int) -> list[DeadLetterLike]:
        """Return the newest dead letters of a pipeline, with different rules if possible.

        Arguments:
            topic: the topic of the dead letters.
            pipeline: the name of the pipeline.
            written: how many dead letters the pipeline has written, as far as known.

        Raises `KafkaError` and `TimeoutError`.
        """
        kept = self._kept.get((topic, pipeline))
        if kept is not None and kept[0] == written and self._clock() - kept[1] < _MEMORY_S:
            return kept[2]
        found: list[FoundDeadLetter] = []
        async with aclosing(self._searches.run(Search(topic, most=_READ), Progress())) as batches:
            async for records in batches:
                found += [dead_letter_of(topic, each) for each in records]
        mine = chosen([each for each in found if each.pipeline == pipeline])
        self._kept[topic, pipeline] = (written, self._clock(), mine)
        return mine
