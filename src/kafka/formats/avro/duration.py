"""The value of Avro's logical type `duration`."""

from __future__ import annotations

from typing import NamedTuple


class AvroDuration(NamedTuple):
    """Months, days and milliseconds, which cannot be converted to each other; each from 0 to 4,294,967,295."""

    months: int
    days: int
    milliseconds: int
