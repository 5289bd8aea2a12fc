# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads JSON numbers without rounding. Compiled with Cython; the plain variant behaves the same."""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.formats.json.cursor import Cursor
    from cython.cimports.kafka.formats.json.scan import exact_double, scaled_double
else:
    from kafka.formats.json.cursor import Cursor
    from kafka.formats.json.scan import exact_double, scaled_double

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""
_MAX_DIGITS = cython.declare(cython.Py_ssize_t, 19)
"""Number of digits that always fit into 64 bits."""
_MAX_EXPONENT = cython.declare(cython.Py_ssize_t, 10**14)
"""Maximum exponent. No value has enough digits to compensate for a larger one."""
_HUGE_POWER = 10**15
_MOST_DIGITS = 100
"""A number of digits that exceeds the precision of every column."""
_BEYOND = 10**100


@cython.cfunc
@cython.exceptval(check=False)
def is_number(byte: cython.int) -> cython.bint:
    """Return whether a value that begins with this byte is a number."""
    return 48 <= byte <= 57 or byte == 45


@cython.cfunc
@cython.exceptval(-1)
def read_number(cursor: Cursor) -> cython.int:
    """Read the number that begins here; returns 0 or `BAD`.

    The number is `cursor.digits` times ten to the power of `cursor.exponent`, negative if `cursor.negative` is set.
    `cursor.digits` has the first 19 digits; `cursor.exact` is false if there are more. `cursor.plain` is true if there
    is neither a decimal point nor an exponent.
    """
    at: cython.Py_ssize_t = cursor.at
    end: cython.Py_ssize_t = cursor.end
    digits: cython.ulonglong = 0
    count: cython.Py_ssize_t = 0
    exponent: cython.Py_ssize_t = 0
    digit: cython.uchar
    cursor.number_at = at
    cursor.exact = cursor.plain = True
    cursor.negative = cursor.data[at] == 45
    if cursor.negative:
        at += 1
    if at >= end or not 48 <= cursor.data[at] <= 57:
        return cursor.expected(at, "a digit")
    if cursor.data[at] == 48:
        at += 1
        if at < end and 48 <= cursor.data[at] <= 57:
            return cursor.fail(cursor.number_at, "expected a number without leading zeros")
    while at < end:
        digit = cursor.data[at]
        if digit < 48 or digit > 57:
            break
        if count < _MAX_DIGITS:
            digits = digits * 10 + (digit - 48)
            count += 1
        else:
            exponent += 1
            if digit != 48:
                cursor.exact = False
        at += 1
    if at < end and cursor.data[at] == 46:
        cursor.plain = False
        at += 1
        if at >= end or not 48 <= cursor.data[at] <= 57:
            return cursor.expected(at, "a digit behind the point")
        while at < end:
            digit = cursor.data[at]
            if digit < 48 or digit > 57:
                break
            if count < _MAX_DIGITS:
                digits = digits * 10 + (digit - 48)
                exponent -= 1
                if digits != 0:
                    count += 1
            elif digit != 48:
                cursor.exact = False
            at += 1
    if at < end and (cursor.data[at] | 32) == 101:
        cursor.plain = False
        return _read_exponent(cursor, at + 1, digits, exponent)
    cursor.digits, cursor.exponent, cursor.at = digits, exponent, at
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _read_exponent(
    cursor: Cursor, at: cython.Py_ssize_t, digits: cython.ulonglong, exponent: cython.Py_ssize_t
) -> cython.int:
    """Read a number's exponent; returns 0 or `BAD`."""
    power: cython.Py_ssize_t = 0
    down: cython.bint = False
    if at < cursor.end and (cursor.data[at] == 43 or cursor.data[at] == 45):
        down = cursor.data[at] == 45
        at += 1
    if at >= cursor.end or not 48 <= cursor.data[at] <= 57:
        return cursor.expected(at, "the digits of an exponent")
    while at < cursor.end and 48 <= cursor.data[at] <= 57:
        if power < _MAX_EXPONENT:
            power = power * 10 + (cursor.data[at] - 48)
        at += 1
    cursor.digits, cursor.exponent, cursor.at = digits, exponent - power if down else exponent + power, at
    return 0


@cython.cfunc
def number_text(cursor: Cursor) -> bytes:
    """Return the text of the last number read."""
    return bytes(cursor.data[cursor.number_at : cursor.at])


@cython.cfunc
@cython.exceptval(-1.0, check=True)
def to_double(cursor: Cursor) -> cython.double:
    """Return the double nearest to the last number read, like Python's float()."""
    value: cython.double
    if cursor.exact and cursor.digits <= (1 << 53) and -22 <= cursor.exponent <= 22:
        value = scaled_double(cursor.digits, cursor.exponent)
        return -value if cursor.negative else value
    return exact_double(cursor.data, cursor.number_at, cursor.at - cursor.number_at)


@cython.cfunc
@cython.exceptval(-1)
def to_whole(cursor: Cursor, least: cython.ulonglong, most: cython.ulonglong, expects: str) -> cython.int:
    """Set `cursor.digits` to the absolute value of the last number read, if it is an integer; returns 0 or `BAD`.

    Args:
        least: the absolute value of the smallest number allowed.
        most: the largest number allowed.
        expects: what was expected, for the error message.
    """
    if not cursor.exact or cursor.exponent != 0:
        number = scaled(number_text(cursor), 0)
        if number is None:
            return cursor.expected(cursor.number_at, expects)
        if number + least < 0 or number > most:
            return cursor.expected(cursor.number_at, expects)
        cursor.digits = abs(number)
        cursor.negative = number < 0
    elif cursor.digits > (least if cursor.negative else most):
        return cursor.expected(cursor.number_at, expects)
    return 0


def scaled(text: bytes, scale: int) -> int | None:
    """Return a JSON number times ten to the power of `scale`; None if the result is not an integer.

    A number with more than 100 digits becomes 10**100 or -10**100.
    """
    number, _, power = text.lower().partition(b"e")
    whole, _, part = number.partition(b".")
    sign = -1 if whole.startswith(b"-") else 1
    digits = whole.lstrip(b"-") + part
    used = digits.rstrip(b"0")
    exponent = _power(power) - len(part) + len(digits) - len(used) + scale
    used = used.lstrip(b"0")
    if not used:
        return 0
    if exponent < 0:
        return None
    if len(used) + exponent > _MOST_DIGITS:
        return sign * _BEYOND
    return sign * int(used + b"0" * exponent)


def _power(text: bytes) -> int:
    digits = text.lstrip(b"+-").lstrip(b"0")
    size = int(digits or b"0") if len(digits) < 16 else _HUGE_POWER
    return -size if text.startswith(b"-") else size
