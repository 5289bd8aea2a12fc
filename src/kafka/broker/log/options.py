"""Options of a partition's log, and those that all logs share."""

from dataclasses import dataclass
from typing import Final

LEADER_EPOCH: Final = 0
"""There is one broker and no election, so each partition stays in its first epoch."""
NEVER: Final = 2**63 - 1
"""``flush.messages`` of a log that is never synced."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The topic configs that the log itself obeys; sizes in bytes, times in milliseconds, -1 for no limit."""

    segment_bytes: int = 1 << 30
    segment_ms: int = NEVER
    """Age of its first record at which a segment is followed by a new one."""
    index_interval_bytes: int = 4096
    retention_ms: int = -1
    retention_bytes: int = -1
    flush_messages: int = NEVER
    delete_old: bool = True
    """Whether ``cleanup.policy`` names delete."""
