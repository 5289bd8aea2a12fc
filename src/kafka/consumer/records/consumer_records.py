"""What `KafkaConsumer.poll` returns."""

from collections.abc import Iterator, Mapping
from typing import Any, Generic

from kafka.record import ConsumerRecord
from kafka.record.type_variables import Key, Value
from kafka.structs import TopicPartition


class ConsumerRecords(dict[TopicPartition, list[ConsumerRecord[Key, Value]]], Generic[Key, Value]):
    """Records by partition: a dict from `TopicPartition` to a list of records, in order of offset.

    ``items()``, ``values()``, ``keys()``, ``get()``, ``[tp]``, ``tp in records`` and comparison with a dict are those
    of a dict. Iteration and ``len()`` go over records, not over partitions: ``for record in records`` and
    ``len(records)``, as in Java's ``ConsumerRecords``.

    Arguments:
        record_map: lists of records by partition.
    """

    __slots__ = ()

    def __init__(self, record_map: Mapping[TopicPartition, list[ConsumerRecord[Key, Value]]] | None = None) -> None:
        super().__init__()
        if record_map is not None:
            for tp in record_map.keys():  # noqa: SIM118  # iteration over one of these goes over records
                self[tp] = record_map[tp]

    def __iter__(self) -> Iterator[ConsumerRecord[Key, Value]]:  # type: ignore[override]
        """All records, one partition after the other."""
        for records in self.values():
            yield from records

    def __len__(self) -> int:
        """How many records there are."""
        return sum(map(len, self.values()))

    def __bool__(self) -> bool:
        """Whether there are any records."""
        return any(self.values())

    def __missing__(self, key: object) -> list[ConsumerRecord[Key, Value]]:
        if isinstance(key, ConsumerRecord):
            raise KeyError(
                "poll() returned records, and iterating over them yields records, not partitions: use 'for record in "
                "records', or 'for tp, batch in records.items()'; the key was a record of "
                f"{key.topic}-{key.partition}"
            )
        raise KeyError(key)

    def records(self, partition: TopicPartition) -> list[ConsumerRecord[Key, Value]]:
        """The records of a partition; an empty list if there are none."""
        return self.get(partition, [])

    def by_topic(self) -> dict[str, list[ConsumerRecord[Key, Value]]]:
        """The records by topic, one partition after the other."""
        topics: dict[str, list[ConsumerRecord[Key, Value]]] = {}
        for tp, records in self.items():
            topics.setdefault(tp.topic, []).extend(records)
        return topics

    def partitions(self) -> set[TopicPartition]:
        """The partitions that there are records of."""
        return set(self.keys())

    def count(self) -> int:
        """How many records there are."""
        return len(self)

    def __reduce__(
        self,
    ) -> tuple[type["ConsumerRecords[Any, Any]"], tuple[dict[TopicPartition, list[ConsumerRecord[Key, Value]]]]]:
        return ConsumerRecords, (dict(self.items()),)

    def __repr__(self) -> str:
        return f"ConsumerRecords({dict(self.items())!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the first records, one a row."""
        from kafka.display.tables import many_records

        title = f"{len(self):,} record(s) of {len(self.keys()):,} partition(s)"
        return many_records(title, self, len(self))
