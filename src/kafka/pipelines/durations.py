"""Durations such as ``10 minutes``, as arguments of the steps and of Spark.

`microseconds` converts what users write, and `spark_text` writes it for Spark. Spark computes event times in
microseconds and watermarks in milliseconds. To accept another unit, add it to `UNITS_US`.
"""

from __future__ import annotations

import datetime
import re

from kafka.errors import IllegalArgumentError

Duration = str | datetime.timedelta
"""A duration: text in Spark's notation, such as ``1 hour 30 minutes``, or a `timedelta`."""

UNITS_US = {
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
MAX_US = 100 * 365 * UNITS_US["day"]
"""A hundred years. A longer duration is a mistake, and would exceed Spark's range when it is added to a time."""

_TEXT = re.compile(r"(?:interval\s+)?\d{1,12}\s*[a-z]+(?:\s+\d{1,12}\s*[a-z]+)*")
_PART = re.compile(r"(\d+)\s*([a-z]+)")


def microseconds(what: str, given: Duration) -> int:
    """Convert a duration to microseconds.

    Arguments:
        what: what the duration is, for the error message, such as ``dedupe: within``.
        given: the duration.

    Raises `IllegalArgumentError` if it is not a duration of whole milliseconds between 0 and 100 years.
    """
    total = given // datetime.timedelta(microseconds=1) if isinstance(given, datetime.timedelta) else _parsed(given)
    if total is None or not 0 <= total <= MAX_US or total % 1_000:
        raise IllegalArgumentError(
            f"{what}: expected a duration such as '10 minutes' or '1 hour 30 minutes' (in milliseconds, seconds, "
            f"minutes, hours, days or weeks), or a timedelta of whole milliseconds, got {given!r}"
        )
    return total


def _parsed(given: object) -> int | None:
    text = given.strip().lower() if isinstance(given, str) else ""
    if not _TEXT.fullmatch(text):
        return None
    units = [(int(number), UNITS_US.get(unit.removesuffix("s"))) for number, unit in _PART.findall(text)]
    return sum(number * unit for number, unit in units if unit) if all(unit for _, unit in units) else None


def spark_text(duration_us: int) -> str:
    """Return a duration of whole milliseconds as text for Spark, such as ``600000 milliseconds``."""
    return f"{duration_us // 1_000} milliseconds"


def shown(duration_us: int) -> str:
    """Return a duration for a message, such as ``0:10:00``."""
    return str(datetime.timedelta(microseconds=duration_us))
