"""The state that request handlers share: the parts of the broker, its identity, and the context of a request."""

import base64
import functools
import json
import logging
import random
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.clock import Clock
from kafka.broker.disk_files import keep_damaged, replace_file
from kafka.broker.fetch_sessions import FetchSessions
from kafka.broker.topic_store import TopicStore

if TYPE_CHECKING:
    from kafka.broker.client_metrics import ClientMetrics, Telemetry
    from kafka.broker.group_configs import GroupConfigs
    from kafka.broker.groups.group_coordinator import GroupCoordinator
    from kafka.broker.groups.group_offsets import CommittedOffset
    from kafka.broker.sasl.credentials import Credentials
    from kafka.broker.sasl.login import Login
    from kafka.broker.share.share_coordinator import ShareCoordinator
    from kafka.broker.transactions.transaction_coordinator import TransactionCoordinator

log = logging.getLogger(__name__)


PRODUCER_EXPIRY_MS = 86_400_000
"""Kafka's default for ``producer.id.expiration.ms``."""

CommitObserver = Callable[[str, str, Mapping[tuple[str, int], "CommittedOffset"]], None]
"""Called for each accepted commit with the group, the client id, and the offsets by topic and partition."""


class Endpoint(NamedTuple):
    """The address at which clients reach the broker."""

    host: str
    port: int


class RequestContext(NamedTuple):
    """The context of a request: its version, its client, and its connection."""

    version: int
    client_id: str
    client_host: str
    connection: object = None
    """The connection on which the request arrived."""
    client_port: int = 0
    login: "Login | None" = None
    """The connection's login; None if the listener does not require one."""
    sends_more: bool = True
    """Whether the client may send further requests.

    A client that has closed its connection cannot acknowledge records that are sent to it now.
    """


class Broker:
    """A broker that stores its data in `data_dir`, and its parts, which all run on one event loop.

    `clock` is the only source of time, and `randomness` the only source of random numbers (topic, member and session
    ids), so two runs with the same clock and random numbers are identical. `commit_accepted` is called for each commit
    before the response is sent.
    """

    def __init__(
        self,
        data_dir: Path,
        settings: BrokerSettings,
        clock: Clock,
        endpoint: Endpoint,
        randomness: random.Random | None = None,
        commit_accepted: CommitObserver | None = None,
    ) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        self.settings = settings
        self.clock = clock
        self.endpoint = endpoint
        self.commit_accepted = commit_accepted
        self._random = randomness or random.SystemRandom()
        self.identity = Identity(data_dir, settings.fsync, self._random, clock.wall_ms())
        self.topics = TopicStore(data_dir, settings, self._random)
        self.sessions = FetchSessions(settings.max_fetch_sessions, self._random)
        self.is_killed = False
        """Whether the broker simulates a killed process, so that it writes nothing more to disk."""
        self.software: dict[object, tuple[str, str]] = {}
        """Names and versions of client software, by connection."""
        self._data_dir = data_dir
        self._groups: "GroupCoordinator | None" = None
        self._shares: "ShareCoordinator | None" = None
        self._transactions: "TransactionCoordinator | None" = None
        self._transactions_file = data_dir / "transactions.log"
        if self._transactions_file.exists():
            # Open transactions may time out, and the markers of prepared transactions must be written.
            self._load_transactions()
        if settings.users:
            # Report unreadable credentials now; otherwise the broker would close each client's connection.
            self.credentials  # noqa: B018

    @property
    def groups(self) -> "GroupCoordinator":
        """The group coordinator; loaded by the first request that needs it, to keep startup fast."""
        if self._groups is None:
            from kafka.broker.groups.consumer_journal import ConsumerGroupJournal
            from kafka.broker.groups.group_coordinator import GroupCoordinator
            from kafka.broker.groups.group_offsets import OffsetJournal

            journal = OffsetJournal(self._data_dir / "offsets.log", self.settings.fsync)
            self._groups = GroupCoordinator(
                self.clock,
                self.settings,
                journal,
                ConsumerGroupJournal(self._data_dir / "consumers.log", self.settings.fsync),
                self._random,
                lambda: {topic.name: (topic.topic_id, topic.partitions) for topic in self.topics},
                lambda group_id: self.group_configs.number(group_id, "consumer.session.timeout.ms"),
            )
        return self._groups

    @property
    def transactions(self) -> "TransactionCoordinator":
        """The transaction coordinator.

        Loaded at startup if there are transactions on disk, otherwise by the first request that needs it.
        """
        return self._transactions or self._load_transactions()

    def _load_transactions(self) -> "TransactionCoordinator":
        from kafka.broker.transactions.transaction_coordinator import MarkerWriter, TransactionCoordinator
        from kafka.broker.transactions.transaction_metadata import TransactionJournal

        self._transactions = TransactionCoordinator(
            self.clock,
            self.settings,
            TransactionJournal(self._transactions_file, self.settings.fsync),
            MarkerWriter(self.topics, lambda: self.groups, self.now_ms),
            self.identity.next_producer_id,
        )
        return self._transactions

    @property
    def shares(self) -> "ShareCoordinator":
        """The share group coordinator; loaded by the first request for a group of any type."""
        if self._shares is None:
            from kafka.broker.share.share_coordinator import ShareCoordinator
            from kafka.broker.share.share_journal import ShareJournal

            journal = ShareJournal(self._data_dir / "shares.log", self.settings.fsync)
            self._shares = ShareCoordinator(
                self.clock,
                self.settings,
                self.group_configs,
                self.topics,
                journal,
                lambda name: name in self.groups.groups,
            )
        return self._shares

    @functools.cached_property
    def group_configs(self) -> "GroupConfigs":
        """The group configs."""
        from kafka.broker.group_configs import GroupConfigs

        return GroupConfigs(self._data_dir / "group-configs.json", self.settings)

    @functools.cached_property
    def client_metrics(self) -> "ClientMetrics":
        """The client metrics subscriptions."""
        from kafka.broker.client_metrics import ClientMetrics

        return ClientMetrics(self._data_dir / "client-metrics.json", self.settings)

    @functools.cached_property
    def telemetry(self) -> "Telemetry":
        """The clients that push metrics, and the metrics they have pushed."""
        from kafka.broker.client_metrics import Telemetry

        return Telemetry(self.client_metrics, self.settings.telemetry_max_bytes, self.now_ms, self._new_id)

    @functools.cached_property
    def credentials(self) -> "Credentials":
        """The users and their passwords."""
        from kafka.broker.sasl.credentials import AlteredCredentials, Credentials

        altered = AlteredCredentials(self._data_dir / "scram-credentials.json", self.settings.fsync)
        return Credentials(self.settings.users, self._random, altered)

    def new_login(self) -> "Login | None":
        """Create the login state for a new connection; return None if the broker has no users."""
        if not self.settings.users:
            return None
        from kafka.broker.sasl.login import Login

        return Login(self.credentials, self.clock, self.settings.connections_max_reauth_ms)

    def _new_id(self) -> uuid.UUID:
        return uuid.UUID(int=self._random.getrandbits(128), version=4)

    def disconnected(self, connection: object) -> None:
        """Discard the state of a closed connection."""
        self.software.pop(connection, None)
        if self.settings.client_telemetry:
            self.telemetry.disconnected(connection)
        if self._shares is not None and not self.is_killed:
            self._shares.disconnected(connection)

    def now_ms(self) -> int:
        """Return the wall clock time in milliseconds."""
        return self.clock.wall_ms()

    def clean(self) -> Iterator[None]:
        """Compact journals, apply retention and remove expired state, in short steps."""
        now_ms = self.now_ms()
        if self._groups is not None:
            self._groups.compact_if_worthwhile()
        if self._shares is not None:
            self._shares.compact_if_worthwhile()
        if self._transactions is not None:
            self._transactions.forget_unused()
        yield from self.topics.apply_retention(now_ms, now_ms - PRODUCER_EXPIRY_MS)

    def close(self) -> None:
        """Close all files cleanly."""
        if self._transactions is not None:
            self._transactions.close()
        if self._shares is not None:
            self._shares.close()
        if self._groups is not None:
            self._groups.close()
        self.topics.close()

    def crash(self, lose_unsynced: bool) -> None:
        """Stop like a killed process or, with `lose_unsynced`, like a machine that has lost power."""
        if lose_unsynced:
            self.topics.discard_unsynced()
            if self._groups is not None:
                self._groups.discard_unsynced()
            if self._shares is not None:
                self._shares.discard_unsynced()
            if self._transactions is not None:
                self._transactions.discard_unsynced()
        if self._transactions is not None:
            self._transactions.close()
        if self._shares is not None:
            self._shares.close()
        if self._groups is not None:
            self._groups.close()
        self.topics.close(in_order=False)


