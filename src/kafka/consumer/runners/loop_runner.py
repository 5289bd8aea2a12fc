"""Waiting in the asyncio consumer: on the caller's own loop, which also runs the rest of the consumer."""

import asyncio
import contextvars
import functools
import inspect
import warnings
import weakref
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

from kafka.errors import KafkaTimeoutError
from kafka.net.callback_thread import CallbackRunner, LoopCallbacks
from kafka.net.own_loop import OwnLoop, clock_of
from kafka.net.pending_requests import CheckTimer

Owner = TypeVar("Owner")
Result = TypeVar("Result")


class _Call:
    """A running user function. Tasks that it starts inherit its context, and count as part of the call while it runs.

    Arguments:
        runner: the runner that called the function; None after the function has returned.
        outer: the enclosing call, or None.

    Attributes:
        task: the task that called the function.
    """

    __slots__ = ("outer", "runner", "task")

    def __init__(self, runner: "LoopRunner", outer: "_Call | None") -> None:
        self.runner: LoopRunner | None = runner
        self.outer = outer
        self.task = asyncio.current_task()


_innermost: contextvars.ContextVar[_Call | None] = contextvars.ContextVar("kafka_consumer_call", default=None)


class AnyCaller:
    """Counterpart of `PollGuard` that never refuses: several tasks may poll, and share the records.

    It holds nothing, because the loop may continue in another thread while tasks are polling.
    """

    __slots__ = ("__enter__", "__exit__", "is_polling")

    __enter__: Callable[..., bool]
    __exit__: Callable[..., object]

    def __init__(self) -> None:
        # Two functions that do nothing, take the arguments, return something false, and are not Python functions.
        self.__enter__ = bool
        self.__exit__ = "".format
        self.is_polling = False


def _wake_waiters(reference: "weakref.ref[LoopRunner]") -> None:
    """Let the waiters of a runner, unless it was dropped, see whether their time is up."""
    runner = reference()
    for waiter in () if runner is None else runner._waiters:
        if not waiter.done():
            waiter.set_result(None)


