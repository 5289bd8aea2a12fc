"""Options of a partition's log, and the type of its bytes.

A broker starts without loading the log itself, which the first request needs.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview
NEVER: Final = 2**63 - 1
"""``flush.messages`` of a log that is never synced."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The topic configs that the log itself obeys; sizes in bytes, times in milliseconds, -1 for no limit."""

    segment_bytes: int = 1 << 30
    segment_ms: int = NEVER
    """Age of a segment's first record at which a new segment is started."""
    index_interval_bytes: int = 4096
    retention_ms: int = -1
    retention_bytes: int = -1
    flush_messages: int = NEVER
    delete_old: bool = True
    """Whether ``cleanup.policy`` names delete."""
