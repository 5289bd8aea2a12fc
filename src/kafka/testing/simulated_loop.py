"""An event loop with virtual time and an in-memory network. Days pass in seconds, and a seed reproduces a run."""

import asyncio
import random
import selectors
import socket
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, TypeVar, TypeVarTuple

from kafka.testing.network import MemoryServer, Network

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

EPOCH_S = 1_767_225_600.0
"""The wall clock time at loop time 0: the start of 2026 (UTC), in seconds since 1970."""


class SimulationStuckError(RuntimeError):
    """The simulation is deadlocked: no timer is set and no bytes are in flight."""


class _VirtualSelector(selectors.SelectSelector):
    """A selector that never blocks: `select` advances the virtual clock by the time that the loop would have waited."""

    loop: "SimulatedLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # A single descriptor only lets other threads wake the loop, and the loop checks its queue anyway.
        ready = super().select(0) if len(self.get_map()) > 1 else []
        if not ready:
            if timeout is None:
                raise SimulationStuckError("no timer is set and nothing is on its way: the simulation would hang")
            self.loop._pass(max(timeout, 0.0))
        return ready


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A loop on which clients and embedded brokers run together, in one thread and without real sockets.

    The loop's other services for clients (see `kafka._loop_services`) are simulated as well: random numbers come from
    the seed, the wall clock is virtual, and blocking calls run on the loop's thread.

    Arguments:
        seed: the seed for all random numbers.

    Attributes:
        random: the source of random numbers for simulated parts.
        network: the network. Host names are arbitrary, and nothing outside the network is reachable.
    """

    _resolution_s: ClassVar[float] = 1e-9

    def __init__(self, seed: int = 0) -> None:
        selector = _VirtualSelector()
        super().__init__(selector)
        selector.loop = self
        self._now = 0.0
        self._clock_resolution = self._resolution_s
        self.random = random.Random(seed)
        self.network = Network(self, random.Random(self.random.getrandbits(64)))

    # Clocks -----------------------------------------------------------------------------------------------------------

    def time(self) -> float:
        """Return the seconds since the loop was created."""
        return self._now

    def wall_clock_ns(self) -> int:
        """Return the virtual wall clock time, in nanoseconds since 1970."""
        return int((EPOCH_S + self._now) * 1e9)

    def _pass(self, seconds: float) -> None:
        self._now += seconds

    def timers(self) -> list[asyncio.TimerHandle]:
        """Return the pending timers, in no particular order."""
        scheduled: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        return [timer for timer in scheduled if not timer.cancelled()]

    # Other threads ----------------------------------------------------------------------------------------------------

    def call_blocking(self, function: Callable[[], T]) -> T:
        """Call a blocking function, which would run in another thread on a real loop.

        Arguments:
            function: called on this thread.
        """
        return function()

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Call ``func(*args)`` now, and return a completed future.

        Arguments:
            executor: ignored.
            func: the function.
            args: its arguments.
        """
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    # Network ----------------------------------------------------------------------------------------------------------

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        """Resolve a host name to itself, if it is known.

        Arguments:
            host: a name of the network.
            port: returned in the address.
            options: ignored.
        """
        if not self.network.knows(str(host)):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (str(host), int(port)))]

    async def create_connection(
        self,
        protocol_factory: Callable[[], Any],
        host: Any = None,
        port: Any = None,
        *,
        ssl: Any = None,
        **options: Any,
    ) -> tuple[Any, Any]:
        """Connect over the in-memory network, without TLS; see `asyncio.loop.create_connection`.

        Arguments:
            protocol_factory: creates the protocol.
            host: a name of the network.
            port: the server's port.
            ssl: must be None or False.
            options: ignored.
        """
        if ssl is not None:
            raise NotImplementedError("the simulated network has no TLS: use security_protocol='PLAINTEXT'")
        return await self.network.connect(protocol_factory, str(host), int(port))

    async def create_server(  # type: ignore[override]  # the part of it that the embedded broker uses
        self, protocol_factory: Callable[[], Any], host: Any = None, port: Any = None, **options: Any
    ) -> MemoryServer:
        """Listen on the in-memory network; see `asyncio.loop.create_server`.

        Arguments:
            protocol_factory: creates a protocol for each connection.
            host: a name of the network.
            port: the port; 0: a free one.
            options: ignored.
        """
        return self.network.listen(protocol_factory, str(host), int(port or 0))

    def remove_reader(self, fd: Any) -> bool:
        """Stop watching a descriptor, if it is a real one; see `asyncio.loop.remove_reader`.

        Arguments:
            fd: a descriptor, or an object that has one.
        """
        return False if isinstance(fd, int) and fd < 0 else super().remove_reader(fd)


def run_simulated(scenario: Callable[[], Coroutine[Any, Any, T]], seed: int = 0) -> T:
    """Run ``scenario()`` to completion on a `SimulatedLoop` with this ``seed``, and return its result.

    Raises any exception that the scenario raises, and `SimulationStuckError` if the simulation is deadlocked.
    """
    with asyncio.Runner(loop_factory=lambda: SimulatedLoop(seed)) as runner:
        return runner.run(scenario())
