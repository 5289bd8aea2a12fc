"""Finds logs that lost their end since a query read it, however long they are now (KIP-320). Pure but for the lookup.

A leader that was not in sync when it was elected may lack records that were read, and have others under their offsets.
"""

import logging
from collections.abc import Mapping

from kafka.spark.data_loss import DataLoss
from kafka.spark.leader_epochs import Epochs
from kafka.spark.lookup import OffsetLookup, name_partitions
from kafka.spark.offsets import Offsets
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)


class LogEnds:
    """Compares what a query has read with what leaders have.

    Arguments:
        lookup: asks them. In one epoch a log only grows, so they are asked when their epoch is another than before.
        loss: of the query.
    """

    def __init__(self, lookup: OffsetLookup, loss: DataLoss) -> None:
        self._lookup = lookup
        self._loss = loss
        self._known: dict[TopicPartition, tuple[tuple[int, int], int | None]] = {}
        """For two epochs, the one before and that of the leader, where the earlier one ends; None: nobody can tell."""

    def check(self, begin: Offsets, before: Mapping[TopicPartition, int], now: Epochs) -> Offsets:
        """The partitions whose logs were cut back, with the offsets up to which they are still what was read.

        Arguments:
            begin: up to where the query has read.
            before: the leader epochs that belong to that, as far as they are known.
            now: those of today's leaders.

        Raises `DataLossError` where `failOnDataLoss` says so.
        """
        moved = {each: (before[each], now[each]) for each in begin.keys() & before.keys() & now.keys()}
        moved = {each: epochs for each, epochs in moved.items() if epochs[0] < epochs[1]}
        self._find(moved)
        found: Offsets = {}
        for each in sorted(moved):
            end = self._known[each][1]
            if end is None or end >= begin[each]:
                continue
            self._loss.report(
                f"the log of {each.topic}-{each.partition} was truncated to offset {end} by an unclean leader "
                f"election, after the query had read up to {begin[each]}: records from {end} on are different (leader "
                f"epoch {moved[each][0]} ends there; it is {moved[each][1]} now)"
            )
            found[each] = end
        return found

    def _find(self, moved: Mapping[TopicPartition, tuple[int, int]]) -> None:
        new = {each: epochs for each, epochs in moved.items() if self._known.get(each, (None,))[0] != epochs}
        if not new:
            return
        ends = self._lookup.epoch_ends({each: epochs[0] for each, epochs in new.items()})
        self._known |= {each: (epochs, ends.get(each)) for each, epochs in new.items()}
        untold = new.keys() - ends.keys()
        if untold:
            log.warning(
                "cannot tell whether the logs of %s were truncated when their leaders changed: the leaders do not say",
                name_partitions(untold),
            )
