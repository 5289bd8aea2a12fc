"""Random failures in a simulated cluster: silent networks, cut connections, and brokers that stop and restart."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable

from kafka.broker.faults import Faults
from kafka.errors import (
    BrokerResponseError,
    ConcurrentTransactionsError,
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    LeaderNotAvailableError,
    NotCoordinatorError,
    NotEnoughReplicasAfterAppendError,
    NotEnoughReplicasError,
    NotLeaderForPartitionError,
    RebalanceInProgressError,
    RequestTimedOutError,
    UnknownMemberIdError,
)
from kafka.testing.network import Network
from kafka.testing.simulated_cluster import SimulatedCluster
from kafka.testing.story import Story

APIS = (
    "Produce",
    "Fetch",
    "ListOffsets",
    "Metadata",
    "OffsetCommit",
    "OffsetFetch",
    "FindCoordinator",
    "JoinGroup",
    "SyncGroup",
    "Heartbeat",
    "LeaveGroup",
    "InitProducerId",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "TxnOffsetCommit",
    "EndTxn",
)
"""Requests to which brokers may respond late, with a truncated response, or never."""

_COORDINATOR: tuple[type[BrokerResponseError], ...] = (
    NotCoordinatorError,
    CoordinatorNotAvailableError,
    CoordinatorLoadInProgressError,
)
ERRORS: tuple[tuple[str, tuple[type[BrokerResponseError], ...]], ...] = (
    ("Produce", (NotLeaderForPartitionError, NotEnoughReplicasError, NotEnoughReplicasAfterAppendError)),
    ("Fetch", (NotLeaderForPartitionError, RequestTimedOutError)),
    ("ListOffsets", (NotLeaderForPartitionError, LeaderNotAvailableError)),
    ("FindCoordinator", (CoordinatorNotAvailableError,)),
    ("JoinGroup", (*_COORDINATOR, UnknownMemberIdError)),
    ("SyncGroup", (*_COORDINATOR, UnknownMemberIdError, RebalanceInProgressError)),
    ("Heartbeat", (*_COORDINATOR, UnknownMemberIdError, RebalanceInProgressError)),
    ("OffsetCommit", _COORDINATOR),
    ("OffsetFetch", _COORDINATOR),
    ("InitProducerId", (*_COORDINATOR, ConcurrentTransactionsError)),
    ("AddPartitionsToTxn", (*_COORDINATOR, ConcurrentTransactionsError)),
    ("AddOffsetsToTxn", (*_COORDINATOR, ConcurrentTransactionsError)),
    ("TxnOffsetCommit", _COORDINATOR),
    ("EndTxn", (*_COORDINATOR, ConcurrentTransactionsError)),
)
"""Errors from which clients recover, by the API that fails with them."""


CALM_AFTER_S = 30.0
"""Seconds after which failures no longer have any effects; longer than any request, pause or session."""


class Chaos:
    """Causes random failures at random times.

    Arguments:
        network: the simulated network.
        cluster: the simulated brokers.
        rng: the source of random numbers.
        story: records the failures.
    """

    def __init__(self, network: Network, cluster: SimulatedCluster, rng: random.Random, story: Story) -> None:
        self._network = network
        self._cluster = cluster
        self._rng = rng
        self._story = story
        self._calm_from = math.inf
        self._kinds: tuple[Callable[[], Awaitable[None]], ...] = (
            self._cut,
            self._silence,
            self._refuse,
            self._slow,
            self._restart,
            self._crash,
            self._fail_requests,
            self._delay_requests,
            self._drop_answers,
            self._cut_answers,
        )

    async def run(self, seconds: float) -> None:
        """Cause failures for a number of seconds, then end all of them."""
        loop = self._network.loop
        if not seconds:
            self._calm_from = loop.time()
            return
        end = loop.time() + seconds
        while loop.time() < end:
            await asyncio.sleep(self._rng.expovariate(1 / 5.0))
            await self._rng.choice(self._kinds)()
        self._network.heal()
        for faults in self._cluster.faults.values():
            faults.clear()
        self._network.latency_s = (0.000_2, 0.002)
        await self._cluster.start_all()
        self._calm_from = loop.time() + CALM_AFTER_S
        self._story.tell("network", "is healed")

    def is_over(self) -> bool:
        """Return whether all failures and their effects are over."""
        return self._network.loop.time() >= self._calm_from

    async def _cut(self) -> None:
        after = self._rng.choice((0, 1, 100, 10_000))
        count = self._network.cut_connections(self._rng.choice(self._cluster.hosts), after_bytes=after)
        self._story.tell("network", f"{count} connections are cut after {after} bytes")

    async def _silence(self) -> None:
        host, seconds = self._rng.choice(self._cluster.hosts), self._rng.uniform(0.1, 20.0)
        self._story.tell("network", f"{host} is silent for {seconds:.3f} s")
        self._network.silence(host, seconds)

    async def _refuse(self) -> None:
        host, seconds = self._rng.choice(self._cluster.hosts), self._rng.uniform(0.1, 10.0)
        self._story.tell("network", f"{host} refuses connections for {seconds:.3f} s")
        self._network.refuse_connections(host, seconds)
        self._network.cut_connections(host)

    async def _slow(self) -> None:
        longest = self._rng.choice((0.002, 0.05, 0.5))
        self._network.latency_s = (0.000_2, longest)
        self._story.tell("network", f"bytes take up to {longest} s")

    def _faults(self) -> tuple[str, Faults]:
        host = self._rng.choice(self._cluster.hosts)
        return host, self._cluster.faults[host]

    async def _fail_requests(self) -> None:
        host, faults = self._faults()
        api, errors = self._rng.choice(ERRORS)
        error, times = self._rng.choice(errors), self._rng.randrange(1, 10)
        self._story.tell(host, f"answers {times} {api} with {error.__name__}")
        faults.fail(error, api=api, times=times)

    async def _delay_requests(self) -> None:
        host, faults = self._faults()
        api, seconds, handled = self._rng.choice(APIS), self._rng.uniform(0.1, 20.0), self._rng.random() < 0.5
        # If a broker executes a commit long after its client has abandoned it and committed again on another
        # connection, the group's offset moves back. Kafka's brokers behave the same way, and no client can prevent it.
        handled = handled or api == "OffsetCommit"
        self._story.tell(host, f"answers one {api} after {seconds:.3f} s{' that it served at once' * handled}")
        faults.delay(seconds, handled=handled, api=api, times=1)

    async def _drop_answers(self) -> None:
        host, faults = self._faults()
        api, handled = self._rng.choice(APIS), self._rng.random() < 0.5
        self._story.tell(host, f"never answers one {api}{' that it served' * handled}")
        faults.drop_answers(handled=handled, api=api, times=1)

    async def _cut_answers(self) -> None:
        host, faults = self._faults()
        api, nbytes = self._rng.choice(APIS), self._rng.choice((0, 1, 4, 20))
        self._story.tell(host, f"cuts the answer to one {api} after {nbytes} bytes")
        faults.cut_answers(nbytes, api=api, times=1)

    async def _restart(self) -> None:
        host = self._rng.choice(self._cluster.hosts)
        self._story.tell(host, "is stopped")
        await self._cluster.stop(host)
        await asyncio.sleep(self._rng.uniform(0.0, 10.0))
        await self._cluster.start(host)
        self._story.tell(host, "is started")

    async def _crash(self) -> None:
        host = self._rng.choice(self._cluster.hosts)
        power_fails = self._cluster.survives_power_loss and self._rng.random() < 0.5
        self._story.tell(host, "loses its power" if power_fails else "is killed")
        await self._cluster.crash(host, lose_unsynced=power_fails)
        await asyncio.sleep(self._rng.uniform(0.0, 10.0))
        await self._cluster.start(host)
        self._story.tell(host, "is started")
