"""Incremental fetch sessions (KIP-227): the broker remembers the partitions, and requests contain only changes.

This is bookkeeping without I/O. A session is also the list of partitions to fetch. If sessions are not in use, every
request contains all of them.
"""

import uuid
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from kafka.consumer.buffer.partition_state import PartitionState
from kafka.structs import TopicPartition
from kafka.wire.api.fetch import FetchPartition, FetchTopic, ForgottenTopic

NO_SESSION = 0
FINAL_EPOCH = -1
"""Epoch of a request outside any session, or, with a session id, of the request that ends that session."""
INITIAL_EPOCH = 0
"""Epoch of a request for a new session."""
_MAX_EPOCH = 2**31 - 1
_NO_ID = uuid.UUID(int=0)


class FetchTarget(NamedTuple):
    """A partition to fetch.

    Arguments:
        state: the state of the partition.
        generation: the generation of the state at the time of the request.
        offset: the offset to read from.
        leader_epoch: the epoch of the leader in the metadata; -1 if unknown (KIP-320).
        topic_id: the topic id, for Fetch v13 and later; None if the metadata contains none (KIP-516).
        last_epoch: the epoch of the last record before the offset, for the broker to compare; -1: do not compare.
    """

    state: PartitionState
    generation: int
    offset: int
    leader_epoch: int
    topic_id: uuid.UUID | None
    last_epoch: int = -1


class FetchBody(NamedTuple):
    """The fields of a FetchRequest that depend on the session."""

    session_id: int
    session_epoch: int
    topics: list[FetchTopic]
    forgotten: list[ForgottenTopic]
    by_id: bool


# These create named tuples without calling the Python functions that their classes have for that.
new_target = partial(tuple.__new__, FetchTarget)
new_body = partial(tuple.__new__, FetchBody)


