"""Where the offsets of a group shall go: an offset of the log, a time, or some records further or back."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from kafka.admin.offset_spec import OffsetShift, OffsetSpec, OffsetTimestamp
from kafka.errors import IllegalArgumentError

Target = OffsetSpec | OffsetTimestamp | OffsetShift | timedelta | int
"""A timedelta is a time so long before now."""


def target(what: str, given: object) -> Target:
    """A target as it was given; a `datetime` becomes an `OffsetTimestamp`."""
    if isinstance(given, datetime):
        if given.tzinfo is None:
            raise IllegalArgumentError(f"{what}: expected a datetime with a time zone, got {given!r}")
        return OffsetTimestamp(round(given.timestamp() * 1000))
    if isinstance(given, timedelta):
        if given < timedelta(0):
            raise IllegalArgumentError(f"{what}: expected a timedelta before now, 0 or more, got {given!r}")
        return given
    if isinstance(given, bool) or not isinstance(given, int):
        raise IllegalArgumentError(
            f"{what}: expected an OffsetSpec, OffsetTimestamp, OffsetShift, datetime, timedelta or an offset, got "
            f"{given!r:.80}"
        )
    return given


def timestamps(targets: Mapping[Any, Target], now_ms: int) -> dict[Any, int]:
    """The timestamps to look for, of those targets that are looked for."""
    found: dict[Any, int] = {}
    for key, each in targets.items():
        if isinstance(each, timedelta):
            found[key] = now_ms - round(each.total_seconds() * 1000)
        elif isinstance(each, OffsetSpec | OffsetTimestamp):
            found[key] = int(each)
    return found
