"""The share session with one broker: what the broker knows we fetch, so that requests only name changes.

Java: ``ShareSessionHandler``.
"""

from collections.abc import Iterable
from uuid import UUID

from kafka.consumer.share.acknowledgements import AckBatch, Acknowledgements
from kafka.wire.api import share_acknowledge, share_fetch

FIRST_EPOCH, LAST_EPOCH = 0, -1
_EPOCHS = 2**31 - 1

Partition = tuple[UUID, int]
"""The topic's id and the number."""


class ShareSession:
    """See the module.

    Attributes:
        targets: the partitions that are to be fetched.
        epoch: of the next request; 0 begins a session.
    """

    def __init__(self) -> None:
        self.targets: set[Partition] = set()
        self.epoch = FIRST_EPOCH
        self._known: set[Partition] = set()
        self._sent: set[Partition] = set()

    @property
    def is_open(self) -> bool:
        """Whether the broker has it."""
        return self.epoch != FIRST_EPOCH

    def fetch_topics(
        self, acks: Iterable[Acknowledgements]
    ) -> tuple[list[share_fetch.FetchTopic], list[share_fetch.ForgottenTopic]]:
        """What the next fetch names: partitions that are new or have acknowledgements, and those that are forgotten."""
        self._sent = set(self.targets)
        rows: dict[Partition, share_fetch.FetchPartition] = {}
        for topic_id, number in sorted(self.targets - self._known):
            rows[topic_id, number] = share_fetch.FetchPartition(partition_index=number)
        for key, batches in _by_partition(acks).items():
            row = rows.setdefault(key, share_fetch.FetchPartition(partition_index=key[1]))
            row.acknowledgement_batches = [
                share_fetch.AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=list(types))
                for first, last, types in batches
            ]
        topics: dict[UUID, share_fetch.FetchTopic] = {}
        for (topic_id, _), row in rows.items():
            topics.setdefault(topic_id, share_fetch.FetchTopic(topic_id=topic_id)).partitions.append(row)
        forgotten: dict[UUID, share_fetch.ForgottenTopic] = {}
        for topic_id, number in sorted(self._known - self.targets):
            forgotten.setdefault(topic_id, share_fetch.ForgottenTopic(topic_id=topic_id)).partitions.append(number)
        return list(topics.values()), list(forgotten.values())

    @staticmethod
    def acknowledge_topics(acks: Iterable[Acknowledgements]) -> list[share_acknowledge.AcknowledgeTopic]:
        """What the next acknowledgement names."""
        topics: dict[UUID, share_acknowledge.AcknowledgeTopic] = {}
        for (topic_id, number), batches in _by_partition(acks).items():
            row = share_acknowledge.AcknowledgePartition(
                partition_index=number,
                acknowledgement_batches=[
                    share_acknowledge.AcknowledgementBatch(
                        first_offset=first, last_offset=last, acknowledge_types=list(types)
                    )
                    for first, last, types in batches
                ],
            )
            topic = topics.setdefault(topic_id, share_acknowledge.AcknowledgeTopic(topic_id=topic_id))
            topic.partitions.append(row)
        return list(topics.values())

    def fetched(self) -> None:
        """The broker has taken a fetch."""
        self._known = self._sent
        self.counted()

    def counted(self) -> None:
        """The broker has taken a request."""
        self.epoch = 1 if self.epoch == _EPOCHS else self.epoch + 1

    def lost(self) -> None:
        """The broker has not, or no longer, a session of ours: what was acquired with it is released."""
        self.epoch = FIRST_EPOCH
        self._known = set()


def _by_partition(acks: Iterable[Acknowledgements]) -> dict[Partition, list[AckBatch]]:
    """The batches of each partition, in order."""
    found: dict[Partition, list[AckBatch]] = {}
    for each in acks:
        found.setdefault((each.topic_id, each.tp.partition), []).extend(each.batches)
    for batches in found.values():
        batches.sort()
    return found
