"""Numbers and times as people read them."""

import datetime

from kafka.display import units

UNKNOWN = "–"  # noqa: RUF001  # the dash that stands for no value


def count(value: float | None) -> str:
    """A whole number with its thousands apart."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def rate(value: float | None, unit: str = "/s") -> str:
    """A rate."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}{unit}" if value >= 10 or value == 0 else f"{value:.2g}{unit}"


def size(value: float | None) -> str:
    """Bytes with their unit."""
    return UNKNOWN if value is None else units.size(value)


def time(timestamp_ms: int) -> str:
    """A timestamp of a record, in UTC; -1 is none, and one beyond the calendar a number."""
    if timestamp_ms < 0:
        return UNKNOWN
    try:
        found = datetime.datetime.fromtimestamp(timestamp_ms / 1000, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return f"{timestamp_ms} ms"
    return found.isoformat(" ", "milliseconds").replace("+00:00", "Z")


def short(value: float) -> str:
    """A number for an axis."""
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= 0.9995 * factor:  # with three digits, less is not shown as 1000 of the next smaller unit
            return f"{value / factor:.3g}{unit}"
    return f"{value:.3g}"
