"""One policy for all retries: decides which errors are retried, when, and what is logged about them.

The policy has two uses. An operation that a caller waits for has a deadline::

    offsets = await policy.run("OffsetFetch of group 'g'", fetch_once, timeout_ms=30_000)

A loop that runs while the client is open has no deadline::

    attempts = policy.attempts("fetching from broker 1")
    while not closed:
        try:
            await fetch_once()
        except Exception as error:
            await attempts.failed(error)
        else:
            attempts.succeeded()

Both survive any `Exception` that is not fatal. The error is logged immediately, again after 30 seconds, and then less
and less often (`LogLimiter`), and each failure is followed by a pause.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kafka.cluster.backoff import Backoff
from kafka.cluster.log_limiter import LogLimiter
from kafka.errors import KafkaError, KafkaTimeoutError, NotControllerError, RetriableError
from kafka.health import meanwhile
from kafka.net.open_stream import in_brief

T = TypeVar("T")
IsFatal = Callable[[Exception], bool]
Renew = Callable[[KafkaError], Awaitable[object]]


def refused_for_good(error: Exception) -> bool:
    """Return whether Kafka considers an error not retriable. Errors other than a `KafkaError` are retried."""
    return isinstance(error, KafkaError) and not error.retriable


def anything_unexpected(error: Exception) -> bool:
    """Return whether to raise an error to a waiting caller, because it is not retriable or not a `KafkaError`."""
    return not isinstance(error, KafkaError) or not error.retriable


def nothing(error: Exception) -> bool:
    """Return False, so that any error is retried."""
    return False


def wants_metadata(error: KafkaError) -> bool:
    """Return whether newer metadata may resolve an error."""
    return error.invalid_metadata or isinstance(error, NotControllerError)


def as_kafka_error(what: str, error: Exception) -> KafkaError:
    """Return the error for callers of ``what``; an error that is not a `KafkaError` is converted to a retriable one."""
    return error if isinstance(error, KafkaError) else RetriableError(f"{what} failed unexpectedly: {error!r}")


class RetryPolicy:
    """Determines how failures are classified and logged, and how long to pause after them.

    Immutable except for the state of its log limiter; used on one loop.

    Arguments:
        backoff: the pauses between attempts.
        log: the logger for failures.
        level: the level of log records. Unexpected errors (not a `KafkaError`) are logged as errors, with a traceback.
        quiet: number of consecutive failures that are logged only at DEBUG, because they are normal and transient.
        fatal: tells which errors are not retried.
        renew: awaited before the next attempt after an error that newer metadata may resolve; see `wants_metadata`.
    """

    __slots__ = ("_backoff", "_fatal", "_level", "_limiter", "_log", "_quiet", "_renew")

    def __init__(
        self,
        backoff: Backoff,
        log: logging.Logger,
        *,
        level: int = logging.WARNING,
        quiet: int = 0,
        fatal: IsFatal = refused_for_good,
        renew: Renew | None = None,
    ) -> None:
        self._backoff = backoff
        self._log = log
        self._limiter = LogLimiter(log)
        self._level = level
        self._quiet = quiet
        self._fatal = fatal
        self._renew = renew

    def attempts(self, what: str, timeout_ms: float | None = None) -> "Attempts":
        """Create an `Attempts` object for an operation.

        Arguments:
            what: name of the operation in the log and in errors, and the cause for the log limiter.
            timeout_ms: maximum time for all attempts in milliseconds; None for no limit.
        """
        loop = asyncio.get_running_loop()
        return Attempts(self, what, None if timeout_ms is None else loop.time() + timeout_ms / 1000)

    async def run(self, what: str, operation: Callable[[], Awaitable[T]], timeout_ms: float | None = None) -> T:
        """Await ``operation()`` until it succeeds; see `attempts` for the arguments.

        Raises fatal errors unchanged, and `KafkaTimeoutError` with the text of the last error when the time is up.
        """
        return await self.attempts(what, timeout_ms).run(operation)

    def is_fatal(self, error: Exception) -> bool:
        """Return whether retrying cannot help."""
        return self._fatal(error)

    def pause_s(self, failures: int) -> float:
        """Return the pause after this many consecutive ``failures``, in seconds."""
        return self._backoff.seconds(failures)

    def tell_failure(self, what: str, error: Exception, failures: int) -> None:
        """Log a failure according to the policy's arguments, and record it for `health()`."""
        self._backoff.current_failures.failed(what, error, failures)
        fields = self._fields(what) | {"kafka_error": type(error).__name__, "kafka_failures": failures}
        if not isinstance(error, KafkaError):
            cause = f"{what}: {type(error).__name__}"
            self._limiter.say(logging.ERROR, cause, f"{what} failed unexpectedly: {error!r}", error, fields)
        elif failures <= self._quiet:
            self._log.debug("%s failed: %s", what, error, extra=fields)
        else:
            self._limiter.say(self._level, what, f"{what} failed: {error}", fields=fields)

    def _fields(self, what: str) -> dict[str, object]:
        return {"kafka_client_id": self._backoff.current_failures.client_id, "kafka_operation": what}

    def tell_success(self, what: str) -> None:
        """Log that a failed operation has succeeded again."""
        self._backoff.current_failures.over(what)
        self._limiter.over(what, f"{what} works again", self._fields(what))

    def tell_end(self, what: str, error: Exception | None = None) -> None:
        """Record that a failed operation will not be retried. Its ``error``, if any, is logged elsewhere."""
        self._backoff.current_failures.over(what)
        if error is not None:
            self._backoff.current_failures.noted(what, error)

    def elsewhere(self) -> str:
        """Return the end of an error message: the client's current failures, which may explain a missing response."""
        return meanwhile(self._backoff.current_failures.failing())

    async def renew_after(self, error: Exception) -> None:
        """Request newer metadata if ``error`` requires it.

        A failure is only logged, because the next attempt will reveal it.
        """
        if self._renew is None or not isinstance(error, KafkaError) or not wants_metadata(error):
            return
        try:
            await self._renew(error)
        except Exception as failure:
            self._log.debug("refreshing metadata after %s: %s", error, failure)


