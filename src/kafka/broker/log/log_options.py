"""Options of a partition's log, and the type of its data.

They are in a separate module so that a broker can start without importing the log.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview
NEVER: Final = 2**63 - 1
"""The ``flush.messages`` value for a log that is never synced."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The topic configs that the log uses. Sizes are in bytes, times in milliseconds; -1 means no limit."""

    segment_bytes: int = 1 << 30
    segment_ms: int = NEVER
    """Maximum age of a segment's first record before the log starts a new segment."""
    index_interval_bytes: int = 4096
    retention_ms: int = -1
    retention_bytes: int = -1
    flush_messages: int = NEVER
    delete_old: bool = True
    """Whether ``cleanup.policy`` includes delete."""
