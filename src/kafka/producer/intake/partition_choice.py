"""Where records go that wait to be sent to a topic which was deleted and made again."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from kafka.errors import AssertedArgumentError, IllegalArgumentError, KafkaError
from kafka.partitioner.abc import KnownPartitions
from kafka.partitioner.adapt import Pick
from kafka.partitioner.murmur2 import murmur2
from kafka.producer.intake.checks import checked_partition
from kafka.record import Columns
from kafka.structs import TopicPartition

Target = int | KafkaError
"""A partition, or why a record can go to none."""


class PartitionChoice:
    """Chooses partitions as `RecordAppender` does, for records that are encoded already. In any thread.

    Arguments:
        pick: the user's partitioner; None for the default rule.
        ignore_keys: whether the default rule takes no notice of keys.
        cluster: gives the metadata that the user's partitioner may ask.
        rng: chooses partitions for records without a key.
        name: of the user's partitioner, for texts.
    """

    def __init__(
        self,
        pick: Pick | None,
        ignore_keys: bool,
        cluster: Callable[[], KnownPartitions],
        rng: random.Random,
        name: str = "the default rule",
    ) -> None:
        self.is_users = pick is not None
        """Whether code of the user's is called."""
        self.name = name
        self._pick = pick
        self._ignore_keys = ignore_keys
        self._cluster = cluster
        self._rng = rng

    def targets(
        self, place: TopicPartition, columns: Columns, named: bytearray, partitions: int, available: Sequence[int]
    ) -> list[Target]:
        """Where each record of a batch goes.

        A record whose partition the caller named stays there. So does one without a key, as long as the partition
        exists.

        Arguments:
            place: where the records were to go.
            columns: the records.
            named: for each, whether the caller named the partition.
            partitions: how many the topic has now.
            available: those that have a leader.
        """
        exists = place.partition < partitions
        keyless: Target = place.partition if exists else self._rng.choice(available or range(partitions))
        missing: Target = place.partition if exists else no_such_partition(place, partitions)
        targets: list[Target] = []
        for index in range(len(columns)):
            if named[index]:
                targets.append(missing)
                continue
            key = columns.key(index)
            if self._pick is not None:
                targets.append(self._picked(self._pick, place, key, columns.value(index), partitions))
            elif key is None or self._ignore_keys:
                targets.append(keyless)
            else:
                targets.append((murmur2(key) & 0x7FFFFFFF) % partitions)
        return targets

    def _picked(
        self, pick: Pick, place: TopicPartition, key: bytes | None, value: bytes | None, partitions: int
    ) -> Target:
        """What the user's partitioner says, which gets the bytes of key and value in place of what `send` was given."""
        try:
            picked = pick(place.topic, key, key, value, value, self._cluster())
            return checked_partition(place.topic, picked, partitions, "the partitioner's choice")
        except Exception as error:
            if place.partition < partitions:
                return place.partition
            failure = IllegalArgumentError(
                f"topic {place.topic!r} was deleted and recreated without partition {place.partition}, and the "
                f"partitioner chose no other one: {error!r}"
            )
            failure.__cause__ = error
            return failure


def no_such_partition(place: TopicPartition, partitions: int) -> AssertedArgumentError:
    """The error of a record whose partition the caller named."""
    return AssertedArgumentError(
        f"topic {place.topic!r} was deleted and recreated: it has partitions 0 to {partitions - 1} now, but partition "
        f"is {place.partition}"
    )
