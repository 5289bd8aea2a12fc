"""The timestamps that stand for the start and the end of the log in ListOffsets, and which a reset policy means."""

from kafka.config.consumer import BY_DURATION
from kafka.config.durations import milliseconds

EARLIEST = -2
"""The start of the log. Java: ``EARLIEST_TIMESTAMP``."""
LATEST = -1
"""The end of the log. Java: ``LATEST_TIMESTAMP``."""
MAX_TIMESTAMP = -3
"""The record with the highest timestamp (KIP-734)."""

_STRATEGIES: dict[str, int | None] = {"earliest": EARLIEST, "latest": LATEST, "none": None}


def reset_timestamp(strategy: str, now_ms: int) -> int | None:
    """The timestamp to look a position up by; None: there is no policy.

    Arguments:
        strategy: as ``auto_offset_reset`` has it; of a duration that is longer than time has been it is the start.
        now_ms: milliseconds since 1970-01-01 UTC.
    """
    if not strategy.startswith(BY_DURATION):
        return _STRATEGIES[strategy]
    length_ms = milliseconds(strategy[len(BY_DURATION) :])
    assert length_ms is not None  # as the option's parser has seen
    return max(now_ms - length_ms, 0)
