"""Logs partitions that cannot be fetched: quietly if the cause will pass, as a warning if it will not."""

import logging

from kafka.cluster import LogLimiter
from kafka.consumer.handover.partition_state import PartitionState
from kafka.errors import BrokerResponseError
from kafka.structs import TopicPartition

_UNUSUAL = 3
"""How many failures of a partition in a row are more than a leader that moves."""


class FailureLog:
    """Counts the failures of each partition in `FetchProgress.failures`. Belongs to the loop.

    Arguments:
        log: where to.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._limiter = LogLimiter(log)

    def failed(self, state: PartitionState, offset: int, error: type[BrokerResponseError]) -> None:
        """A broker has answered with an error that passes, mostly."""
        failures, where = state.fetching.failures, f"{place(state.tp)} at offset {offset}"
        if failures < _UNUSUAL:
            self._log.info("fetching %s failed, trying again: %s", where, error.message)
        else:
            text = f"fetching {where} has failed {failures} times, retrying: {error.message}"
            self._limiter.warning(f"{state.tp}: {error.__name__}", text)

    def succeeded(self, state: PartitionState) -> None:
        """A broker has answered without an error."""
        if state.fetching.failures >= _UNUSUAL:
            self._log.info("fetching %s works again", place(state.tp))
        state.fetching.failures = 0


def place(tp: TopicPartition) -> str:
    """A partition, in words."""
    return f"partition {tp.partition} of topic {tp.topic!r}"
