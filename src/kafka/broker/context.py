"""What the handlers of requests work with: the broker's parts, and the facts about one request."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from kafka.broker.groups.coordinator import GroupCoordinator
from kafka.broker.groups.journal import OffsetJournal
from kafka.broker.groups.timers import Timers
from kafka.broker.identity import Identity
from kafka.broker.sessions import FetchSessions
from kafka.broker.settings import BrokerSettings
from kafka.broker.topics import TopicStore

PRODUCER_EXPIRY_MS = 86_400_000
"""``producer.id.expiration.ms``."""


class Endpoint(NamedTuple):
    """Where clients reach the broker."""

    host: str
    port: int


class RequestContext(NamedTuple):
    """The facts about a request beside its body."""

    version: int
    client_id: str
    client_host: str


@dataclass(slots=True)
class Broker:
    """The parts of a broker, opened on `data_dir`; all of it runs on one event loop."""

    settings: BrokerSettings
    identity: Identity
    topics: TopicStore
    groups: GroupCoordinator
    sessions: FetchSessions
    timers: Timers
    endpoint: Endpoint

    @classmethod
    def open(cls, data_dir: Path, settings: BrokerSettings, timers: Timers, endpoint: Endpoint) -> "Broker":
        """Open what is in `data_dir`, or begin anew there."""
        data_dir.mkdir(parents=True, exist_ok=True)
        journal = OffsetJournal(data_dir / "offsets.log", settings.fsync)
        return cls(
            settings,
            Identity(data_dir, settings.fsync),
            TopicStore(data_dir, settings),
            GroupCoordinator(timers, settings, journal),
            FetchSessions(settings.max_fetch_sessions),
            timers,
            endpoint,
        )

    def now_ms(self) -> int:
        """The wall clock."""
        return time.time_ns() // 1_000_000

    def clean(self) -> None:
        """What is done from time to time: retention, and forgetting what is out of date."""
        now_ms = self.now_ms()
        self.topics.apply_retention(now_ms, now_ms - PRODUCER_EXPIRY_MS)
        self.groups.compact_if_worthwhile()

    def close(self) -> None:
        """Leave everything in order on disk."""
        self.groups.close()
        self.topics.close()
