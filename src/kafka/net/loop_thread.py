"""The daemon thread whose event loop runs the synchronous clients, and the selector of that loop."""

import asyncio
import atexit
import contextlib
import logging
import selectors
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from kafka.errors import Cancelled, IllegalStateError
from kafka.metrics.client_metrics import Metric, rate_of
from kafka.metrics.windows import Counts, Window, WindowOptions, Windows, mean
from kafka.net.fork import after_fork, forked_client_error, keep_alive, owners_on
from kafka.net.helper_threads import run_blocking
from kafka.net.interruptible import loop_lock
from kafka.net.loop_call import LoopCall, LoopExchange, LoopResult

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

    Ready = list[tuple[selectors.SelectorKey, int]]

log = logging.getLogger(__name__)

T = TypeVar("T")
Owner = TypeVar("Owner")
_STOP_TIMEOUT_S = 2.0
_TASKS_TIMEOUT_S = 0.5


_now = time.monotonic


class _Turns(Window):
    """Counts and durations of the loop's iterations."""

    __slots__ = ("turns", "waited_s", "worked_s")

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.turns = 0
        self.waited_s = self.worked_s = 0.0


class TimedSelector(selectors.DefaultSelector):
    """The system's selector, which also measures how long the loop waits and works.

    Attributes:
        times: the measurements of the last 30 to 60 seconds. All clients share the loop, and therefore the
            measurements.
        to_release: locks to release before waiting, see `_ClientLoop.release_soon`.
        is_waiting: whether the loop waits, or is about to wait and releases nothing more before that.
    """

    def __init__(self) -> None:
        super().__init__()
        self.times = Windows(_Turns, WindowOptions())
        self.to_release: list[threading.Lock] = []
        self.is_waiting = False
        self._woken = _now()
        self._wait = super().select  # looked up once, because each iteration of the loop calls it

    def select(self, timeout: float | None = None) -> "Ready":
        """Wait for events."""
        self.is_waiting = True  # from here on, a finalizer that wakes a thread must not leave that to this method
        if self.to_release:
            self.release_all()
        asleep = _now()
        window: _Turns = self.times.present if asleep < self.times.until else self.times.turn(asleep)
        window.turns += 1
        window.worked_s += asleep - self._woken
        ready = self._wait(timeout)
        self.is_waiting = False
        self._woken = woken = _now()
        window.waited_s += woken - asleep
        return ready

    def release_all(self) -> None:
        """Release the locks in `to_release`."""
        locks = self.to_release[:]
        for lock in locks:
            try:  # noqa: SIM105  # `suppress` would call three functions
                lock.release()
            except RuntimeError:  # released in the meantime
                pass
        del self.to_release[: len(locks)]  # only now, so that an exception in between loses none


def _ns_a_turn(field: str, counts: Counts, now: float) -> float:
    return 1e9 * mean(counts, field, "turns", now)


LOOP_METRICS = (
    Metric("select-rate", "turns of the loop a second", rate_of("turns")),
    Metric(
        "io-wait-time-ns-avg", "mean ns of waiting in a turn", lambda counts, now: _ns_a_turn("waited_s", counts, now)
    ),
    Metric("io-wait-ratio", "part of the time in which the loop waits", rate_of("waited_s")),
    Metric("io-time-ns-avg", "mean ns of work in a turn", lambda counts, now: _ns_a_turn("worked_s", counts, now)),
    Metric("io-ratio", "part of the time in which the loop works", rate_of("worked_s")),
)
"""Metrics computed from the `times` of a `TimedSelector`."""


def threads_are_greenlets() -> bool:
    """Return whether gevent or eventlet has patched `threading`, without importing them."""
    monkey, patcher = sys.modules.get("gevent.monkey"), sys.modules.get("eventlet.patcher")
    if monkey is not None and monkey.is_module_patched("threading"):
        return True
    return patcher is not None and bool(patcher.is_monkey_patched("thread"))


def selector_for_loop() -> selectors.BaseSelector:
    """Return a selector for the clients' loop."""
    return GreenSelector() if threads_are_greenlets() else TimedSelector()


