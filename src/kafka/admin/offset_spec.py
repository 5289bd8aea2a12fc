"""Which offset of a partition is asked for."""

from enum import IntEnum

from kafka.admin.enum_names import EnumHelper


class OffsetSpec(EnumHelper, IntEnum):
    """Offsets that are found by what they are, as the timestamps that ask for them."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


class OffsetTimestamp(int):
    """Milliseconds since 1970: the first offset at or after them. Not an offset, which is a plain int."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"OffsetTimestamp({int(self)})"


class OffsetShift(int):
    """So many records after what a group has committed; before it, if negative."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"OffsetShift({int(self)})"


class IsolationLevel(EnumHelper, IntEnum):
    """Whether offsets of open transactions count."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1
