"""Decimal numbers as whole ones, whatever their size."""

from __future__ import annotations

_TOO_MANY = 10**15
_MAX_DIGITS = 100
"""More than any column has."""
_BEYOND: int = 10**_MAX_DIGITS


def scaled(text: bytes, scale: int) -> int | None:
    """Return a JSON number times ten to the power of `scale`; None if that is not whole.

    A number of more than 100 digits becomes 10**100, with its sign.
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
    if len(used) + exponent > _MAX_DIGITS:
        return sign * _BEYOND
    return sign * int(used + b"0" * exponent)


def _power(text: bytes) -> int:
    digits = text.lstrip(b"+-").lstrip(b"0")
    size = int(digits or b"0") if len(digits) < 16 else _TOO_MANY
    return -size if text.startswith(b"-") else size
