"""The results of commit methods: `CommitFuture` from `commit_async`, `CommittedOffset` from `committed`."""

import asyncio
import functools
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

from kafka.consumer.arguments import check_timeout
from kafka.errors import IllegalStateError, KafkaTimeoutError
from kafka.net.interruptible import Latch
from kafka.structs import OffsetAndMetadata


class CommitFuture:
    """The future result of a commit: None, or an error. The future can be awaited on any loop.

    Callbacks run in the polling thread, from within `poll()`, `commit()` or `close()`.

    Attributes:
        value: always None, as in kafka-python.
        exception: the error, once the commit has failed.

    Arguments:
        loop: the loop on which the commit runs.
    """

    value: None = None

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop
        self._done = Latch()
        self._lock = threading.Lock()
        self._callbacks: list[tuple[bool | None, Callable[..., Any]]] = []
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._called_back = False
        self.was_looked_at = False
        """Whether the result was retrieved."""
        self.exception: BaseException | None = None

    @property
    def is_done(self) -> bool:
        """Whether the result is known."""
        return self._done.is_set

    @property
    def has_callbacks(self) -> bool:
        """Whether there are callbacks."""
        return bool(self._callbacks)

    def succeeded(self) -> bool:
        """Return whether the commit has succeeded; False while it is in progress. Does not wait."""
        return self.is_done and self.exception is None

    def failed(self) -> bool:
        """Return whether the commit has failed; False while it is in progress. Does not wait."""
        return self.is_done and self.exception is not None

    def get(self, timeout: float | None = None) -> None:
        """Wait for the result.

        Arguments:
            timeout: seconds; None: no limit other than the commit's own timeout.

        Raises the error of the commit, `KafkaTimeoutError`, `IllegalArgumentError` for an invalid timeout, and
        `IllegalStateError` on the loop on which the commit runs, because waiting would block it: use ``await`` there.
        """
        limit = None if timeout is None else check_timeout(timeout)
        if not self.is_done and self._loop is not None and _running_loop() is self._loop:
            raise IllegalStateError("get() would stop the loop that the commit runs on: await the future instead")
        self.was_looked_at = True
        if not self._done.wait(limit):
            raise KafkaTimeoutError(f"the commit was not done within {timeout} s")
        if self.exception is not None:
            raise self.exception

    def __await__(self) -> Generator[Any, None, None]:
        """Wait for the result on an event loop. Raises the error of the commit."""
        loop = asyncio.get_running_loop()
        arrived: asyncio.Future[None] = loop.create_future()
        with self._lock:
            if self.is_done:
                arrived.set_result(None)
            else:
                self._waiters.append((loop, arrived))
        yield from arrived
        self.get(0)

    def add_callback(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> "CommitFuture":
        """Call ``function(*args, None, **kwargs)`` once the commit has succeeded. Returns this future."""
        return self._add(True, functools.partial(function, *args), kwargs)

    def add_errback(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> "CommitFuture":
        """Call ``function(*args, error, **kwargs)`` once the commit has failed. Returns this future."""
        return self._add(False, functools.partial(function, *args), kwargs)

    def add_both(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> "CommitFuture":
        """Call the function, as `add_callback` or `add_errback` does, once the commit has succeeded or failed."""
        return self._add(None, functools.partial(function, *args), kwargs)

    def resolve(self, error: BaseException | None) -> None:
        """Set the result, and wake those that wait for it. The consumer calls this on its loop; programs do not.

        Arguments:
            error: why the commit failed; None if it succeeded.
        """
        with self._lock:
            self.exception = error
            self._done.set()
            waiters, self._waiters = self._waiters, []
        for loop, arrived in waiters:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_arrive, arrived)

    def calls(self) -> list[Callable[[], Any]]:
        """Return the callbacks to run now that the result is known, in order. Called once, in the caller's thread."""
        self._called_back = True
        callbacks, self._callbacks = self._callbacks, []
        return [call for on_success, function in callbacks for call in self._call(on_success, function)]

    def _add(self, on_success: bool | None, function: Callable[..., Any], kwargs: dict[str, Any]) -> "CommitFuture":
        bound = functools.partial(function, **kwargs)
        if not self._called_back:
            self._callbacks.append((on_success, bound))
            return self
        for call in self._call(on_success, bound):
            call()
        return self

    def _call(self, on_success: bool | None, function: Callable[..., Any]) -> list[Callable[[], Any]]:
        concerned = on_success is None or on_success is (self.exception is None)
        return [functools.partial(function, self.exception)] if concerned else []


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _arrive(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class CommittedOffset(int):
    """The result of `KafkaConsumer.committed`: an int, as in kafka-python, that also works as an `OffsetAndMetadata`.

    It is truthy even for offset 0, unpacks to the fields of `OffsetAndMetadata`, and can be compared with an
    `OffsetAndMetadata` or a number.

    Attributes:
        metadata: the text that was committed with the offset.
        leader_epoch: the epoch that was committed with the offset, or -1.
    """

    metadata: str | None
    leader_epoch: int | None

    def __new__(cls, committed: OffsetAndMetadata) -> "CommittedOffset":
        """Create a `CommittedOffset` from the coordinator's response."""
        self = super().__new__(cls, committed.offset)
        self.metadata = committed.metadata
        self.leader_epoch = committed.leader_epoch
        return self

    @property
    def offset(self) -> int:
        """The offset as a plain int."""
        return int(self)

    @property
    def _epoch(self) -> int:
        """The leader epoch; -1 if unknown."""
        return -1 if self.leader_epoch is None else self.leader_epoch

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[int | str | None]:
        return iter((int(self), self.metadata, self.leader_epoch))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OffsetAndMetadata):
            return (int(self), self.metadata or "", self._epoch) == (
                other.offset,
                other.metadata or "",
                -1 if other.leader_epoch is None else other.leader_epoch,
            )
        return int.__eq__(self, other) if isinstance(other, int) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __reduce__(self) -> tuple[type["CommittedOffset"], tuple[OffsetAndMetadata]]:
        return CommittedOffset, (OffsetAndMetadata(int(self), self.metadata, self.leader_epoch),)

    def __hash__(self) -> int:
        return int.__hash__(self)
