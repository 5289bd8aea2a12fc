"""A cluster of logs that are just numbers, for the planners."""

from collections.abc import Collection, Mapping

from kafka.spark.values import Matching, Partitions, Selection, Topics
from kafka.structs import TopicPartition


class FakeCluster:
    """Answers as `OffsetLookup` says. ``logs`` holds first offset, end, and the time of each record as its offset."""

    def __init__(self, logs: Mapping[tuple[str, int], tuple[int, int]]) -> None:
        self.logs = {TopicPartition(*each): log for each, log in logs.items()}
        self.asked = 0

    def partitions(self, selection: Selection) -> set[TopicPartition]:
        if isinstance(selection, Topics):
            return {each for each in self.logs if each.topic in selection.names}
        if isinstance(selection, Partitions):
            return {each for each in selection.partitions if each in self.logs}
        assert isinstance(selection, Matching)
        return {each for each in self.logs if each.topic.startswith(selection.pattern.rstrip(".*"))}

    def earliest(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return {each: self.logs[each][0] for each in partitions}

    def latest(
        self, partitions: Collection[TopicPartition], at_least: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        self.asked += 1
        return {each: self.logs[each][1] for each in partitions}

    def at_time(self, times_ms: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        found: dict[TopicPartition, int | None] = {}
        for each, time_ms in times_ms.items():
            first, end = self.logs[each]
            found[each] = max(first, time_ms) if time_ms < end else None
        return found
