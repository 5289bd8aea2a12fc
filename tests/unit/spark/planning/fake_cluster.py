"""A fake cluster for the planners, whose logs are numbers."""

from collections.abc import Collection, Mapping

from kafka.errors import TopicAuthorizationFailedError
from kafka.structs import TopicPartition


class FakeCluster:
    """A fake `OffsetLookup`. ``logs`` maps partitions to first offset and end; the time of a record is its offset."""

    def __init__(self, logs: Mapping[tuple[str, int], tuple[int, int]]) -> None:
        self.logs = {TopicPartition(*each): log for each, log in logs.items()}
        self.forbidden: set[str] = set()
        self.asked = 0
        self.ids: dict[str, str] = {}
        self.bytes: dict[TopicPartition, int] = {}
        self.epochs: dict[TopicPartition, int] = {}
        self.ends_of_epochs: dict[tuple[TopicPartition, int], int] = {}
        self.asked_epochs: list[dict[TopicPartition, int]] = []

    def topics(self) -> set[str]:
        return {each.topic for each in self.logs} - self.forbidden

    def partitions(self, topics: Collection[str]) -> dict[str, set[TopicPartition]]:
        if self.forbidden.intersection(topics):
            raise TopicAuthorizationFailedError(", ".join(sorted(self.forbidden)))
        found: dict[str, set[TopicPartition]] = {}
        for each in self.logs:
            if each.topic in topics:
                found.setdefault(each.topic, set()).add(each)
        return found

    def topic_ids(self, topics: Collection[str]) -> dict[str, str]:
        return {topic: self.ids[topic] for topic in topics if topic in self.ids}

    def leader_epochs(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return {each: self.epochs[each] for each in partitions if each in self.epochs}

    def epoch_ends(self, epochs: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        self.asked_epochs.append(dict(epochs))
        return {each: self.ends_of_epochs[each, of] for each, of in epochs.items() if (each, of) in self.ends_of_epochs}

    def log_bytes(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return {each: self.bytes[each] for each in partitions if each in self.bytes}

    def earliest(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return {each: self.logs[each][0] for each in partitions if each in self.logs}

    def latest(
        self, partitions: Collection[TopicPartition], at_least: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        self.asked += 1
        return {each: self.logs[each][1] for each in partitions if each in self.logs}

    def at_time(self, times_ms: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        found: dict[TopicPartition, int | None] = {}
        for each, time_ms in times_ms.items():
            first, end = self.logs[each]
            found[each] = max(first, time_ms) if time_ms < end else None
        return found
