# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Writes objects as Avro's logical types. Numbers and bytes are written as values of the underlying type.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.encoder_output import shown

if cython.compiled:
    from cython.cimports.kafka.formats.avro.encoder_output import ObjectWriter, Output
    from cython.cimports.kafka.formats.avro.object_writers import as_bytes, whole
else:
    from kafka.formats.avro.encoder_output import ObjectWriter, Output
    from kafka.formats.avro.object_writers import as_bytes, whole

BAD = cython.declare(cython.int, 1)
"""Returned by a writer for a value that does not fit its type."""
EPOCH = cython.declare(object, datetime(1970, 1, 1, tzinfo=UTC))
LOCAL_EPOCH = cython.declare(object, datetime(1970, 1, 1))
_ORDINAL = cython.declare(cython.longlong, date(1970, 1, 1).toordinal())


@cython.final
@cython.cclass
class DateWriter(ObjectWriter):
    """Writes a date, or ISO 8601 text, as days since 1970-01-01."""

    days: ObjectWriter

    def __init__(self, days: ObjectWriter) -> None:
        self.days = days

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        if isinstance(value, date):
            return out.put_long(value.toordinal() - _ORDINAL)
        if whole(value) is not None:
            return self.days.write(out, value)
        made = _date_of(value) if isinstance(value, str) else None
        if made is None:
            return out.fail(f"expected a date, got {shown(value)}")
        return out.put_long(made.toordinal() - _ORDINAL)

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        if isinstance(value, str):
            return _date_of(value) is not None
        return isinstance(value, date) or self.days.fits(out, value)


@cython.cfunc
def _date_of(text: Any) -> Any:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


