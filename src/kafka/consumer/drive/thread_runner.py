"""How the synchronous consumer waits, in the caller's thread, for what happens on the loop that all clients share."""

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from kafka.consumer.drive.single_caller import SingleCaller
from kafka.errors import IllegalStateError, KafkaTimeoutError
from kafka.net import LoopCall, LoopThread, interruptible
from kafka.net.callback_runner import CallbackRunner
from kafka.net.callback_thread import WorkerThread

Owner = TypeVar("Owner")
Result = TypeVar("Result")

_MARGIN_S = 5.0
"""How much longer than a call's own timeout we wait for the loop: it only ever counts if the loop is stuck."""


class ThreadRunner:
    """The synchronous counterpart of `kafka.consumer.drive.loop_runner.LoopRunner`; see `kafka.consumer.core.Runner`.

    Arguments:
        thread: runs the loop; None: the thread that all clients share.
    """

    def __init__(self, thread: LoopThread | None = None) -> None:
        self._thread = LoopThread.shared() if thread is None else thread
        self.loop = self._thread.loop
        self.owner = "KafkaConsumer"
        """Who waits by it."""
        self.time: Callable[[], float] = self.loop.time
        """The loop's time, in seconds."""
        self.check: Callable[[], None] = self._thread.check
        """Raise `ForkedClientError` in a forked child, where nothing would ever come: the loop stayed in the parent."""
        self._pid = os.getpid()
        self._calls: deque[tuple[Callable[..., object], tuple[object, ...]]] = deque()
        self._calling = False
        self.one_caller = SingleCaller()
        self.is_in_a_call = False
        """Whether the caller is in a function of the user's."""
        self.last_call: LoopCall[None] | None = None
        """What `run_through` has begun."""
        self._closing = threading.Lock()
        self._closer: int | None = None
        """The thread that closes it."""
        self._closed = interruptible.Latch()
        # Locked: there is no news. A third of the cost of a threading.Event, which is felt in each round trip.
        self._gate = threading.Lock()
        self._gate.acquire()
        self._thread.on_death(self, lambda runner, error: runner.notify())

    # Between the two sides --------------------------------------------------------------------------------------------

    def notify(self) -> None:
        """Wake the caller, if it waits; from any thread."""
        if self._gate.locked():
            with contextlib.suppress(RuntimeError):  # another thread's news was quicker
                self._gate.release()

    def submit(self, function: Callable[..., object], *args: object) -> None:
        """Have ``function(*args)`` run on the loop, soon, in the order of the calls. Many wake it once."""
        self._thread.check()
        self._calls.append((function, args))
        if not self._calling:
            try:
                self._calling = True
                self._thread.call(self._call_all)
            except BaseException:
                self._calling = False  # the next one wakes the loop; twice does no harm
                raise

    def _call_all(self) -> None:
        """The loop's side of `submit`."""
        self._calling = False
        try:
            while True:
                if not self._calls:
                    break
                function, args = self._calls.popleft()
                function(*args)
        finally:
            if self._calls:  # one has raised, which the loop tells of; the others come all the same
                self._thread.call(self._call_all)

    def on_loop_death(self, owner: Owner, tell: Callable[[Owner, Exception], object]) -> None:
        """See `LoopThread.on_death`."""
        self._thread.on_death(owner, tell)

    def callback_runner(self, name: str) -> CallbackRunner:
        """A thread of its own, made when there is something to run."""
        return WorkerThread(name)

    # The caller's side ------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Forget earlier news; the caller looks at everything after this and before `wait`."""
        self._gate.acquire(blocking=False)

    def wait(self, timeout_s: float) -> None:
        """Wait for news, or until the time is up. Raises `IllegalStateError` once the loop has failed."""
        interruptible.acquire(self._gate, timeout_s)
        self._thread.check()

    def give_way(self) -> None:
        """Let the loop run before a call returns empty-handed: here it has a thread of its own."""

    def run(self, coroutine: Coroutine[Any, Any, Result], timeout_ms: float | None = None) -> Result:
        """Run a coroutine of the core, which keeps to ``timeout_ms`` by itself, and wait for it."""
        return self._thread.run(coroutine, None if timeout_ms is None else timeout_ms / 1000 + _MARGIN_S)

    def run_through(self, coroutine: Coroutine[Any, Any, None], timeout_ms: float) -> None:
        """The same, but an interrupt ends only the wait: the coroutine goes on, also while the interpreter exits."""
        call = self.last_call = self.begin(lambda: coroutine)
        call.result(timeout_ms / 1000 + _MARGIN_S)

    def call(self, function: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Call a function of the user's."""
        before, polling = self.is_in_a_call, self.one_caller.is_polling_here
        try:
            self.is_in_a_call = True
            if polling:
                self.one_caller.is_polling = False
            function(*args, **kwargs)
        finally:
            self.is_in_a_call = before
            if polling:
                self.one_caller.is_polling = True

    def if_alone(self, function: Callable[[], object]) -> None:
        """Call a function of ours that nothing of the caller's side may be beside; not while another thread polls."""
        with contextlib.suppress(IllegalStateError), self.one_caller:
            function()

    def begin_turn(self, timeout_s: float | None = None) -> bool:
        """Nothing: `one_caller` lets no other thread come here."""
        return True

    def end_turn(self) -> None:
        """Nothing."""

    def close_once(self, close: Callable[[], None], timeout_ms: float) -> None:
        """Call ``close``, once. A second call does nothing, and one from another thread waits for the first.

        In a forked child it is the parent's to close. Raises `IllegalStateError` in the loop's own thread, where
        nothing is closed: a finalizer may be run there.
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
        elif self._closer != me and not self._closed.wait(timeout_ms / 1000):  # me: a listener calls close() again
            raise KafkaTimeoutError(f"another thread has not closed the consumer within {timeout_ms} ms")

    def abandon(self, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Begin to close without waiting, from any thread. In a forked child it is the parent's to close."""
        if os.getpid() == self._pid:
            with contextlib.suppress(IllegalStateError):  # the loop has failed, and everything on it with it
                self.begin(close)

    def begin(self, close: Callable[[], Coroutine[Any, Any, None]]) -> LoopCall[None]:
        """Run a coroutine on the loop without waiting for it."""
        return self._thread.spawn(close())
