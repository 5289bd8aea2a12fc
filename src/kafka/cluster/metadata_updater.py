"""Keeps a client's metadata up to date: decides when to refresh, which topics to request, and whom to notify."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Iterable

from kafka.cluster.backoff import Backoff
from kafka.cluster.current_failures import CurrentFailures
from kafka.cluster.metadata_requests import CREATION_CHOSEN_SINCE, MetadataAnswer, ask_metadata
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.cluster.retry import RetryPolicy, as_kafka_error, nothing
from kafka.config import ConnectionOptions
from kafka.errors import (
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    UnknownTopicOrPartitionError,
    for_code,
)
from kafka.net import Connection
from kafka.structs import TopicPartition
from kafka.wire.api.metadata import MetadataRequest

log = logging.getLogger(__name__)


_WHAT = "refreshing the cluster's metadata"


class _Round:
    """A running or planned refresh, and its waiters. ``everything`` tells whether it requests all watched topics."""

    __slots__ = ("everything", "future", "topics")

    def __init__(self) -> None:
        self.everything = False
        self.topics: set[str] = set()
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.future.add_done_callback(lambda future: future.cancelled() or future.exception())

    def covers(self, topics: frozenset[str] | None) -> bool:
        """Return whether this round covers the topics (None: all watched topics).

        A round for all watched topics does not count as covering individual topics.
        """
        return self.everything if topics is None else topics <= self.topics

    def add(self, topics: frozenset[str] | None) -> None:
        if topics is None:
            self.everything = True
        else:
            self.topics |= topics


class MetadataRefresher:
    """Combines concurrent refreshes into one.

    Arguments:
        fetch: requests and merges metadata; its arguments are the topics to request, and whether to request all watched
            topics as well.
        min_interval_ms, max_interval_ms: minimum interval between two refreshes, and maximum interval while they fail,
            in milliseconds.
        max_age_ms: age in milliseconds after which the metadata is refreshed even if no one requests it.
        current_failures: records failures.
    """

    def __init__(
        self,
        fetch: Callable[[set[str], bool], Awaitable[None]],
        min_interval_ms: int,
        max_interval_ms: int,
        max_age_ms: int,
        current_failures: CurrentFailures | None = None,
    ) -> None:
        self._fetch = fetch
        self._min_interval_s = min_interval_ms / 1000
        self._max_age_s = max_age_ms / 1000
        self._running: _Round | None = None
        self._next: _Round | None = None
        self._driver: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._not_before = 0.0
        backoff = Backoff(min_interval_ms, max_interval_ms, current_failures=current_failures)
        self._attempts = RetryPolicy(backoff, log, fatal=nothing).attempts(_WHAT)
        self.fetched_at = -math.inf
        """Time of the loop when metadata was last received, in seconds."""
        self._closed = False

    async def refresh(self, topics: Iterable[str] | None = None) -> None:
        """Wait for a refresh that covers ``topics`` (None: all watched topics); join a running one if possible.

        Raises the errors of `fetch`.
        """
        await asyncio.shield(self.request(topics))

    def request(self, topics: Iterable[str] | None = None) -> "asyncio.Future[None]":
        """Request a refresh, as `refresh` does, without waiting."""
        if self._closed:
            raise IllegalStateError("the client is closed")
        wanted = None if topics is None else frozenset(topics)
        if self._running is not None and self._running.covers(wanted):
            return self._running.future
        if self._next is None:
            self._next = _Round()
        self._next.add(wanted)
        if self._driver is None or self._driver.done():
            self._driver = asyncio.get_running_loop().create_task(self._drive())
        return self._next.future

    def fetched(self) -> None:
        """Record that metadata was just received, by a refresh or while bootstrapping; its age counts from now."""
        self._attempts.succeeded()
        self.fetched_at = asyncio.get_running_loop().time()
        self._renew_in(self._max_age_s)

    async def close(self) -> None:
        """Cancel running refreshes."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        rounds = (self._running, self._next)  # read first, because the driver forgets its round when it is cancelled
        if self._driver is not None:
            self._driver.cancel()
            await asyncio.gather(self._driver, return_exceptions=True)
        for each in rounds:
            if each is not None and not each.future.done():
                each.future.set_exception(IllegalStateError("the client was closed"))

    def _renew_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._max_age_s > 0 and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(seconds, self.request)

    async def _drive(self) -> None:
        loop = asyncio.get_running_loop()
        while self._next is not None:
            pause = self._not_before - loop.time()
            if pause > 0:
                await asyncio.sleep(pause)
            this, self._next = self._next, None
            self._running = this
            try:
                await self._fetch(this.topics, this.everything)
            except Exception as error:
                pause = self._attempts.note(error)
                self._not_before = loop.time() + pause
                self._renew_in(max(pause, 1.0))
                self._settle(this, as_kafka_error(_WHAT, error))
            else:
                self._not_before = loop.time() + self._min_interval_s
                self.fetched()
                self._settle(this, None)
            finally:
                self._running = None

    @staticmethod
    def _settle(this: _Round, error: KafkaError | None) -> None:
        if this.future.done():
            return
        if error is None:
            this.future.set_result(None)
        else:
            this.future.set_exception(error)


