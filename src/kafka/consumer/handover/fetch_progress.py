"""How far fetching has come in a partition."""

import uuid

from kafka.consumer.handover.fetch_position import FetchPosition


class FetchProgress:
    """Belongs to the loop. The caller's thread only reads the last three, which brokers tell with each answer.

    Attributes:
        offset: where fetching goes on, ahead of the position; None: nothing is fetched.
        leader_epoch: of the last record before `offset`, -1 if it is not known (KIP-320).
        checked_epoch: the epoch of the leader that is known to have what comes before `offset`; -1: none is.
        topic_id: of the topic that `offset` is a place in: the one it was looked up in, or that has answered a fetch
            from there; None: not known (KIP-516).
        generation: the one of `PartitionState` that `offset` belongs to.
        asked_generation: the newest generation that a broker was to be asked for data of.
        broker_id: the broker that is asked; None: none is.
        backing_off: whether the partition is left alone for a moment.
        failures: how often in a row a broker had no data but an error.
        out_of_range_since: the version of the metadata, and `failures`, when a broker first said that it does not have
            `offset`; None: none says so.
        highwater: the offset after the last record that consumers may see.
        last_stable_offset: before it no transaction is open.
        log_start_offset: the first offset there is.
    """

    __slots__ = (
        "asked_generation",
        "backing_off",
        "broker_id",
        "checked_epoch",
        "failures",
        "generation",
        "highwater",
        "last_stable_offset",
        "leader_epoch",
        "log_start_offset",
        "offset",
        "out_of_range_since",
        "topic_id",
    )

    def __init__(self) -> None:
        self.offset: int | None = None
        self.leader_epoch = self.checked_epoch = -1
        self.topic_id: uuid.UUID | None = None
        self.generation = 0
        self.asked_generation = -1
        self.broker_id: int | None = None
        self.backing_off = False
        self.failures = 0
        self.out_of_range_since: tuple[int, int] | None = None
        self.highwater: int | None = None
        self.last_stable_offset: int | None = None
        self.log_start_offset: int | None = None

    def begin(self, generation: int, position: FetchPosition | None, topic_id: uuid.UUID | None = None) -> None:
        """Fetch from elsewhere.

        Arguments:
            position: None: nothing is fetched.
            topic_id: of the topic that the position was looked up in; None: not known, as after a seek.
        """
        self.topic_id = topic_id
        self.generation = generation
        self.offset, self.leader_epoch = (None, -1) if position is None else position
        self.checked_epoch = -1
        self.out_of_range_since = None
