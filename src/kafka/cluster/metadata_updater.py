"""Keeps a client's metadata new: which topics to ask for, whom to ask, and whom to tell of new metadata."""

import logging
import math
from collections.abc import Awaitable, Callable

from kafka.cluster.metadata import ClusterMetadata
from kafka.cluster.metadata_requests import MetadataAnswer, ask_metadata
from kafka.cluster.refresh_timing import MetadataRefresher
from kafka.cluster.troubles import Troubles
from kafka.config import ConnectionOptions
from kafka.errors import IllegalStateError, KafkaConnectionError, KafkaError, KafkaTimeoutError, for_code
from kafka.net import Connection
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

_REBOOTSTRAP_REQUIRED = 129


class MetadataUpdater:
    """Keeps `ClusterMetadata` new, for one client.

    A topic may be created by asking for it (``allow_auto_create_topics``) only if it is watched: if the program sends
    to it, or subscribes to it. A look-up never creates one.

    Arguments:
        options: how often, and whether topics may be created.
        any_connection: gives a connection to ask on.
        bootstrap: finds the cluster anew (KIP-1102).
        troubles: shows that refreshing fails.

    Attributes:
        metadata: the newest picture; immutable, so any thread may read it.
        watched: the topics that every full refresh asks for; None: all.
    """

    def __init__(
        self,
        options: ConnectionOptions,
        any_connection: Callable[[], Awaitable[Connection]],
        bootstrap: Callable[[], Awaitable[object]],
        troubles: Troubles | None = None,
    ) -> None:
        self._troubles = troubles
        self._options = options
        self._any_connection = any_connection
        self._bootstrap = bootstrap
        self._listeners: list[Callable[[ClusterMetadata], object]] = []
        self._refresher: MetadataRefresher | None = None
        self._noted: dict[TopicPartition, tuple[int, int]] = {}
        self.watched: set[str] | None = set()
        self.metadata = ClusterMetadata()

    def start(self) -> None:
        """Refresh from now on, on the running loop."""
        options = self._options
        self._refresher = MetadataRefresher(
            self._fetch,
            options.retry_backoff_ms,
            options.retry_backoff_max_ms,
            options.metadata_max_age_ms,
            self._troubles,
        )

    async def close(self) -> None:
        """End what is under way."""
        if self._refresher is not None:
            await self._refresher.close()

    @property
    def renewed_at(self) -> float:
        """When they were last read, in the loop's seconds; minus infinity: never."""
        return -math.inf if self._refresher is None else self._refresher.fetched_at

    @property
    def refresher(self) -> MetadataRefresher:
        """What refreshes. Raises `IllegalStateError` before `start`."""
        if self._refresher is None:
            raise IllegalStateError("the client was not started: await start() first")
        return self._refresher

    @property
    def creates(self) -> set[str]:
        """The topics that asking for may create."""
        return self.watched or set() if self._options.allow_auto_create_topics else set()

    def on_change(self, callback: Callable[[ClusterMetadata], object]) -> Callable[[], None]:
        """See `ClusterClient.on_metadata`."""
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback)

    def note_leader(self, tp: TopicPartition, leader: int, leader_epoch: int) -> None:
        """See `ClusterClient.note_leader`."""
        if self.metadata.broker_metadata(leader) is not None:
            self._noted[tp] = leader, leader_epoch
            self._set(self.metadata.with_leader(tp, leader, leader_epoch))

    async def ask_all(self, connection: Connection, topics: set[str] | None) -> MetadataAnswer:
        """Ask a broker for metadata that replace all that is known, for `take_in`; ``topics`` are watched."""
        may_create = self._options.allow_auto_create_topics
        answer = await ask_metadata(connection, topics, may_create, self.metadata, keep_others=False)
        if answer.error_code:
            raise for_code(answer.error_code)(f"metadata from {connection.described_as}")
        return answer

    def take_in(self, answer: MetadataAnswer) -> None:
        """Have what a broker answered for the newest picture."""
        metadata = answer.metadata
        for tp, (leader, epoch) in self._noted.items():  # perhaps since the answer was read
            same = metadata.topic_id(tp.topic) == self.metadata.topic_id(tp.topic)
            if same and metadata.broker_metadata(leader) is not None:
                metadata = metadata.with_leader(tp, leader, epoch)
        self._noted.clear()
        metadata.version = self.metadata.version + 1
        self._set(metadata)

    async def _fetch(self, topics: set[str], everything: bool) -> None:
        """Ask about topics, and about all that is watched if ``everything``."""
        if everything and self.watched is None:
            await self._ask_any(None, False, keep_others=False)
            return
        watched = self.watched or set()
        create = self.creates
        both = topics | watched if everything else topics
        may_create, others = both & create, both - create
        if may_create or not others:
            await self._ask_any(may_create, True, keep_others=not everything)
            everything = False
        if others:
            await self._ask_any(others, False, keep_others=not everything)

    async def _ask_any(self, topics: set[str] | None, may_create: bool, *, keep_others: bool) -> None:
        last: KafkaError | None = None
        for _ in range(1 + len(self.metadata.brokers())):
            connection = await self._any_connection()
            try:
                answer = await ask_metadata(connection, topics, may_create, self.metadata, keep_others=keep_others)
            except (KafkaConnectionError, KafkaTimeoutError) as error:
                last = error
                continue
            if answer.error_code == _REBOOTSTRAP_REQUIRED:
                await self._bootstrap()
            elif answer.error_code:
                raise for_code(answer.error_code)(f"metadata from {connection.described_as}")
            else:
                self.take_in(answer)
            return
        raise last if last is not None else KafkaConnectionError("no broker answered")

    def _set(self, metadata: ClusterMetadata) -> None:
        if metadata is self.metadata:
            return
        self.metadata = metadata
        for listener in list(self._listeners):
            try:
                listener(metadata)
            except Exception:
                log.exception("a listener to metadata failed")
