"""What `commit_async` returns."""

import threading
from collections.abc import Callable
from typing import Any

from kafka.errors import KafkaTimeoutError


class CommitFuture:
    """The outcome of a commit to come. Callbacks run in the thread that polls, from within `poll()` or `close()`.

    Attributes:
        value: the broker's response, once the commit has succeeded.
        exception: the error, once it has failed.
    """

    def __init__(self) -> None:
        self._done = threading.Event()
        self._callbacks: list[tuple[bool | None, Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
        self._settled = False
        self.value: Any = None
        self.exception: BaseException | None = None

    @property
    def is_done(self) -> bool:
        """Whether the outcome is here."""
        return self._done.is_set()

    @property
    def has_callbacks(self) -> bool:
        """Whether somebody wants to be called."""
        return bool(self._callbacks)

    def succeeded(self) -> bool:
        """Whether the commit has succeeded."""
        return self.is_done and self.exception is None

    def failed(self) -> bool:
        """Whether the commit has failed."""
        return self.is_done and self.exception is not None

    def get(self, timeout: float | None = None) -> Any:
        """Wait for the outcome.

        Arguments:
            timeout: seconds; None: as long as it takes, which the commit's own timeout bounds.

        Returns the response; raises what made the commit fail, and `KafkaTimeoutError`.
        """
        if not self._done.wait(timeout):
            raise KafkaTimeoutError(f"the commit was not done within {timeout} s")
        if self.exception is not None:
            raise self.exception
        return self.value

    def add_callback(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> "CommitFuture":
        """Call ``function(*args, response, **kwargs)`` when it has succeeded."""
        return self._add(True, function, args, kwargs)

    def add_errback(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> "CommitFuture":
        """Call ``function(*args, error, **kwargs)`` when it has failed."""
        return self._add(False, function, args, kwargs)

    def add_both(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> "CommitFuture":
        """Call it in both cases."""
        return self._add(None, function, args, kwargs)

    def resolve(self, value: Any, error: BaseException | None) -> None:
        """The outcome is here; called on the loop."""
        self.value, self.exception = value, error
        self._done.set()

    def run_callbacks(self) -> None:
        """Call what was added; called in the caller's thread. Raises what a callback raises."""
        self._settled = True
        callbacks, self._callbacks = self._callbacks, []
        for wanted, function, args, kwargs in callbacks:
            self._call(wanted, function, args, kwargs)

    def _add(
        self, wanted: bool | None, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> "CommitFuture":
        if self._settled:
            self._call(wanted, function, args, kwargs)
        else:
            self._callbacks.append((wanted, function, args, kwargs))
        return self

    def _call(
        self, wanted: bool | None, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        ok = self.exception is None
        if wanted is None or wanted is ok:
            function(*args, self.value if ok else self.exception, **kwargs)