_REBOOTSTRAP_REQUIRED = 129


class MetadataUpdater:
    """Keeps the `ClusterMetadata` of one client up to date.

    Requesting a topic's metadata may create the topic (``allow_auto_create_topics``) only if it is watched, because the
    program sends to it or subscribes to it. A lookup never creates a topic.

    Arguments:
        options: how often to refresh, and whether topics may be created.
        any_connection: returns a connection for the requests.
        bootstrap: rebootstraps the client (KIP-1102).
        current_failures: records failing refreshes.

    Attributes:
        metadata: the newest snapshot; immutable, so any thread may read it.
        watched: the topics that every full refresh requests; None: all.
        look_first: whether to look up new topics before a request may create them; see `ClusterClient.watch_topics`.
    """

    def __init__(
        self,
        options: ConnectionOptions,
        any_connection: Callable[[], Awaitable[Connection]],
        bootstrap: Callable[[], Awaitable[object]],
        current_failures: CurrentFailures | None = None,
    ) -> None:
        self._current_failures = current_failures
        self._options = options
        self._any_connection = any_connection
        self._bootstrap = bootstrap
        self._listeners: list[Callable[[ClusterMetadata], object]] = []
        self._refresher: MetadataRefresher | None = None
        self._noted: dict[TopicPartition, tuple[int, int]] = {}
        self.watched: set[str] | None = set()
        self.look_first = False
        self.metadata = ClusterMetadata()

    def start(self) -> None:
        """Start refreshing on the running loop."""
        options = self._options
        self._refresher = MetadataRefresher(
            self._fetch,
            options.retry_backoff_ms,
            options.retry_backoff_max_ms,
            options.metadata_max_age_ms,
            self._current_failures,
        )

    async def close(self) -> None:
        """Cancel running refreshes."""
        if self._refresher is not None:
            await self._refresher.close()

    @property
    def renewed_at(self) -> float:
        """Loop time in seconds when metadata was last received; minus infinity if none was ever received."""
        return -math.inf if self._refresher is None else self._refresher.fetched_at

    @property
    def refresher(self) -> MetadataRefresher:
        """The refresher. Raises `IllegalStateError` before `start`."""
        if self._refresher is None:
            raise IllegalStateError("the client was not started: await start() first")
        return self._refresher

    @property
    def creates(self) -> set[str]:
        """The watched topics that a metadata request may create."""
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
        """Request metadata that replaces all known metadata, for `take_in`; ``topics`` are the watched topics."""
        may_create = self._options.allow_auto_create_topics
        answer = await ask_metadata(connection, topics, may_create, self.metadata, keep_others=False)
        if answer.error_code:
            raise for_code(answer.error_code)(f"metadata from {connection.described_as}")
        return answer

    def take_in(self, answer: MetadataAnswer) -> None:
        """Make a broker's response the newest snapshot."""
        metadata = answer.metadata
        for tp, (leader, epoch) in self._noted.items():  # these leaders may be newer than the response
            same = metadata.topic_id(tp.topic) == self.metadata.topic_id(tp.topic)
            if same and metadata.broker_metadata(leader) is not None:
                metadata = metadata.with_leader(tp, leader, epoch)
        self._noted.clear()
        metadata.version = self.metadata.version + 1
        self._set(metadata)

    async def _fetch(self, topics: set[str], everything: bool) -> None:
        """Request metadata for ``topics``, and for all watched topics if ``everything``."""
        if everything and self.watched is None:
            await self._ask_any(None, False, keep_others=False)
            return
        watched = self.watched or set()
        create = self.creates
        both = topics | watched if everything else topics
        may_create, others = both & create, both - create
        if self.look_first and may_create and await self._look_first(may_create, keep_others=not everything):
            everything, may_create = False, {topic for topic in may_create if self._is_missing(topic)}
            if not may_create and not others:
                return
        if may_create or not others:
            await self._ask_any(may_create, True, keep_others=not everything)
            everything = False
        if others:
            await self._ask_any(others, False, keep_others=not everything)

    async def _look_first(self, topics: set[str], *, keep_others: bool) -> bool:
        """Request metadata for topics without creating them, if any are new; return whether that was done.

        Brokers before 0.11 cannot be asked without creating topics, except for all topics.
        """
        known = self.metadata
        if not any(known.partitions_for_topic(topic) is None and topic not in known.topic_errors for topic in topics):
            return False
        connection = await self._any_connection()
        if connection.api_versions.version_for(MetadataRequest) < CREATION_CHOSEN_SINCE:
            return False
        await self._ask_any(topics, False, keep_others=keep_others)
        return True

    def _is_missing(self, topic: str) -> bool:
        return self.metadata.topic_errors.get(topic) is UnknownTopicOrPartitionError

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