class LoopRunner(OwnLoop):
    """See `kafka.consumer.parts.Runner`: both sides are on one loop, so nothing has to cross threads.

    Created on that loop.
    """

    def __init__(self) -> None:
        super().__init__()
        self.owner = "AsyncKafkaConsumer"
        """The name of the consumer in warnings that it was not closed."""
        self.time: Callable[[], float] = clock_of(self.loop)
        """The loop's clock, in seconds."""
        self._news: list[None] = []  # not empty if there is news; its methods are not Python functions
        self.clear: Callable[[], None] = self._news.clear
        """Forget earlier news. The caller checks everything between this and `wait`."""
        self._waiters: list[asyncio.Future[None]] = []
        self._told = 0
        """Number of notifications, by which a waiter recognizes news that another waiter has already forgotten."""
        self._timer = CheckTimer(self.loop, functools.partial(_wake_waiters, weakref.ref(self)))
        self.poll_guard = AnyCaller()
        self._attendant: asyncio.Event | None = None
        self._turn = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None

    # Between the two sides --------------------------------------------------------------------------------------------

    def notify(self) -> None:
        """Wake the caller if it is waiting. May be called from any thread."""
        try:
            here = asyncio.get_running_loop() is self.loop
        except RuntimeError:
            here = False
        if here:
            self._tell()
        else:
            self.loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        if not self._news:
            self._news.append(None)
        self._told += 1
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        if self._attendant is not None:
            self._attendant.set()

    def news_for_attendant(self) -> asyncio.Event:
        """Return an event that is set at each notification, for an observer other than the caller."""
        self._attendant = asyncio.Event()
        self._attendant.set()
        return self._attendant

    def submit(self, function: Callable[..., object], *args: object) -> None:
        """Call ``function(*args)`` immediately. Raises the errors of `check`."""
        self.check()
        function(*args)

    def on_loop_death(self, owner: Owner, tell: Callable[[Owner, Exception], object]) -> None:
        """Do nothing: if the loop fails, so does the caller."""

    def callback_runner(self, name: str) -> CallbackRunner:
        """Return the loop itself."""
        return LoopCallbacks(self.loop)

    # The caller's side ------------------------------------------------------------------------------------------------

    async def wait(self, timeout_s: float) -> None:
        """Wait for a notification, up to the timeout."""
        if self._news:
            return
        # The timer outlives the wait, so that consecutive calls with the same timeout share it: a call that ends early,
        # as most do, neither creates nor cancels one.
        ends_at, told = self.time() + timeout_s, self._told
        while True:
            if ends_at < self._timer.due_at:
                self._timer.at(ends_at)
            waiter: asyncio.Future[None] = self.loop.create_future()
            self._waiters.append(waiter)
            try:
                await waiter
                if self._told != told or self.time() >= ends_at:
                    return
            finally:
                self._waiters.remove(waiter)

    async def yield_to_loop(self) -> None:
        """Let the loop run before a call returns without a result; otherwise a tight polling loop would starve it."""
        await asyncio.sleep(0)

    async def run(self, coroutine: Coroutine[Any, Any, Result], timeout_ms: float | None = None) -> Result:
        """Await a coroutine of the core; the coroutine itself enforces ``timeout_ms``. Raises the errors of `check`."""
        return await self.checked(coroutine)

    async def run_through(self, coroutine: Coroutine[Any, Any, Result], timeout_ms: float) -> Result:
        """Await a coroutine in the caller's own task, which is cancelled as a whole."""
        return await coroutine

    async def call(self, function: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Call a user function, and await its result if that is awaitable."""
        call = _Call(self, _innermost.get())
        try:
            _innermost.set(call)
            result = function(*args, **kwargs)
            if inspect.isawaitable(result):
                await result
        finally:
            call.runner = None
            _innermost.set(call.outer)

    def if_alone(self, function: Callable[[], object]) -> None:
        """Call an internal function that must not run concurrently with the caller; tasks cannot switch within it."""
        function()

    @property
    def is_in_a_call(self) -> bool:
        """Return whether this task is in a user function, or was started in one that is still running."""
        return any(True for _ in self._calls())

    def _calls(self) -> Iterator[_Call]:
        """Iterate over the user functions that this task is in, innermost first."""
        call = _innermost.get()
        while call is not None:
            if call.runner is self:
                yield call
            call = call.outer

    async def begin_turn(self, timeout_s: float | None = None) -> bool:
        """Wait until no other task has its turn; the turn lasts until `end_turn`. Returns False after the timeout."""
        try:
            async with asyncio.timeout(timeout_s if self._turn.locked() else None):
                return await self._turn.acquire()
        except TimeoutError:
            return False

    def end_turn(self) -> None:
        """Pass the turn to the next task."""
        self._turn.release()

    async def close_once(self, close: Callable[[], Coroutine[Any, Any, None]], timeout_ms: float) -> None:
        """Await ``close()`` once. Other calls wait for the first one, except calls from within ``close()``.

        The first call raises the errors of ``close()``; if its task was cancelled, the loop logs them. In a forked
        child, nothing is closed, because the parent does that.
        """
        if self.was_left_by_fork:
            return
        if self._closing is None:
            closing = self._closing = self.loop.create_task(close())
            await asyncio.wait({closing})
            self._timer.cancel()
            closing.result()
        elif not any(call.task is self._closing for call in self._calls()):
            await asyncio.wait({self._closing}, timeout=timeout_ms / 1000)
            if not self._closing.done():
                raise KafkaTimeoutError(f"another task has not closed the consumer within {timeout_ms} ms")

    def abandon(self, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Begin to close without waiting. May be called from any thread; does nothing if the loop is closed.

        Does nothing after `close_once`, which continues even without its caller, or in a forked child, because the
        parent closes the consumer.
        """
        if self._closing is not None or self.was_left_by_fork:
            return
        text = f"an {self.owner} was dropped without being closed: await close(), or use it in an 'async with' block"
        warnings.warn(text, ResourceWarning, stacklevel=2)
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(lambda: self.loop.create_task(close()))
