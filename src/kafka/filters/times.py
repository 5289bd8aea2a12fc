"""Dates, times and durations in filters, as milliseconds since 1970.

The forms are those of positions in ``kafka consume --from``: change both together.
"""

import datetime
import re

_AGO = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*(ms|s|m|h|d|w)(?:\s+ago)?", re.ASCII)
_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_MILLISECONDS = re.compile(r"@(-?\d{1,18})", re.ASCII)
FORMS = "a time such as '2026-01-31T12:00', '2026-01-31T12:00:00Z', '@1767225600000', 'now', or '2h' for two hours ago"


def time_of(text: str, now: datetime.datetime) -> float | int | None:
    """Return the milliseconds since 1970 of a time, or None if the text is not a time.

    Arguments:
        text: a date or time in ISO 8601, local unless it has a UTC offset; "@" and milliseconds; "now"; or a duration
            before now, such as "90s", "15m", "2h", "3d", with or without "ago".
        now: the current time, with a time zone.
    """
    text = text.strip()
    if text.lower() == "now":
        return _milliseconds(now)
    if found := _MILLISECONDS.fullmatch(text):
        return int(found[1])
    if found := _AGO.fullmatch(text):
        return _milliseconds(now) - float(found[1]) * _UNITS_MS[found[2]]
    return instant_of(text)


def instant_of(text: str) -> float | int | None:
    """Return the milliseconds since 1970 of a date or time in ISO 8601, or None if the text is another one."""
    if len(text) < 8 or not text[:4].isdecimal():
        return None
    try:
        return _milliseconds(datetime.datetime.fromisoformat(text))
    except (ValueError, OverflowError, OSError):
        return None


def of_datetime(time: datetime.datetime) -> float | int | None:
    """Return a time in milliseconds since 1970; None if it is out of the calendar's range."""
    try:
        return _milliseconds(time)
    except (ValueError, OverflowError, OSError):
        return None


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def _milliseconds(time: datetime.datetime) -> float | int:
    """Convert a time exactly; a time without a zone is local."""
    microseconds = (time.astimezone(datetime.UTC) - _EPOCH) // datetime.timedelta(microseconds=1)
    return microseconds // 1_000 if microseconds % 1_000 == 0 else microseconds / 1_000
