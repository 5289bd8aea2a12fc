"""How far fetching has come in a partition."""


class FetchProgress:
    """Belongs to the loop. The caller's thread only reads the last three, which brokers tell with each answer.

    Attributes:
        offset: where fetching goes on, ahead of the position; None: nothing is fetched.
        generation: the one of `PartitionState` that `offset` belongs to.
        asked_generation: the newest generation that a broker was to be asked for data of.
        broker_id: the broker that is asked; None: none is.
        backing_off: whether the partition is left alone for a moment.
        failures: how often in a row a broker had no data but an error.
        highwater: the offset after the last record that consumers may see.
        last_stable_offset: before it no transaction is open.
        log_start_offset: the first offset there is.
    """

    __slots__ = (
        "asked_generation",
        "backing_off",
        "broker_id",
        "failures",
        "generation",
        "highwater",
        "last_stable_offset",
        "log_start_offset",
        "offset",
    )

    def __init__(self) -> None:
        self.offset: int | None = None
        self.generation = 0
        self.asked_generation = -1
        self.broker_id: int | None = None
        self.backing_off = False
        self.failures = 0
        self.highwater: int | None = None
        self.last_stable_offset: int | None = None
        self.log_start_offset: int | None = None
