"""What the handlers of requests work with: the broker's parts, and the facts about one request."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kafka.broker.identity import Identity
from kafka.broker.sessions import FetchSessions
from kafka.broker.settings import BrokerSettings
from kafka.broker.topics import TopicStore

if TYPE_CHECKING:
    from kafka.broker.groups.coordinator import GroupCoordinator
    from kafka.broker.groups.timers import Timers

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


class Broker:
    """The parts of a broker on the data in `data_dir`; all of it runs on one event loop, whose timers are `timers`."""

    def __init__(self, data_dir: Path, settings: BrokerSettings, timers: "Timers", endpoint: Endpoint) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        self.settings = settings
        self.timers = timers
        self.endpoint = endpoint
        self.identity = Identity(data_dir, settings.fsync)
        self.topics = TopicStore(data_dir, settings)
        self.sessions = FetchSessions(settings.max_fetch_sessions)
        self._data_dir = data_dir
        self._groups: "GroupCoordinator | None" = None

    @property
    def groups(self) -> "GroupCoordinator":
        """The groups; loaded with the first request that is about one, so that the broker is ready sooner."""
        if self._groups is None:
            from kafka.broker.groups.coordinator import GroupCoordinator
            from kafka.broker.groups.journal import OffsetJournal

            journal = OffsetJournal(self._data_dir / "offsets.log", self.settings.fsync)
            self._groups = GroupCoordinator(self.timers, self.settings, journal)
        return self._groups

    def now_ms(self) -> int:
        """The wall clock."""
        return time.time_ns() // 1_000_000

    def clean(self) -> None:
        """What is done from time to time: retention, and forgetting what is out of date."""
        now_ms = self.now_ms()
        self.topics.apply_retention(now_ms, now_ms - PRODUCER_EXPIRY_MS)
        if self._groups is not None:
            self._groups.compact_if_worthwhile()

    def close(self) -> None:
        """Leave everything in order on disk."""
        if self._groups is not None:
            self._groups.close()
        self.topics.close()
