"""Handling of missing data (`failOnDataLoss`). Pure."""

import logging

from kafka.errors import KafkaError

log = logging.getLogger(__name__)


class DataLossError(KafkaError):
    """Records that the query should have read are no longer in Kafka."""


class DataLoss:
    """Reports lost data as an error or a warning. A query has one instance, which logs each warning once.

    Arguments:
        fail: the option `failOnDataLoss`.
    """

    def __init__(self, fail: bool) -> None:
        self._fail = fail
        self._warned: set[str] = set()

    def report(self, what: str) -> None:
        """Raise `DataLossError` if `failOnDataLoss` is true; otherwise log a warning.

        Arguments:
            what: a description of the missing data, as a sentence without a full stop.
        """
        if self._fail:
            raise DataLossError(
                f"{what}. Some records may have been deleted before they were read (retention, an unclean leader "
                "election, or a deleted and recreated topic). Set the option failOnDataLoss=false to continue with a "
                "warning, or start with a new checkpoint and startingOffsets"
            )
        self.warn(what)

    def warn(self, what: str) -> None:
        """Log a warning, unless it has already been logged."""
        if what not in self._warned:
            self._warned.add(what)
            log.warning("%s; continuing because failOnDataLoss=false", what)
