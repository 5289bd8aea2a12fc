"""Drives a core from the caller's thread: waits, and does for the group what has to be done there."""

import contextlib
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from kafka.config import ConsumerConfig
from kafka.consumer.core import ConsumerCore
from kafka.consumer.subscription.rebalance import Step, StepKind
from kafka.consumer.subscription.subscription_state import ConsumerRebalanceListener
from kafka.net import LoopThread

log = logging.getLogger(__name__)
Result = TypeVar("Result")

_MARGIN_S = 5.0
"""How much longer than a call's own timeout we wait for the loop: it only ever counts if the loop is stuck."""


class ThreadCaller:
    """See `kafka.consumer.core.Caller`.

    Arguments:
        thread: runs the loop.
    """

    def __init__(self, thread: LoopThread) -> None:
        self._thread = thread
        self._calls: deque[tuple[Callable[..., object], tuple[object, ...]]] = deque()
        self._calling = False
        # Locked: there are no news. A third of the cost of a threading.Event, which is felt in each round trip.
        self._gate = threading.Lock()
        self._gate.acquire()

    def notify(self) -> None:
        """Wake the caller, if it waits; from any thread."""
        if self._gate.locked():
            with contextlib.suppress(RuntimeError):  # another thread's news were quicker
                self._gate.release()

    def submit(self, function: Callable[..., object], *args: object) -> None:
        """Have ``function(*args)`` run on the loop, soon, in the order of the calls. Many wake it once."""
        self._thread.check()
        self._calls.append((function, args))
        if not self._calling:
            self._calling = True
            self._thread.call(self._call_all)

    def _call_all(self) -> None:
        """The loop's side of `submit`."""
        self._calling = False
        try:
            while self._calls:
                function, args = self._calls.popleft()
                function(*args)
        finally:
            if self._calls:  # one has raised, which the loop tells of; the others come all the same
                self._thread.call(self._call_all)

    def clear(self) -> None:
        """Forget earlier news; the caller looks at everything after this and before `wait`."""
        self._gate.acquire(blocking=False)

    def wait(self, timeout_s: float) -> None:
        """Wait for news, or until the time is up."""
        self._gate.acquire(timeout=min(timeout_s, threading.TIMEOUT_MAX))


class SyncDriver:
    """See the module.

    Arguments:
        config: all options.
    """

    def __init__(self, config: ConsumerConfig) -> None:
        self._thread = LoopThread.shared()
        self._caller = ThreadCaller(self._thread)
        self._pid = os.getpid()
        self._closing = threading.RLock()
        self._closing_begun = False
        self.core = ConsumerCore(config, self._caller, self._thread.loop)

    def run(self, coroutine: Coroutine[Any, Any, Result], timeout_ms: float | None = None) -> Result:
        """Run a coroutine of the core, which keeps to ``timeout_ms`` by itself, and wait for it."""
        return self._thread.run(coroutine, None if timeout_ms is None else timeout_ms / 1000 + _MARGIN_S)

    def wait_for(self, timeout_ms: float, take: Callable[[], list[Any]]) -> list[Any]:
        """What ``take`` gives, called again as news come, until it gives something or the time is up."""
        core, caller = self.core, self._caller
        if os.getpid() != self._pid:  # nothing would ever come: the loop has stayed in the parent
            caller.submit(core.wake)  # raises ForkedClientError
        core.begin_poll()
        try:
            deadline = self._thread.loop.time() + timeout_ms / 1000
            while True:
                caller.clear()
                if core.attention:
                    self.attend()
                taken = take()
                if taken or core.closed or core.woken():
                    return taken
                left = deadline - self._thread.loop.time()
                if left <= 0:
                    return taken
                caller.wait(left)
        finally:
            core.end_poll()

    def attend(self) -> None:
        """Raise what went wrong in the background, run callbacks, and do what the group asks for."""
        self.core.begin_attending()
        rebalance = self.core.rebalance
        while (step := rebalance.next_step()) is not None:
            if step.kind is StepKind.GIVE_UP:
                self._commit_held(self.core.config.group.session_timeout_ms)
            rebalance.begin(step)
            try:
                self._tell_listener(step)
            finally:
                rebalance.finish(step)

    def give_up(self, commit: bool, timeout_ms: float) -> None:
        """Commit, and tell the listener that the partitions are given up, outside of a rebalance."""
        if commit:
            self._commit_held(timeout_ms)
        held = frozenset(self.core.subscription.assigned_partitions())
        if held and self.core.subscription.is_automatic:
            self._tell_listener(Step(StepKind.GIVE_UP, held, -1))

    def close(self, autocommit: bool, timeout_ms: float) -> None:
        """Close the core, once; the second call does nothing, and another thread's call waits for the first."""
        with self._closing:
            if self._closing_begun:  # also when the listener calls close() again
                return
            self._closing_begun = True
            try:
                self.give_up(autocommit, timeout_ms / 2)
            finally:
                self.core.closed = True
                self._caller.notify()
                self.run(self.core.close(autocommit=False, timeout_ms=timeout_ms / 2), timeout_ms)

    def abandon(self) -> None:
        """Close without waiting: nobody holds the consumer any more. In a forked child it is the parent's to close."""
        if not self.core.closed and os.getpid() == self._pid:
            self.core.closed = True
            self._thread.spawn(self.core.close(autocommit=False, timeout_ms=1_000))

    def _commit_held(self, timeout_ms: float) -> None:
        if self.core.commits.is_automatic and (held := self.core.consumed()):
            self.run(self.core.commits.commit_quietly(held, timeout_ms), timeout_ms)

    def _tell_listener(self, step: Step) -> None:
        listener = self.core.subscription.listener
        if listener is None:
            return
        if step.kind is StepKind.TAKE_OVER:
            listener.on_partitions_assigned(set(step.partitions))
        elif step.kind is StepKind.LOSE and isinstance(listener, ConsumerRebalanceListener):
            listener.on_partitions_lost(set(step.partitions))
        else:
            listener.on_partitions_revoked(set(step.partitions))
