"""How the synchronous consumer waits in the caller's thread for the shared loop.

Consumers that are still open when the program ends leave their groups, with a warning: see `close_at_exit`.
"""

import atexit
import contextlib
import functools
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from kafka.errors import IllegalStateError, KafkaError, KafkaTimeoutError
from kafka.net import LoopCall, LoopThread, interruptible
from kafka.net.callback_thread import CallbackRunner, WorkerThread
from kafka.net.fork import after_fork

log = logging.getLogger(__name__)


_WITHOUT_WAITING = (False,)


class PollGuard:
    """A context manager that lets one thread at a time poll a consumer.

    Two threads would split the consumer's records between them at random. Nor can a thread poll within its own
    `poll()`: a deserializer, a signal handler or a finalizer that did so would get the records being returned, or
    others before them. Listeners and callbacks may poll, because no records are being returned then.

    Java: ``ConcurrentModificationException``. `close` and `wakeup` do not enter the guard.

    An interrupt at the beginning or end of the block never leaves the lock held: the block is left through the lock's
    own function, which is written in C, and the code that enters it knows at any moment whether it holds the lock.

    Attributes:
        is_polling: whether the thread inside may not enter again. Set inside the block, by assignments that no
            interrupt can separate.
    """

    __slots__ = ("__exit__", "_holder", "_lock", "is_polling")

    __exit__: Callable[..., None]

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holder = 0
        self.is_polling = False
        self.__exit__ = self._lock.__exit__

    @property
    def is_polling_here(self) -> bool:
        """Return whether this thread is polling."""
        return self.is_polling and self._holder == threading.get_ident()

    def __enter__(self) -> None:
        """Enter. Raises `IllegalStateError` if another thread is inside, or this one is within a `poll()`."""
        taken: list[bool] = []
        try:
            taken.extend(map(self._lock.acquire, _WITHOUT_WAITING))  # a single C call, so an interrupt comes after it
            if not taken[0]:
                raise IllegalStateError(
                    f"thread {threading.current_thread().name!r} polls a consumer that thread {_name(self._holder)!r} "
                    "is polling; a consumer belongs to one thread at a time"
                )
            if self.is_polling:
                raise IllegalStateError(
                    "a consumer was polled from within its own poll(), by a deserializer, a signal handler or a "
                    "finalizer: record there what to do, and do it after poll() has returned"
                )
            self._holder = threading.get_ident()
        except BaseException:
            if taken and taken[0]:
                self._lock.release()
            raise


def _name(ident: int) -> str:
    """Return the name of a thread, or its number if the thread has ended in the meantime."""
    return next((thread.name for thread in threading.enumerate() if thread.ident == ident), f"number {ident}")


Owner = TypeVar("Owner")
Result = TypeVar("Result")

_MARGIN_S = 5.0
"""How much longer than a call's own timeout to wait for the loop; this matters only if the loop is stuck."""