@cython.final
@cython.cclass
class TimeWriter(ObjectWriter):
    """Writes a time of day in units of `unit` microseconds; finer digits are truncated."""

    count: ObjectWriter
    unit: cython.longlong

    def __init__(self, count: ObjectWriter, unit: cython.longlong) -> None:
        self.count, self.unit = count, unit

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        micros: cython.longlong
        if not isinstance(value, time):
            if whole(value) is None:
                return out.fail(f"expected a time, got {shown(value)}")
            if not 0 <= value < 86_400_000_000 // self.unit:
                return out.fail(f"expected a number from 0 to {86_400_000_000 // self.unit - 1}, got {shown(value)}")
            return self.count.write(out, value)
        micros = ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
        return out.put_long(micros // self.unit)

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return isinstance(value, time) or self.count.fits(out, value)


@cython.final
@cython.cclass
class TimestampWriter(ObjectWriter):
    """Writes a datetime as the number of units since 1970-01-01, rounded down.

    A datetime without a time zone is interpreted as local time. A local timestamp ignores the time zone.
    """

    count: ObjectWriter
    per_second: cython.longlong
    is_local: cython.bint

    def __init__(self, count: ObjectWriter, per_second: cython.longlong, is_local: cython.bint) -> None:
        self.count, self.per_second, self.is_local = count, per_second, is_local

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        seconds: cython.longlong
        micros: cython.longlong
        if not isinstance(value, datetime):
            if whole(value) is None:
                return out.fail(f"expected a datetime, got {shown(value)}")
            return self.count.write(out, value)
        if self.is_local:
            since = value.replace(tzinfo=None) - LOCAL_EPOCH
        elif value.tzinfo is None:
            try:
                since = value.astimezone(UTC) - EPOCH
            except (OverflowError, ValueError):
                return out.fail(f"expected a datetime of the years 1 to 9999 in UTC too, got {value.isoformat()}")
        else:
            since = value - EPOCH
        seconds = since.days * 86_400 + since.seconds
        micros = since.microseconds
        if self.per_second <= 1_000_000:
            return out.put_long(seconds * self.per_second + micros // (1_000_000 // self.per_second))
        if not -9_223_372_036 < seconds < 9_223_372_036:
            return out.fail(f"expected a datetime of the years 1678 to 2261, got {value.isoformat()}")
        return out.put_long(seconds * self.per_second + micros * (self.per_second // 1_000_000))

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return isinstance(value, datetime) or self.count.fits(out, value)


@cython.final
@cython.cclass
class DecimalWriter(ObjectWriter):
    """Writes a decimal or an integer as bytes (`size` is -1) or as a fixed type.

    Bytes are written unchanged, because they already are the encoded unscaled number.
    """

    size: cython.Py_ssize_t
    precision: Any
    scale: Any
    raw: ObjectWriter

    def __init__(self, size: cython.Py_ssize_t, precision: int, scale: int, raw: ObjectWriter) -> None:
        self.size, self.precision, self.scale = size, precision, scale
        self.raw = raw

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        if as_bytes(value) is not None:
            return self.raw.write(out, value)
        number = self._digits(value)
        if number is None:
            return out.fail(
                f"expected a decimal of at most {self.precision} digits, {self.scale} of them behind the point, got "
                f"{value if isinstance(value, Decimal) else shown(value)!s:.60}"
            )
        size = self.size
        if size < 0:
            size = (abs(number).bit_length() + 8) // 8
            out.put_long(size)
        out.put_bytes(number.to_bytes(size, "big", signed=True))
        return 0

    @cython.cfunc
    def _digits(self, value: Any) -> Any:
        """Return the unscaled number; None if the value is not a number or its scale exceeds the type's."""
        if not isinstance(value, Decimal):
            number = whole(value)
            return None if number is None else self._bounded(number * 10**self.scale)
        sign, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int):
            return None
        shift = exponent + self.scale
        if not digits or digits == (0,):
            return 0
        if len(digits) + shift > self.precision:
            return None
        number = int("".join(map(str, digits))) if len(digits) < 4_000 else None
        if number is None:
            return None
        if shift < 0:
            number, rest = divmod(number, 10**-shift)
            if rest:
                return None
        else:
            number *= 10**shift
        return self._bounded(-number if sign else number)

    @cython.cfunc
    def _bounded(self, number: Any) -> Any:
        """Return the number, or None if it exceeds the precision."""
        return number if abs(number) < 10**self.precision else None

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        if as_bytes(value) is not None:
            return self.raw.fits(out, value)
        return isinstance(value, Decimal) and self._digits(value) is not None


@cython.final
@cython.cclass
class TextUuidWriter(ObjectWriter):
    """Writes a UUID, or its text, as a string."""

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        if isinstance(value, UUID):
            return out.put_text(str(value))
        if not isinstance(value, str) or not _is_uuid(value):
            return out.fail(f"expected a UUID, got {shown(value)}")
        return out.put_text(value)

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return isinstance(value, UUID) or (isinstance(value, str) and _is_uuid(value))


@cython.cfunc
@cython.exceptval(-1)
def _is_uuid(text: Any) -> cython.bint:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


@cython.final
@cython.cclass
class UuidWriter(ObjectWriter):
    """Writes a UUID, or its 16 bytes."""

    raw: ObjectWriter

    def __init__(self, raw: ObjectWriter) -> None:
        self.raw = raw

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        return self.raw.write(out, value.bytes if isinstance(value, UUID) else value)

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return isinstance(value, UUID) or self.raw.fits(out, value)


@cython.final
@cython.cclass
class DurationWriter(ObjectWriter):
    """Writes months, days and milliseconds, or their 12 bytes."""

    raw: ObjectWriter

    def __init__(self, raw: ObjectWriter) -> None:
        self.raw = raw

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        if as_bytes(value) is not None:
            return self.raw.write(out, value)
        if not _is_duration(value):
            return out.fail(
                f"expected an AvroDuration of three numbers from 0 to 4294967295, got {_duration_shown(value)}"
            )
        for part in value:
            out.put_bytes(part.to_bytes(4, "little"))
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return _is_duration(value) or self.raw.fits(out, value)


@cython.cfunc
@cython.exceptval(-1)
def _is_duration(value: Any) -> cython.bint:
    if not isinstance(value, tuple) or len(value) != 3:
        return False
    for part in value:  # noqa: SIM110 - all() needs a generator, which is slower
        if type(part) is not int or not 0 <= part < 1 << 32:
            return False
    return True


@cython.cfunc
def _duration_shown(value: Any) -> str:
    return f"{value!r:.80}" if isinstance(value, tuple) else shown(value)
