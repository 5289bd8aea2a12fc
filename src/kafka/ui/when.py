"""The times that the form for messages accepts, and their names.

In addition to the positions of the command line (`parse_position` of the settings), these are relative times in words,
such as "15 minutes ago", "yesterday" and "today". A time without a zone is in the zone that the page was asked for.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Callable
from typing import Any

RELATIVE = (
    "5 minutes ago",
    "15 minutes ago",
    "1 hour ago",
    "6 hours ago",
    "1 day ago",
    "7 days ago",
    "today",
    "earliest",
)
"""Suggestions of the form."""
_AGO = re.compile(r"(a|an|\d{1,9}) ?(second|minute|hour|day|week)s? ago", re.ASCII)
_SHORT = re.compile(r"(\d{1,9}) ?(sec|min|hr)s?( ago)?", re.ASCII)
_SECONDS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "day": 86400, "week": 604800}


def parse_when(text: str, zone: datetime.tzinfo, parse_position: Callable[[str], Any], now: datetime.datetime) -> Any:
    """Parse a position in a log.

    Arguments:
        zone: the zone of times without one.
        parse_position: parses everything except relative times in words.
        now: the current time.

    Raises `ValueError` with a message that lists the valid forms.
    """
    words = " ".join(text.lower().split())
    if words in ("today", "yesterday"):
        midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - datetime.timedelta(days=words == "yesterday")
    if words == "now":
        return now
    if (found := _AGO.fullmatch(words) or _SHORT.fullmatch(words)) is not None:
        number = 1 if found[1] in ("a", "an") else int(found[1])
        return datetime.timedelta(seconds=number * _SECONDS[found[2]])
    position = parse_position(text.strip())
    if isinstance(position, datetime.datetime) and position.tzinfo is None:
        return position.replace(tzinfo=zone)
    return position


def zone_named(name: str) -> datetime.tzinfo:
    """Return a time zone; "" is UTC. Raises `ValueError` if there is no such zone."""
    if not name or name.upper() == "UTC":
        return datetime.UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"expected a time zone such as Europe/Berlin or UTC, got {name!r:.60}") from None


def in_zone(timestamp_ms: int, zone: datetime.tzinfo) -> str:
    """Return a record's timestamp in a zone with its offset from UTC; "" if it is unknown or not a valid date."""
    if timestamp_ms < 0 or zone is datetime.UTC:
        return ""
    try:
        found = datetime.datetime.fromtimestamp(timestamp_ms / 1000, zone)
    except (OverflowError, ValueError, OSError):
        return ""
    return found.isoformat(" ", "milliseconds")
