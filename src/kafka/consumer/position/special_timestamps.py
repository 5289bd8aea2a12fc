"""The special timestamps of ListOffsets for the start and the end of the log, and the timestamps of reset policies.

Spark tasks import this module without importing those that send requests.
"""

from kafka.config.consumer import BY_DURATION, milliseconds

EARLIEST = -2
"""The start of the log. Java: ``EARLIEST_TIMESTAMP``."""
LATEST = -1
"""The end of the log. Java: ``LATEST_TIMESTAMP``."""
MAX_TIMESTAMP = -3
"""The record with the highest timestamp (KIP-734)."""

_STRATEGIES: dict[str, int | None] = {"earliest": EARLIEST, "latest": LATEST, "none": None}


def reset_timestamp(strategy: str, now_ms: int) -> int | None:
    """Return the timestamp to look up a position by; None if there is no reset policy.

    Arguments:
        strategy: the value of ``auto_offset_reset``; a duration that goes back beyond 1970 means the start of the log.
        now_ms: milliseconds since 1970-01-01 UTC.
    """
    if not strategy.startswith(BY_DURATION):
        return _STRATEGIES[strategy]
    length_ms = milliseconds(strategy[len(BY_DURATION) :])
    assert length_ms is not None  # the option's parser has checked it
    return max(now_ms - length_ms, 0)
