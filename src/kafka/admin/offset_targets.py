"""Where the offsets of a group shall go: an offset of the log, a time, or some records further or back."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from kafka.admin.offset_spec import OffsetShift, OffsetSpec, OffsetTimestamp
from kafka.coordinator.offset_arguments import timestamp_ms
from kafka.errors import IllegalArgumentError, IllegalArgumentTypeError

Target = OffsetSpec | OffsetTimestamp | OffsetShift | timedelta | int
"""A timedelta is a time so long before now."""
GivenTarget = Target | datetime
"""What callers may give; a datetime without a time zone is local time, as `datetime.timestamp` has it."""


def target(what: str, given: object) -> Target:
    """A target as it was given; a `datetime` becomes an `OffsetTimestamp`."""
    if isinstance(given, datetime):
        return _time(what, given)
    if isinstance(given, timedelta):
        if given < timedelta(0):
            raise IllegalArgumentError(f"{what}: expected a timedelta before now, 0 or more, got {given!r}")
        return given
    if isinstance(given, bool) or not isinstance(given, int):
        raise IllegalArgumentTypeError(
            f"{what}: expected an OffsetSpec, OffsetTimestamp, OffsetShift, datetime, timedelta or an offset, got "
            f"{given!r:.80}"
        )
    return given


def _time(what: str, given: datetime) -> OffsetTimestamp:
    since_1970 = timestamp_ms(given)
    if since_1970 is None:
        raise IllegalArgumentError(f"{what}: expected a time since 1970, got {given!r}")
    return OffsetTimestamp(since_1970)


def timestamps(targets: Mapping[Any, Target], now_ms: int) -> dict[Any, int]:
    """The timestamps to look for, of those targets that are looked for."""
    found: dict[Any, int] = {}
    for key, each in targets.items():
        if isinstance(each, timedelta):
            found[key] = now_ms - round(each.total_seconds() * 1000)
        elif isinstance(each, OffsetSpec | OffsetTimestamp):
            found[key] = int(each)
    return found
