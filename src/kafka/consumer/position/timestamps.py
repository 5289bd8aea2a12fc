"""The timestamps that stand for the start and the end of the log in ListOffsets, by reset strategy."""

EARLIEST = -2
"""The start of the log. Java: ``EARLIEST_TIMESTAMP``."""
LATEST = -1
"""The end of the log. Java: ``LATEST_TIMESTAMP``."""
MAX_TIMESTAMP = -3
"""The record with the highest timestamp (KIP-734)."""

RESET_STRATEGIES: dict[str, int | None] = {"earliest": EARLIEST, "latest": LATEST, "none": None}
"""Values of ``auto_offset_reset``."""
