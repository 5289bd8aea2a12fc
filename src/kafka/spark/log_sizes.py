"""The sizes of logs for progress reports, asked for in a thread, so that no micro-batch waits for them."""

import logging
import threading
from collections.abc import Callable, Collection, Mapping

from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

FRESH_S = 60.0
"""Brokers look through their folders for an answer, so they are asked no more often."""

Ask = Callable[[Collection[TopicPartition]], Mapping[TopicPartition, int]]
"""Gives the bytes of each log, as far as brokers tell them."""


class LogSizes:
    """What brokers last said about the sizes of logs.

    Arguments:
        ask: looks them up, in a thread of its own.
        clock: seconds that only grow.
    """

    def __init__(self, ask: Ask, clock: Callable[[], float]) -> None:
        self._ask = ask
        self._clock = clock
        self._asked_at: float | None = None
        self._thread: threading.Thread | None = None
        self._known: Mapping[TopicPartition, int] = {}

    def of(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The sizes that are known; they are looked up anew for later calls where that is due. Returns at once."""
        now = self._clock()
        if self._asked_at is None or now - self._asked_at >= FRESH_S:
            self._begin(tuple(partitions), now)
        known = self._known
        return {each: known[each] for each in partitions if each in known}

    def _begin(self, partitions: Collection[TopicPartition], now: float) -> None:
        if self._thread is not None and self._thread.is_alive():
            return
        thread = threading.Thread(target=self._work, args=(partitions,), name="kafka-spark-log-sizes", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # there are too many, or the interpreter is about to end
            log.debug("the sizes of logs are not requested: %s", error)
        else:
            self._asked_at, self._thread = now, thread

    def _work(self, partitions: Collection[TopicPartition]) -> None:
        try:
            self._known = self._ask(partitions)
        except Exception:  # a report without sizes is a report
            log.debug("could not request the sizes of logs", exc_info=True)