_BLOCK: Final = 1000


class Identity:
    """The cluster id and the next producer id, stored in `data_dir`.

    Producer ids are reserved on disk in blocks, so most allocations do not write to disk. If the file is damaged, new
    producer ids are derived from the wall clock `now_ms`.
    """

    def __init__(self, data_dir: Path, sync: bool, randomness: random.Random, now_ms: int) -> None:
        self._path = data_dir / "meta.json"
        self._sync = sync
        # Kafka formats cluster ids as 22 characters of URL-safe base64.
        self.cluster_id = base64.urlsafe_b64encode(randomness.randbytes(16)).decode().rstrip("=")
        self._next_producer_id = 0
        if self._path.exists():
            self._load(now_ms)
        self._reserved_until = self._next_producer_id
        self._save()

    def _load(self, now_ms: int) -> None:
        try:
            known = json.loads(self._path.read_bytes())
            self.cluster_id, self._next_producer_id = str(known["cluster_id"]), int(known["next_producer_id"])
        except (ValueError, LookupError, TypeError) as error:
            # No id may be used twice: this value is far above any id that could have been allocated.
            self._next_producer_id = now_ms * _BLOCK
            log.error(
                "%s is damaged (%s: %s); it is kept as %s. The cluster has a new id, and producer ids begin at %d",
                self._path,
                type(error).__name__,
                error,
                keep_damaged(self._path).name,
                self._next_producer_id,
            )

    def next_producer_id(self) -> int:
        """Return a producer id that has never been returned before, even across crashes; raises OSError."""
        producer_id = self._next_producer_id
        if producer_id >= self._reserved_until:
            self._save(producer_id + _BLOCK)
            self._reserved_until = producer_id + _BLOCK
        self._next_producer_id += 1
        return producer_id

    def _save(self, reserved_until: int | None = None) -> None:
        until = self._reserved_until if reserved_until is None else reserved_until
        known = {"cluster_id": self.cluster_id, "next_producer_id": until}
        replace_file(self._path, json.dumps(known).encode(), sync_name=self._sync)
