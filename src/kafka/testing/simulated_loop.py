"""An event loop with virtual time and an in-memory network: days pass in seconds, and a seed repeats a run."""

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
"""What the wall clock shows when the loop's own clock stands at 0: the beginning of 2026, UTC."""


class SimulationStuckError(RuntimeError):
    """Everything waits for something else: no timer is due, ever, and no byte is on its way."""


class _VirtualSelector(selectors.SelectSelector):
    """Waits for nothing: the time that the loop would have waited has passed when `select` returns."""

    loop: "SimulatedLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # Besides the descriptor that other threads wake the loop by, for which it looks at its queue anyway.
        ready = super().select(0) if len(self.get_map()) > 1 else []
        if not ready:
            if timeout is None:
                raise SimulationStuckError("no timer is set and nothing is on its way: the simulation would hang")
            self.loop._pass(max(timeout, 0.0))
        return ready


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A loop on which clients and embedded brokers run together, in one thread and without real sockets.

    What clients take from their loop besides timers (see `kafka._loop_services`) comes from the seed and the virtual
    clock too: random numbers, the wall clock, and calls that block, which are simply made.

    Arguments:
        seed: of all random numbers.

    Attributes:
        random: where simulated parts take their random numbers from.
        network: the network; hosts are names of any kind, and nothing outside can be reached.
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

    # The clocks -------------------------------------------------------------------------------------------------------

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._now

    def wall_clock_ns(self) -> int:
        """Nanoseconds since 1970, by the virtual clock."""
        return int((EPOCH_S + self._now) * 1e9)

    def _pass(self, seconds: float) -> None:
        self._now += seconds

    def timers(self) -> list[asyncio.TimerHandle]:
        """The timers that are set, in no order."""
        scheduled: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        return [timer for timer in scheduled if not timer.cancelled()]

    # What would leave the thread --------------------------------------------------------------------------------------

    def call_blocking(self, function: Callable[[], T]) -> T:
        """Make a call for which a real loop would need another thread.

        Arguments:
            function: what is called, in this thread.
        """
        return function()

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Call ``func(*args)`` now; the future is done.

        Arguments:
            executor: no effect.
            func: what is called.
            args: its arguments.
        """
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    # The network ------------------------------------------------------------------------------------------------------

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        """Every name that the network knows is its own address.

        Arguments:
            host: a name of the network.
            port: given back in the address.
            options: no effect.
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
        """As asyncio's, over the in-memory network; without TLS.

        Arguments:
            protocol_factory: makes the protocol.
            host: a name of the network.
            port: where a server listens.
            ssl: has to be None or False.
            options: no effect.
        """
        if ssl is not None:
            raise NotImplementedError("the simulated network has no TLS: use security_protocol='PLAINTEXT'")
        return await self.network.connect(protocol_factory, str(host), int(port))

    async def create_server(  # type: ignore[override]  # the part of it that the embedded broker uses
        self, protocol_factory: Callable[[], Any], host: Any = None, port: Any = None, **options: Any
    ) -> MemoryServer:
        """As asyncio's, over the in-memory network; port 0 gives a free one.

        Arguments:
            protocol_factory: makes a protocol for each connection.
            host: a name of the network.
            port: 0: a free one.
            options: no effect.
        """
        return self.network.listen(protocol_factory, str(host), int(port or 0))

    def remove_reader(self, fd: Any) -> bool:
        """As asyncio's; servers of the in-memory network have no descriptor to remove.

        Arguments:
            fd: what has a descriptor; a socket of this network has none.
        """
        return False if isinstance(fd, int) and fd < 0 else super().remove_reader(fd)


def run_simulated(scenario: Callable[[], Coroutine[Any, Any, T]], seed: int = 0) -> T:
    """Run ``scenario()`` to its end on a `SimulatedLoop` made from ``seed``; returns what it returns.

    Raises what the scenario raises, and `SimulationStuckError` where nothing can happen any more.
    """
    with asyncio.Runner(loop_factory=lambda: SimulatedLoop(seed)) as runner:
        return runner.run(scenario())
