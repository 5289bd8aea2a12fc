"""Delivery failures that were never checked: logged once per batch, and raised by `flush()`."""

from __future__ import annotations

import logging
from collections.abc import Callable

from kafka.errors import KafkaError

log = logging.getLogger(__name__)

_KEPT = 1_000


class FailureReport:
    """The report of a failed batch, which outlives its futures.

    Arguments:
        error: why the batch failed.
        records: number of records in the batch.
        text: a one-line description.
        seen: whether an errback has received the error.
        batch: returns the batch while one of its futures is referenced.
    """

    __slots__ = ("_batch", "error", "logged", "records", "seen", "text")

    def __init__(
        self, error: KafkaError, records: int, text: str, seen: bool, batch: Callable[[], object | None]
    ) -> None:
        self._batch = batch
        self.error = error
        self.records = records
        self.text = text
        self.seen = seen
        self.logged = False

    @property
    def is_held(self) -> bool:
        """Whether a future of the batch is still referenced, so that it may be checked."""
        return self._batch() is not None

    def log_unseen(self) -> None:
        """Log the failure if it has neither been checked nor logged before."""
        if not self.seen and not self.logged:
            self.logged = True
            fields = {"kafka_error": type(self.error).__name__, "kafka_records": self.records}
            log.error("%s (the futures were never checked)", self.text, extra=fields)


class UnseenFailures:
    """The failed batches since the last `raise_unseen`."""

    def __init__(self) -> None:
        self._reports: list[FailureReport] = []
        self._more_batches = 0
        self._more_records = 0

    def add(self, report: FailureReport) -> None:
        """Keep the report of a failed batch. Beyond a thousand unchecked reports, failures are only counted."""
        if report.seen:
            return
        if len(self._reports) >= _KEPT:
            self._reports = [each for each in self._reports if not each.seen]
        if len(self._reports) >= _KEPT:
            self._more_batches += 1
            self._more_records += report.records
        else:
            self._reports.append(report)

    def raise_unseen(self) -> None:
        """Raise the first failure that was never checked and whose futures are gone, with the number of such failures.

        All of these failures then count as seen. Failures whose futures are still referenced are kept for a later call.
        """
        held = [each for each in self._reports if not each.seen and each.is_held]
        unseen = [each for each in self._reports if not each.seen and not each.is_held]
        self._reports = held
        if not unseen:  # failures beyond the limit are reported with the next one raised
            return
        batches = len(unseen) + self._more_batches
        records = sum(each.records for each in unseen) + self._more_records
        self._more_batches = self._more_records = 0
        for each in unseen:
            each.seen = True
        first = unseen[0]
        raise type(first.error)(
            f"{records} record(s) in {batches} batch(es) were not delivered since the last flush(); the first of them: "
            f"{first.text}"
        ) from first.error

    def log_unseen(self) -> None:
        """Log the failures that were never checked and can no longer be checked."""
        for each in self._reports:
            each.log_unseen()
        self._reports = []
