"""The brokers of a simulation, each on its own host in the simulated network. Currently there is one broker."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from kafka.broker.broker_server import BrokerServer
from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.clock import Timer
from kafka.broker.faults import Faults
from kafka.broker.groups.group_offsets import CommittedOffset
from kafka.structs import TopicPartition
from kafka.testing.ledger import CommitLedger, GroupPartition
from kafka.testing.simulated_loop import SimulatedLoop
from kafka.testing.transaction_trial import GROUPS

PORT = 9092
"""The port of every simulated broker."""


class SimulatedClock:
    """A broker's clock that follows the simulated loop.

    Arguments:
        loop: the loop.
    """

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def time(self) -> float:
        """Return the loop's time."""
        return self._loop.time()

    def wall_ms(self) -> int:
        """Return the loop's wall clock time, in milliseconds."""
        return self._loop.wall_clock_ns() // 1_000_000

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timer:
        """Call ``callback`` on the loop after ``delay`` seconds."""
        return self._loop.call_later(delay, callback)


class SimulatedCluster:
    """Brokers that can be stopped, killed and started by host name.

    Arguments:
        loop: the loop on which the brokers run.
        data_dir: a folder for the brokers' data.
        commits: records each accepted commit, and the stored offsets each time a broker starts.
        settings: the settings of each broker, as for `EmbeddedBroker`.

    Attributes:
        hosts: the host names of all brokers.
        faults: the fault rules of each broker, by host. They survive a restart.
    """

    def __init__(self, loop: SimulatedLoop, data_dir: Path, commits: CommitLedger, **settings: object) -> None:
        self.hosts: tuple[str, ...] = ("broker-1",)
        self.faults: dict[str, Faults] = {host: Faults() for host in self.hosts}
        self._commits = commits
        parsed = BrokerSettings.from_names(settings)
        self.survives_power_loss = parsed.fsync
        self._brokers = {
            host: BrokerServer(
                data_dir / host,
                host,
                PORT,
                parsed,
                clock=SimulatedClock(loop),
                randomness=Random(loop.random.getrandbits(64)),
                faults=self.faults[host],
                commit_accepted=self._commit_accepted,
            )
            for host in self.hosts
        }
        self._running: set[str] = set()

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of all brokers, for the client option with this name."""
        return ",".join(f"{host}:{PORT}" for host in self.hosts)

    async def start(self, host: str) -> None:
        """Start a broker, unless it is running."""
        if host not in self._running:
            await self._brokers[host].start()
            self._running.add(host)
            self._commits.stored(host, self.stored_offsets(host))

    def stored_offsets(self, host: str) -> dict[GroupPartition, int]:
        """Return the offsets that a running broker has stored, except those committed in transactions."""
        stored = self._brokers[host].committed_offsets()
        return {
            (group, TopicPartition(*key)): offset
            for group, offsets in stored.items()
            if not group.startswith(GROUPS)
            for key, offset in offsets.items()
        }

    async def start_all(self) -> None:
        """Start all brokers that are not running."""
        for host in self.hosts:
            await self.start(host)

    async def stop(self, host: str) -> None:
        """Stop a broker cleanly, if it is running."""
        if host in self._running:
            self._running.discard(host)
            await self._brokers[host].stop()

    async def crash(self, host: str, *, lose_unsynced: bool = False) -> None:
        """Kill a broker as with `kill -9` or, with ``lose_unsynced``, as in a power failure."""
        if host in self._running:
            self._running.discard(host)
            await self._brokers[host].crash(lose_unsynced=lose_unsynced)

    async def stop_all(self) -> None:
        """Stop all running brokers."""
        for host in self.hosts:
            await self.stop(host)

    def _commit_accepted(self, group: str, client_id: str, offsets: Mapping[tuple[str, int], CommittedOffset]) -> None:
        self._commits.accept(group, client_id, {TopicPartition(*key): each.offset for key, each in offsets.items()})