class FetchSession:
    """The partitions to fetch from one broker, and those that the broker knows.

    Arguments:
        incremental: whether to use incremental sessions.
        max_bytes: ``max_partition_fetch_bytes``.

    Attributes:
        topic_names: names of the topics that were requested by id in this session, including former ones. The key is
            the id as a number, because `uuid.UUID` hashes and compares in Python.
    """

    def __init__(self, incremental: bool, max_bytes: int) -> None:
        self._incremental = incremental
        self._max_bytes = max_bytes
        self._id = NO_SESSION
        self._epoch = INITIAL_EPOCH if incremental else FINAL_EPOCH
        self._changed: dict[TopicPartition, None] = {}
        self._forget: dict[TopicPartition, uuid.UUID | None] = {}
        self._known: dict[TopicPartition, uuid.UUID | None] = {}
        self._by_id = True
        self.topic_names: dict[int, str] = {}
        self.targets: dict[TopicPartition, FetchTarget] = {}

    @property
    def in_session(self) -> bool:
        """Whether the broker has a session for this client."""
        return self._id != NO_SESSION

    def add(self, target: FetchTarget) -> None:
        """Add a partition, or change its offset."""
        tp = target.state.tp
        if self.targets.get(tp) == target:
            return
        self.targets[tp] = target
        self._changed[tp] = None
        known = self._known.get(tp, _NO_ID)
        if known is target.topic_id:
            return
        if tp in self._known and known != target.topic_id:
            self._forget[tp] = self._known.pop(tp)
        elif tp in self._forget and self._forget[tp] == target.topic_id:
            self._known[tp] = self._forget.pop(tp)

    def advance(self, target: FetchTarget) -> None:
        """Change the offset of a partition that was part of the last request."""
        tp = target.state.tp
        self.targets[tp] = target
        self._changed[tp] = None

    def remove(self, tp: TopicPartition) -> None:
        """Remove a partition."""
        if self.targets.pop(tp, None) is not None:
            self._changed.pop(tp, None)
            if tp in self._known:
                self._forget[tp] = self._known.pop(tp)

    def target_of_answer(self, topic: str, partition: int) -> FetchTarget | None:
        """Return the target for a partition in a response; None if the response is no longer wanted."""
        tp: Any = (topic, partition)  # equal to a `TopicPartition`, which a Python function would create
        return None if tp in self._changed else self.targets.get(tp)

    def next_request(self, with_epochs: bool = True) -> FetchBody:
        """Return the body of the next request, which then counts as sent.

        Arguments:
            with_epochs: whether the broker checks epochs of records, as it does in version 12 and later.
        """
        full = self._epoch <= INITIAL_EPOCH
        if full:  # within a session, the broker does this
            for tp in self._changed:  # partitions that were served move to the end, so that none starves
                self.targets[tp] = self.targets.pop(tp)
        named = list(self.targets.values() if full else map(self.targets.__getitem__, self._changed))
        with_ids = True
        for target in named:
            with_ids &= target.topic_id is not None
        if full:
            self._by_id = with_ids
            self._known.clear()
            self._forget.clear()
            self.topic_names.clear()
        elif self._by_id and not with_ids:
            self.reset()  # a session uses either topic names or topic ids
            return self.next_request(with_epochs)
        forgotten = _forgotten(self._forget) if self._forget else []
        body = new_body((self._id, self._epoch, self._topics(named, with_epochs, full), forgotten, self._by_id))
        for target in named:
            self._known[target.state.tp] = target.topic_id
            if target.topic_id is not None:
                self.topic_names[target.topic_id.int] = target.state.tp.topic
        self._changed.clear()
        self._forget.clear()
        return body

    def last_request(self) -> FetchBody:
        """Return the body of the request that ends the session; it fetches nothing."""
        return FetchBody(self._id, FINAL_EPOCH, [], [], self._by_id)

    def answered(self, session_id: int) -> None:
        """Note that the broker accepted the request; ``session_id`` is the current session's id, 0 if there is none."""
        if not self._incremental:
            return
        if session_id == NO_SESSION:
            self.reset()
        elif self._id == session_id:
            self._epoch = self._epoch + 1 if self._epoch < _MAX_EPOCH else 1
        else:
            self._id, self._epoch = session_id, 1

    def reset(self, keep_id: bool = False) -> None:
        """Start over: the next request contains all partitions.

        Arguments:
            keep_id: send the current session id once more, so that the broker replaces that session.
        """
        if not keep_id:
            self._id = NO_SESSION
        if self._incremental:
            self._epoch = INITIAL_EPOCH
        self._known.clear()
        self._forget.clear()
        self._by_id = True

    def _topics(self, named: Iterable[FetchTarget], with_epochs: bool, in_order: bool) -> list[FetchTopic]:
        topics: dict[str, FetchTopic] = {}
        made: list[FetchTopic] = []
        for target in named:
            tp = target.state.tp
            topic = topics.get(tp.topic)
            if topic is None:
                if in_order:
                    topics.clear()  # a broker serves partitions in this order, so a topic may be named several times
                topic = FetchTopic(topic=tp.topic, topic_id=target.topic_id or _NO_ID, partitions=[])
                topics[tp.topic] = topic
                made.append(topic)
            topic.partitions.append(
                FetchPartition(
                    partition=tp.partition,
                    current_leader_epoch=target.leader_epoch,
                    fetch_offset=target.offset,
                    last_fetched_epoch=target.last_epoch if with_epochs else -1,
                    partition_max_bytes=self._max_bytes,
                )
            )
        return made


def _forgotten(partitions: dict[TopicPartition, uuid.UUID | None]) -> list[ForgottenTopic]:
    topics: dict[tuple[str, uuid.UUID | None], list[int]] = {}
    for tp, topic_id in partitions.items():
        topics.setdefault((tp.topic, topic_id), []).append(tp.partition)
    return [
        ForgottenTopic(topic=topic, topic_id=topic_id or _NO_ID, partitions=numbers)
        for (topic, topic_id), numbers in topics.items()
    ]