class ThreadRunner:
    """Synchronous counterpart of `kafka.consumer.runners.loop_runner.LoopRunner`; see `kafka.consumer.parts.Runner`.

    Arguments:
        thread: runs the loop; None: the thread that all clients share.
    """

    def __init__(self, thread: LoopThread | None = None) -> None:
        self._thread = LoopThread.shared() if thread is None else thread
        self.loop = self._thread.loop
        self.owner = "KafkaConsumer"
        """The name of the consumer in messages."""
        self.time: Callable[[], float] = self.loop.time
        """The loop's clock, in seconds."""
        self.check: Callable[[], None] = self._thread.check
        """Raise `ForkedClientError` in a forked child, where no loop runs and calls would never return."""
        self._pid = os.getpid()
        self._calls: deque[tuple[Callable[..., object], tuple[object, ...]]] = deque()
        self._calling = False
        self.poll_guard = PollGuard()
        self.is_in_a_call = False
        """Whether the caller is in a user function."""
        self.last_call: LoopCall[None] | None = None
        """The last call of `run_through`."""
        self._closing = threading.Lock()
        self._closer: int | None = None
        """The thread that is closing the consumer."""
        self._closed = interruptible.Latch()
        # Locked while there is no notification. A lock costs a third of a threading.Event, and the difference is
        # measurable in each round trip.
        self._gate = threading.Lock()
        self._gate.acquire()
        self._thread.on_death(self, lambda runner, error: runner.notify())

    # Between the two sides --------------------------------------------------------------------------------------------

    def notify(self) -> None:
        """Wake the caller if it is waiting. May be called from any thread."""
        if self._gate.locked():
            self._thread.loop.release_soon(self._gate)

    def submit(self, function: Callable[..., object], *args: object) -> None:
        """Run ``function(*args)`` on the loop soon, in the order of the calls. Several calls wake the loop once."""
        self._thread.check()
        self._calls.append((function, args))
        if not self._calling:
            try:
                self._calling = True
                self._thread.call(self._call_all)
            except BaseException:
                self._calling = False  # the next call wakes the loop; waking it twice is harmless
                raise

    def _call_all(self) -> None:
        """Run the functions that were passed to `submit`, on the loop."""
        self._calling = False
        try:
            while True:
                if not self._calls:
                    break
                function, args = self._calls.popleft()
                function(*args)
        finally:
            if self._calls:  # a function has raised an error, which the loop reports; continue with the others
                self._thread.call(self._call_all)

    def on_loop_death(self, owner: Owner, tell: Callable[[Owner, Exception], object]) -> None:
        """See `LoopThread.on_death`."""
        self._thread.on_death(owner, tell)

    def callback_runner(self, name: str) -> CallbackRunner:
        """Return a runner with its own thread, which starts when there is a function to run."""
        return WorkerThread(name)

    # The caller's side ------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Forget earlier notifications. The caller checks for work between this call and `wait`."""
        self._gate.acquire(blocking=False)

    def wait(self, timeout_s: float) -> None:
        """Wait for a notification, up to the timeout. Raises `IllegalStateError` once the loop has failed."""
        interruptible.acquire(self._gate, timeout_s)
        self._thread.check()

    def yield_to_loop(self) -> None:
        """Do nothing: the loop has its own thread, so a tight polling loop cannot starve it."""

    def run(self, coroutine: Coroutine[Any, Any, Result], timeout_ms: float | None = None) -> Result:
        """Run a coroutine of the core and wait for its result; the coroutine itself enforces ``timeout_ms``."""
        return self._thread.run(coroutine, None if timeout_ms is None else timeout_ms / 1000 + _MARGIN_S)

    def run_through(self, coroutine: Coroutine[Any, Any, None], timeout_ms: float) -> None:
        """Like `run`, but an interrupt only ends the wait: the coroutine continues, even at interpreter exit."""
        call = self.last_call = self.begin(lambda: coroutine)
        call.result(timeout_ms / 1000 + _MARGIN_S)

    def call(self, function: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Call a user function."""
        before, polling = self.is_in_a_call, self.poll_guard.is_polling_here
        try:
            self.is_in_a_call = True
            if polling:
                self.poll_guard.is_polling = False
            function(*args, **kwargs)
        finally:
            self.is_in_a_call = before
            if polling:
                self.poll_guard.is_polling = True

    def if_alone(self, function: Callable[[], object]) -> None:
        """Call an internal function that must not run concurrently with the caller; skip it if another thread polls."""
        with contextlib.suppress(IllegalStateError), self.poll_guard:
            function()

    def begin_turn(self, timeout_s: float | None = None) -> bool:
        """Do nothing: `poll_guard` excludes other threads."""
        return True

    def end_turn(self) -> None:
        """Do nothing."""

    def close_once(self, close: Callable[[], None], timeout_ms: float) -> None:
        """Call ``close`` once. Further calls do nothing, but a call from another thread waits for the first.

        In a forked child, the parent closes the consumer. Raises `IllegalStateError` in the loop's own thread, where a
        finalizer may run; nothing is closed there.
        """
        if self._thread.was_left_by_fork:
            return
        if self._thread.in_loop_thread:
            raise IllegalStateError(
                "close() waits for the client's own loop: call it in a thread other than the loop's"
            )
        me = threading.get_ident()
        with self._closing:
            is_first = self._closer is None
            if is_first:
                self._closer = me
        if is_first:
            try:
                close()
            finally:
                self._closed.set()
        elif self._closer != me and not self._closed.wait(timeout_ms / 1000):  # otherwise a listener is calling close()
            raise KafkaTimeoutError(f"another thread has not closed the consumer within {timeout_ms} ms")

    def abandon(self, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Begin to close without waiting, in any thread. In a forked child, the parent closes the consumer."""
        if os.getpid() == self._pid:
            with contextlib.suppress(IllegalStateError):  # the loop has failed, and with it everything that runs on it
                self.begin(close)

    def begin(self, close: Callable[[], Coroutine[Any, Any, None]]) -> LoopCall[None]:
        """Run a coroutine on the loop without waiting for it."""
        return self._thread.spawn(close())


_CLOSE_MS = 1_000
_open: "weakref.WeakKeyDictionary[Closable, tuple[ThreadRunner, str | None]]" = weakref.WeakKeyDictionary()


class Closable(Protocol):
    """The core of a consumer; see `kafka.consumer.core.ConsumerCore`."""

    closed: bool
    close_begun: bool

    async def close(self, timeout_ms: float) -> None: ...


def close_at_exit(core: Closable, runner: ThreadRunner, group_id: str | None) -> None:
    """Close a consumer that is still open when the program ends. Nothing is committed, because the program may not have
    processed its records.
    """
    _open[core] = runner, group_id


def _at_exit() -> None:
    closing = []
    for core, (runner, group_id) in list(_open.items()):
        if core.close_begun:
            if runner.last_call is not None:  # an interrupt has ended the wait for the last call
                closing.append(runner.last_call)
            continue
        was_closed, core.closed = core.closed, True  # true if an interrupt prevented closing
        if group_id is not None and not was_closed:
            log.warning(
                "a consumer of group %r was not closed before the program ended: records received since its last "
                "commit will be read again. Call close(), or use it in a 'with' block",
                group_id,
            )
        try:
            closing.append(runner.begin(functools.partial(core.close, _CLOSE_MS)))
        except KafkaError as error:
            log.debug("closing a consumer at exit: %s", error)
    deadline = time.monotonic() + _CLOSE_MS / 1000
    for call in closing:  # the consumers are closed concurrently
        call.wait(max(0.0, deadline - time.monotonic()))


after_fork(_open.clear)
atexit.register(_at_exit)
