"""Durations as ISO 8601 has them, in days, hours, minutes and seconds, such as ``PT1H30M``."""

import re

_PARTS = re.compile(
    r"([-+]?)P(?:([-+]?\d+)D)?(T(?=[-+\d])(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?)(\d+)(?:[.,](\d{0,9}))?S)?)?",
    re.IGNORECASE | re.ASCII,
)
_DAY_MS, _HOUR_MS, _MINUTE_MS, _SECOND_MS = 86_400_000, 3_600_000, 60_000, 1_000
_NS_DIGITS = 9


def milliseconds(text: str) -> int | None:
    """The length in whole milliseconds, rounded down; None: it is no such duration. Java: ``Duration.parse``."""
    found = _PARTS.fullmatch(text)
    if found is None:
        return None
    negative, days, _, hours, minutes, sign, seconds, fraction = found.groups()
    if days is None and hours is None and minutes is None and seconds is None:
        return None
    whole_ms: int = int(days or 0) * _DAY_MS + int(hours or 0) * _HOUR_MS + int(minutes or 0) * _MINUTE_MS
    ns: int = int(seconds or 0) * 10**_NS_DIGITS + int((fraction or "").ljust(_NS_DIGITS, "0"))
    ns = whole_ms * 10**6 + (-ns if sign == "-" else ns)
    total_ms: int = (-ns if negative == "-" else ns) // 10**6
    return total_ms
