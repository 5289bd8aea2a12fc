"""How long to wait before trying again: exponentially longer, with jitter (KIP-580)."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kafka.errors import KafkaError, KafkaTimeoutError

T = TypeVar("T")
_JITTER = 0.2


class Backoff:
    """Pauses that double from ``first_ms`` to ``max_ms``, each longer or shorter by up to a fifth.

    Arguments:
        first_ms, max_ms: in milliseconds.
        rng: source of the jitter; a seeded one makes the pauses repeatable.
    """

    __slots__ = ("_first_s", "_max_s", "_rng")

    def __init__(self, first_ms: float, max_ms: float, rng: random.Random | None = None) -> None:
        self._first_s = first_ms / 1000
        self._max_s = max(first_ms, max_ms) / 1000
        self._rng = rng if rng is not None else random.Random()

    def seconds(self, failures: int) -> float:
        """The pause after so many failures in a row; 0 failures: none."""
        if failures <= 0:
            return 0.0
        pause = min(self._first_s * 2.0 ** min(failures - 1, 32), self._max_s)
        return pause * self._rng.uniform(1 - _JITTER, 1 + _JITTER)


DEFAULT_BACKOFF = Backoff(100, 1_000)


async def retry(
    operation: Callable[[], Awaitable[T]],
    deadline: float,
    *,
    backoff: Backoff = DEFAULT_BACKOFF,
    on_error: Callable[[KafkaError], Awaitable[object]] | None = None,
) -> T:
    """Await ``operation()`` until it succeeds.

    Arguments:
        deadline: in the loop's time, in seconds; nothing is tried after it.
        on_error: awaited after each failure that will be tried again, for example to refresh metadata.

    Raises what the operation raises, if that is not retriable; `KafkaTimeoutError`, from the last error and with its
    text, when the time is up.
    """
    loop = asyncio.get_running_loop()
    failures = 0
    last: KafkaError | None = None
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                if last is not None:
                    if on_error is not None:
                        await on_error(last)
                    await asyncio.sleep(backoff.seconds(failures))
                return await operation()
        except TimeoutError as error:
            raise _time_is_up(failures, last) from (last or error)
        except KafkaError as error:
            if not error.retriable:
                raise
            failures += 1
            last = error
            if loop.time() >= deadline:
                raise _time_is_up(failures, error) from error


def _time_is_up(failures: int, last: KafkaError | None) -> KafkaTimeoutError:
    if last is None:
        return KafkaTimeoutError("the time is up, and there is no answer yet")
    return KafkaTimeoutError(f"the time is up after {failures} failed attempts, the last one with: {last}")