class Attempts:
    """The attempts of one operation: its consecutive failures, and its deadline.

    Attributes:
        what: name of the operation in the log and in errors.
        failures: number of failed attempts since the last success.
        last: the error of the last failed attempt.
    """

    __slots__ = ("_deadline", "_policy", "failures", "last", "what")

    def __init__(self, policy: RetryPolicy, what: str, deadline: float | None) -> None:
        self._policy = policy
        self._deadline = deadline
        self.what = what
        self.failures = 0
        self.last: Exception | None = None

    @property
    def left_ms(self) -> float | None:
        """The remaining time in milliseconds, at least 1; None for no limit."""
        if self._deadline is None:
            return None
        return max(1.0, (self._deadline - asyncio.get_running_loop().time()) * 1000)

    def succeeded(self) -> None:
        """Record a successful attempt."""
        if self.failures:
            self._policy.tell_success(self.what)
        self.failures, self.last = 0, None

    def ended(self) -> None:
        """Record that the operation will not be retried for the time being."""
        if self.failures:
            self._policy.tell_end(self.what)
            self.failures, self.last = 0, None

    def note(self, error: Exception) -> float:
        """Count and log a failure. Returns the pause in seconds before the next attempt.

        Raises ``error`` if retrying cannot help, and `KafkaTimeoutError` if the next attempt would come too late.
        """
        if self._policy.is_fatal(error):
            self._policy.tell_end(self.what, error)
            raise error
        self.failures += 1
        self.last = error
        self._policy.tell_failure(self.what, error, self.failures)
        pause = self._policy.pause_s(self.failures)
        if self._deadline is not None and asyncio.get_running_loop().time() + pause >= self._deadline:
            raise self.time_is_up() from in_brief(error)
        return pause

    async def failed(self, error: Exception) -> None:
        """Handle a failure as `note` does, and wait until the next attempt.

        Refreshes the metadata if the error requires that.
        """
        pause = self.note(error)
        limit = asyncio.timeout_at(self._deadline)
        try:
            async with limit:
                await self._policy.renew_after(error)
                await asyncio.sleep(pause)
        except TimeoutError:
            if not limit.expired():
                raise
            raise self.time_is_up() from in_brief(error)

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """See `RetryPolicy.run`."""
        while True:
            limit = asyncio.timeout_at(self._deadline)
            try:
                async with limit:
                    result = await operation()
            except Exception as error:
                if limit.expired() and isinstance(error, TimeoutError):
                    raise self.time_is_up() from in_brief(self.last or error)
                await self.failed(error)
            else:
                self.succeeded()
                return result

    def time_is_up(self) -> KafkaTimeoutError:
        """Return the timeout error for the whole operation."""
        self._policy.tell_end(self.what)
        if self.last is None:
            silence = f"{self.what}: the time is up, and there is no answer yet"
            return KafkaTimeoutError(f"{silence}{self._policy.elsewhere()}")
        tries = "one failed try" if self.failures == 1 else f"{self.failures} failed tries"
        return KafkaTimeoutError(f"{self.what}: timed out after {tries}, the last one with: {self.last}")
