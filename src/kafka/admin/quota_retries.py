"""Changes of topics that a quota of the cluster has put off (KIP-599): what was refused for that is sent again."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from kafka.admin.requests import MARGIN_MS, AdminRequests, FinalError
from kafka.errors import KafkaError, KafkaTimeoutError, ThrottlingQuotaExceededError

T = TypeVar("T")


async def within_quota(
    requests: AdminRequests,
    wanted: Mapping[Any, T],
    send: Callable[[list[T]], Awaitable[Any]],
    results_of: Callable[[Any], Mapping[Any, Any]],
    timeout_ms: int | None,
) -> tuple[int, list[Any]]:
    """Send what is wanted, and again what exceeds the quota, until the time is up.

    Arguments:
        wanted: by what tells them apart.
        send: sends some of it, and tries again by itself what else may be.
        results_of: the results in a response, by the same.

    Gives the longest throttle time in milliseconds, and the results; some may still say that the quota is exceeded.
    """
    results: dict[Any, Any] = {}
    throttle_ms = [0]

    async def once() -> None:
        left = {key: each for key, each in wanted.items() if key not in results or _exceeds(results[key])}
        try:
            response = await send(list(left.values()))
        except KafkaError as error:
            raise FinalError(error) from error
        throttle_ms.append(response.throttle_time_ms)
        answered = results_of(response)
        results.update(answered)
        if any(_exceeds(each) for key, each in answered.items() if key in wanted):
            raise ThrottlingQuotaExceededError("some changes of topics must wait")

    try:
        # Longer than one sending takes at most: its own error tells why there was no answer.
        await requests.retry("changing topics", once, requests.limit_ms(timeout_ms) + 2 * MARGIN_MS)
    except KafkaTimeoutError:
        if not results:
            raise
    in_order = [results.pop(key) for key in wanted if key in results]
    return max(throttle_ms), [*in_order, *results.values()]


def _exceeds(result: Any) -> bool:
    return bool(result.error_code == ThrottlingQuotaExceededError.errno)
