"""What is tried again, when, and what is logged about it: the one policy for everything that repeats.

Two uses, one object. What a caller waits for has a deadline::

    offsets = await policy.run("OffsetFetch of group 'g'", fetch_once, timeout_ms=30_000)

and a loop of the client, which lives as long as the client does, has none::

    attempts = policy.attempts("fetching from broker 1")
    while not closed:
        try:
            await fetch_once()
        except Exception as error:
            await attempts.failed(error)
        else:
            attempts.succeeded()

Either survives any `Exception` that is not fatal: it is logged, at once, then after 30 seconds and ever more rarely
(`LogLimiter`), and backed off.
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
    """Whether Kafka says that retrying does not help. An error that is not a `KafkaError` is retried."""
    return isinstance(error, KafkaError) and not error.retriable


def anything_unexpected(error: Exception) -> bool:
    """Like `refused_for_good`, but an error that is not a `KafkaError` is fatal too: a caller is there to get it."""
    return not isinstance(error, KafkaError) or not error.retriable


def nothing(error: Exception) -> bool:
    """Whatever it was, try again."""
    return False


def wants_metadata(error: KafkaError) -> bool:
    """Whether newer metadata may mend it."""
    return error.invalid_metadata or isinstance(error, NotControllerError)


def as_kafka_error(what: str, error: Exception) -> KafkaError:
    """The error for callers of ``what``: an error that is not a `KafkaError` becomes a retriable one."""
    return error if isinstance(error, KafkaError) else RetriableError(f"{what} failed unexpectedly: {error!r}")


class RetryPolicy:
    """How failures are judged, logged and followed by a pause. Immutable except for its log state; used on one loop.

    Arguments:
        backoff: the pauses between tries.
        log: where failures are logged.
        level: at which level. An unexpected error (not a `KafkaError`) is logged as an error, with its traceback.
        quiet: this many failures in a row are logged at DEBUG only: they happen, and pass.
        fatal: which errors are not retried.
        renew: awaited before the next try after an error that newer metadata may resolve, see `wants_metadata`.
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
        """Begin to try something.

        Arguments:
            what: names it in the log and in errors, and counts as the cause of log lines.
            timeout_ms: how long to try; None: for ever.
        """
        loop = asyncio.get_running_loop()
        return Attempts(self, what, None if timeout_ms is None else loop.time() + timeout_ms / 1000)

    async def run(self, what: str, operation: Callable[[], Awaitable[T]], timeout_ms: float | None = None) -> T:
        """Await ``operation()`` until it succeeds; arguments as of `attempts`.

        Raises what is fatal as it is; `KafkaTimeoutError`, from the last error and with its text, when the time is up.
        """
        return await self.attempts(what, timeout_ms).run(operation)

    def is_fatal(self, error: Exception) -> bool:
        """Whether trying again cannot help."""
        return self._fatal(error)

    def pause_s(self, failures: int) -> float:
        """The pause after this many ``failures`` in a row, in seconds."""
        return self._backoff.seconds(failures)

    def tell_failure(self, what: str, error: Exception, failures: int) -> None:
        """Log a failure, as the arguments of the policy say, and show it in `health()`."""
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
        """Log that what failed works again."""
        self._backoff.current_failures.over(what)
        self._limiter.over(what, f"{what} works again", self._fields(what))

    def tell_end(self, what: str, error: Exception | None = None) -> None:
        """What has failed is not tried any more, because of ``error`` if there is one; that is for others to log."""
        self._backoff.current_failures.over(what)
        if error is not None:
            self._backoff.current_failures.noted(what, error)

    def elsewhere(self) -> str:
        """What else of the client fails at present, as the end of a sentence: likely the reason for a silence."""
        return meanwhile(self._backoff.current_failures.failing())

    async def renew_after(self, error: Exception) -> None:
        """Fetch newer metadata where ``error`` asks for that; a failure shows when the operation is tried next."""
        if self._renew is None or not isinstance(error, KafkaError) or not wants_metadata(error):
            return
        try:
            await self._renew(error)
        except Exception as failure:
            self._log.debug("refreshing metadata after %s: %s", error, failure)


class Attempts:
    """The tries of one thing: how often it failed in a row, and until when it is tried.

    Attributes:
        what: names it in the log and in errors.
        failures: how many tries have failed since the last success.
        last: the error of the last of them.
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
        """How long it may still be tried, in milliseconds and never less than 1; None: for ever."""
        if self._deadline is None:
            return None
        return max(1.0, (self._deadline - asyncio.get_running_loop().time()) * 1000)

    def succeeded(self) -> None:
        """The last try was good."""
        if self.failures:
            self._policy.tell_success(self.what)
        self.failures, self.last = 0, None

    def ended(self) -> None:
        """It is not tried any more, for the time being."""
        if self.failures:
            self._policy.tell_end(self.what)
            self.failures, self.last = 0, None

    def note(self, error: Exception) -> float:
        """Count and log a failure; the pause before the next try, in seconds.

        Raises ``error`` where trying again cannot help, `KafkaTimeoutError` where the next try would come too late.
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
        """As `note`, and wait until the next try is due, with newer metadata where the error asks for that."""
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
        """The error of all tries together."""
        self._policy.tell_end(self.what)
        if self.last is None:
            silence = f"{self.what}: the time is up, and there is no answer yet"
            return KafkaTimeoutError(f"{silence}{self._policy.elsewhere()}")
        tries = "one failed try" if self.failures == 1 else f"{self.failures} failed tries"
        return KafkaTimeoutError(f"{self.what}: timed out after {tries}, the last one with: {self.last}")