class GreenSelector(selectors.BaseSelector):
    """The selector for programs in which gevent or eventlet has replaced threads with greenlets.

    ``patch_all()`` or ``monkey_patch()`` turns the clients' thread into a greenlet. Its locks and its selector let
    other greenlets run while it waits, so everything else works unchanged. But asyncio stores the running loop per
    system thread, which all greenlets share: each of them would appear to run on the clients' loop. So this selector
    restores the running loop of the other greenlets, if there is one, while the clients' greenlet waits.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()  # the version patched by gevent or eventlet
        self._of_others: asyncio.AbstractEventLoop | None = None

    def select(self, timeout: float | None = None) -> "Ready":
        """Wait for events while other greenlets run."""
        ours = asyncio._get_running_loop()
        asyncio._set_running_loop(self._of_others)
        try:
            return self._selector.select(timeout)
        finally:
            self._of_others = asyncio._get_running_loop()
            asyncio._set_running_loop(ours)

    def register(self, fileobj: "FileDescriptorLike", events: int, data: object = None) -> selectors.SelectorKey:
        """See `selectors.BaseSelector.register`."""
        return self._selector.register(fileobj, events, data)

    def unregister(self, fileobj: "FileDescriptorLike") -> selectors.SelectorKey:
        """See `selectors.BaseSelector.unregister`."""
        return self._selector.unregister(fileobj)

    def modify(self, fileobj: "FileDescriptorLike", events: int, data: object = None) -> selectors.SelectorKey:
        """See `selectors.BaseSelector.modify`."""
        return self._selector.modify(fileobj, events, data)

    def get_key(self, fileobj: "FileDescriptorLike") -> selectors.SelectorKey:
        """See `selectors.BaseSelector.get_key`."""
        return self._selector.get_key(fileobj)

    def get_map(self) -> "selectors._SelectorMapping":  # type: ignore[name-defined]
        """See `selectors.BaseSelector.get_map`."""
        return self._selector.get_map()

    def close(self) -> None:
        """See `selectors.BaseSelector.close`."""
        self._selector.close()


class _ClientLoop(asyncio.SelectorEventLoop):
    """An event loop whose name lookups do not delay the exit of the interpreter; see `kafka.net.helper_threads`."""

    _closed = True  # asyncio's `__del__` reads it, also after an interrupt before asyncio's `__init__` has set it

    def __init__(self) -> None:
        selector = selector_for_loop()
        super().__init__(selector)
        self._timed = selector if isinstance(selector, TimedSelector) else None
        self.times = None if self._timed is None else self._timed.times
        """How the loop spends its time; None if this is not measured."""

    time = staticmethod(time.monotonic)  # as in asyncio, but without calling a Python function

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        """Call `socket.getaddrinfo` in a helper thread."""
        return await run_blocking(socket.getaddrinfo, host, port, **options)

    def release_soon(self, lock: threading.Lock) -> None:
        """Release a lock that a thread is waiting for; in the loop's own thread, when the loop is about to wait.

        A thread that is woken earlier only finds that the loop holds the GIL, and has to be woken again.
        """
        if self._timed is not None and not self._timed.is_waiting and asyncio._get_running_loop() is self:
            self._timed.to_release.append(lock)
        else:
            with contextlib.suppress(RuntimeError):  # released in the meantime
                lock.release()

    def release_all(self) -> None:
        """Release the locks that were passed to `release_soon`, because the loop may not wait any more."""
        if self._timed is not None:
            self._timed.release_all()

    def watch_nothing(self) -> None:
        """Replace the failed selector with an empty one, so that the remaining tasks can end."""
        self.release_all()
        self._selector = selector_for_loop()
        self._timed = None

    def _read_from_self(self) -> None:
        """Read what other threads have written to wake the loop; asyncio's version reads until there is an error."""
        try:  # noqa: SIM105  # `suppress` would call three functions
            self._ssock.recv(4096)  # type: ignore[attr-defined]
        except (BlockingIOError, InterruptedError):
            pass


