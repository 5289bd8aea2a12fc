"""Records of a share group (KIP-932), which are acknowledged one by one."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kafka.cli.consume.selection import Piece
from kafka.cli.consume.source import POLL_MS, IdleTime, Source
from kafka.cli.output import note
from kafka.cli.session import Session
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.record import Columns

_AT_ONCE = 500
"""Records that are acquired together."""


class InShareGroup(Source):
    """What a member of a share group is given: accepted when it was written, else released as the command ends.

    Records that filters leave out are accepted as well: else the group would have them delivered again and again.

    Arguments:
        most: how many records are wanted in all; None: any number. No more than those are acquired at a time.
        idle_s: ends when nothing came for so long; None: never.
    """

    def __init__(
        self, session: Session, topics: Sequence[str], group: str, most: int | None, idle_s: float | None
    ) -> None:
        self._idle_s = idle_s
        self._has_complained = False
        limits: dict[str, Any] = {}
        if most is not None:
            limits = {"share_acquire_mode": "record_limit", "max_poll_records": min(most, _AT_ONCE)}
        own = {"group_id": group, "share_acknowledgement_mode": "explicit", **limits}
        self._consumer = session.share_consumer(**own)
        self._consumer.set_acknowledgement_commit_callback(self._acknowledged)
        self._consumer.subscribe(list(topics))

    def columns(self) -> "Iterator[Columns]":
        """See `Source`."""
        idle = IdleTime(self._idle_s)
        while True:
            has_begun = self._consumer.acquisition_lock_timeout_ms() is not None  # which comes with an answer
            found = self._consumer.poll_columns(timeout_ms=POLL_MS)
            yield from found
            if not found:
                self.on_pause()
            if idle.is_over(bool(found), has_begun):
                return

    def written(self, piece: Piece) -> None:
        """See `Source`."""
        columns, acknowledge = piece.columns, self._consumer.acknowledge
        topic, partition = columns.topic, columns.partition
        for offset in columns.offsets:
            if offset >= piece.next_offset:
                break  # not looked at
            acknowledge(topic, partition, offset)

    def _acknowledged(self, offsets: dict[TopicPartition, set[int]], error: Exception | None) -> None:
        """Say once what went wrong: a program that reads slowly may hold records for longer than their locks last."""
        if error is not None and not self._has_complained:
            self._has_complained = True
            for tp, each in offsets.items():
                note(
                    f"{len(each):,} records of {tp.topic}:{tp.partition} were written but will be delivered again, "
                    f"because they could not be acknowledged: {error}"
                )

    def close(self) -> None:
        """See `Source`."""
        self._consumer.close()
