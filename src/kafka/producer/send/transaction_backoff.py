"""The pauses while the coordinator completes the transaction before, which takes it a few milliseconds."""

from __future__ import annotations

from kafka.cluster.backoff import Backoff

_FIRST_MS, _LAST_MS = 2, 50


def concurrent_backoff() -> Backoff:
    """The pauses after CONCURRENT_TRANSACTIONS."""
    return Backoff(_FIRST_MS, _LAST_MS)