class LoopThread:
    """An event loop in a daemon thread. `shared` returns the one that all synchronous clients use.

    A forked child process does not have the thread, and must not use the loop's selector. There, `shared` starts a new
    loop, and objects created before the fork raise `ForkedClientError`.

    All clients of the process share the loop, so it must survive its callbacks: if a callback raises SystemExit or
    KeyboardInterrupt, or stops the loop, this is logged, and the loop continues. If the loop itself fails, all waiters
    get an error immediately (see `on_death`), and `shared` returns a new loop from then on.
    """

    _shared: ClassVar["LoopThread | None"] = None
    _all: ClassVar["weakref.WeakSet[LoopThread]"] = weakref.WeakSet()
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, name: str = "kafka-loop") -> None:
        self.loop = _ClientLoop()
        self._forked = False
        self._stopped = False
        self._death: BaseException | None = None
        # Re-entrant, because a garbage collection may run the finalizer of a client, which calls the loop.
        self._lock_waiting = loop_lock()
        self._waiting: set[LoopResult[Any]] = set()
        self._owners: weakref.WeakKeyDictionary[Any, Callable[[Any, IllegalStateError], object]]
        self._owners = weakref.WeakKeyDictionary()
        self._all.add(self)
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        self._thread.start()

    @classmethod
    def shared(cls) -> "LoopThread":
        """Return the loop thread of the process; the first call starts it."""
        thread = cls._shared
        if thread is None or thread._stopped:
            with cls._lock:
                thread = cls._shared
                if thread is None or thread._stopped:
                    thread = cls._shared = cls()
        return thread

    @property
    def was_left_by_fork(self) -> bool:
        """Whether this is a forked child of the process that started the thread."""
        return self._forked

    @property
    def has_failed(self) -> bool:
        """Whether the loop has failed, so that it will never run again. This is known before the loop is closed."""
        return self._death is not None

    @property
    def in_loop_thread(self) -> bool:
        """Whether the caller runs in the loop's thread, which must not block."""
        return threading.get_ident() == self._thread.ident

    def run(self, coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Run ``coroutine`` on the loop and wait for its result.

        The coroutine is cancelled after ``timeout_s`` seconds, and on KeyboardInterrupt. Raises `KafkaTimeoutError`
        after the timeout, `ForkedClientError`, `IllegalStateError` in the loop's own thread, and the errors of the
        coroutine.
        """
        if self.in_loop_thread and not self._forked:
            coroutine.close()
            raise IllegalStateError(
                "a blocking call was made in the client's own loop thread (in a callback?), where it would wait for "
                "itself forever; make it in another thread"
            )
        return self._wait_for(self._call_of(coroutine), timeout_s)

    def exchange(self, start: Callable[[LoopExchange[T]], object]) -> T:
        """Call ``start`` on the loop to send a request, and wait for the answer.

        Raises the same errors as `run`.
        """
        self.check()
        if self.in_loop_thread:
            raise IllegalStateError("a blocking call was made in the client's own loop thread; make it in another one")
        call: LoopExchange[T] = LoopExchange(start, self)
        return self._wait_for(call)

    def _wait_for(self, call: LoopResult[T], timeout_s: float | None = None) -> T:
        try:
            self._begin(call)
            return call.result(timeout_s)
        finally:
            if not call.is_done:
                self._cancel(call)
            del call  # avoid a reference cycle with the error's traceback

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> LoopCall[T]:
        """Run ``coroutine`` on the loop without waiting; the returned object provides its result."""
        call = self._call_of(coroutine)
        try:
            self._begin(call)
        except BaseException:
            self._cancel(call)
            raise
        return call

    def _call_of(self, coroutine: Coroutine[Any, Any, T]) -> LoopCall[T]:
        try:
            self.check()
        except BaseException:
            coroutine.close()
            raise
        return LoopCall(coroutine, self)

    def _begin(self, call: LoopResult[Any]) -> None:
        with self._lock_waiting:
            self._waiting.add(call)
        self.loop.call_soon_threadsafe(call.begin)
        if self._death is not None:  # the loop died while this call was being added
            self._fail_waiting()

    def _cancel(self, call: LoopResult[Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nothing can run on it
            self.loop.call_soon_threadsafe(call.cancel)

    def why_cancelled(self) -> Exception:
        """See `CallListener`."""
        if self._death is not None:
            return self._dead()
        return IllegalStateError("the client's loop was stopped before the call was done")

    def release_soon(self, lock: threading.Lock) -> None:
        """See `CallListener`."""
        self.loop.release_soon(lock)

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Schedule ``function(*args)`` to run on the loop. Can be called from any thread."""
        self.check()
        self.loop.call_soon_threadsafe(function, *args)

    def on_death(self, owner: Owner, tell: Callable[[Owner, IllegalStateError], object]) -> None:
        """Call ``tell(owner, error)`` in the dying thread if the loop fails and will never run again.

        This is for code that waits for the loop in other ways than `run` and `spawn`. ``owner`` is referenced weakly.
        An orderly `stop` does not call ``tell``.
        """
        with self._lock_waiting:
            self._owners[owner] = tell

    def stop(self) -> None:
        """Cancel the loop's tasks, and end the thread. Further calls do nothing."""
        if self._stopped or self._forked:
            return
        self._stopped = True
        self.loop.call_soon_threadsafe(self.loop.stop)
        if not self.in_loop_thread:
            self._thread.join(_STOP_TIMEOUT_S)

    def check(self) -> None:
        """Raise `ForkedClientError` or `IllegalStateError` if the loop can no longer run anything."""
        if self._forked:
            raise forked_client_error("client")
        if self._death is not None:
            raise self._dead()
        if self._stopped:
            raise IllegalStateError("the client's loop thread has stopped: the interpreter is about to exit")

    def _main(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self._run_until_stopped()
            self._end_all()
        except BaseException as error:
            self._die(error)
        finally:
            self.loop.release_all()  # threads whose calls the last tasks have ended
            with contextlib.suppress(Exception):  # the selector may be broken
                self.loop.close()

    def _run_until_stopped(self) -> None:
        while not self._stopped:
            try:
                self.loop.run_forever()
            except (SystemExit, KeyboardInterrupt) as error:
                log.error(
                    "a callback on the event loop shared by all clients of this process raised %r; the loop continues",
                    error,
                    exc_info=error,
                )
            else:
                if not self._stopped:
                    log.error("the event loop shared by all clients of this process was stopped; it continues")
            finally:
                self.loop.release_all()

    def _die(self, error: BaseException) -> None:
        """Fail all waiters, because the loop has failed."""
        if self._stopped:
            log.warning("the clients' event loop failed while it was being stopped: %r", error)
        else:
            log.critical("the event loop that all clients of this process share has failed", exc_info=error)
        self._death = error
        self._stopped = True
        with self._lock_waiting:
            owners = list(self._owners.items())
        for owner, tell in owners:
            try:
                tell(owner, self._dead())
            except Exception:
                log.exception("could not notify a client that its loop has failed")
        try:
            self.loop.watch_nothing()
            # Start pending tasks, because a coroutine that never ran cannot report the error.
            self.loop.run_until_complete(asyncio.sleep(0))
            self._end_all()
        except BaseException as second:
            log.error("the tasks of the failed event loop could not be ended: %r", second, exc_info=second)
            self._drop_tasks()
        self._fail_waiting()

    def _end_all(self) -> None:
        """Cancel the tasks, and close the connections."""
        self._cancel_tasks()
        self.loop.run_until_complete(self._abort_owners())
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())

    def _drop_tasks(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task._log_destroy_pending = False  # type: ignore[attr-defined]  # asyncio has no public name for this
            with contextlib.suppress(Exception):  # the cleanup code of a task may need the loop
                task.get_coro().close()

    def _fail_waiting(self) -> None:
        with self._lock_waiting:
            waiting, self._waiting = self._waiting, set()
        for call in waiting:
            call.fail(self._dead())

    def call_ended(self, call: LoopResult[Any]) -> None:
        """See `CallListener`."""
        with self._lock_waiting:
            self._waiting.discard(call)

    def _dead(self) -> IllegalStateError:
        error = IllegalStateError(
            f"the event loop of this client has failed ({self._death!r}), and the client with it; close it and create "
            "a new one"
        )
        error.__cause__ = self._death
        return error

    async def _abort_owners(self) -> None:
        """Close the connections. This is a coroutine because the connections' callbacks require a running loop."""
        for owner in owners_on(self.loop):
            owner.abort(Cancelled("the process ends, and its connections with it"))

    def _cancel_tasks(self) -> None:
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self.loop.run_until_complete(asyncio.wait(tasks, timeout=_TASKS_TIMEOUT_S))

    @classmethod
    def _after_fork(cls) -> None:
        cls._lock = threading.Lock()
        cls._shared = None
        for thread in list(cls._all):
            thread._forked = True
            keep_alive(thread)


def _at_exit() -> None:
    thread = LoopThread._shared
    if thread is not None:
        thread.stop()


after_fork(LoopThread._after_fork)
atexit.register(_at_exit)
