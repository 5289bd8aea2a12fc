"""Options for cases that JSON leaves open, or that JSON writers handle differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
"""Arrow's units of time, with the number of units per second."""


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """Options for reading values. By default, ambiguous input is an error; only unknown fields are ignored."""

    unknown_fields: Literal["ignore", "error"] = "ignore"
    """How to treat fields that are not in the type of an object."""
    duplicate_keys: Literal["error", "last"] = "error"
    """How to treat duplicate keys in an object. With `"last"`, the last one counts, as in Spark and Python's json."""
    null_document: Literal["error", "null"] = "error"
    """How to treat the document `null`; a record without a value is always null."""
    non_finite_numbers: Literal["error", "allow"] = "error"
    """How to treat NaN, Infinity and -Infinity, as words or strings, in floating-point columns."""
    lone_surrogates: Literal["error", "replace"] = "error"
    """How to treat half a surrogate pair in a string (UTF-8 cannot encode it). `"replace"` substitutes U+FFFD."""
    epoch_unit: Literal["s", "ms", "us", "ns"] | None = None
    """Also read integers as timestamps, in this unit since 1970-01-01."""

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ValueError: an option has an invalid value.
        """
        _check(self, _DECODE_CHOICES)


@dataclass(frozen=True, slots=True)
class EncodeOptions:
    """Options for writing values."""

    nulls: Literal["write", "omit"] = "write"
    """How to treat null fields of an object: `"omit"` leaves them out, like Spark's `to_json`."""
    non_finite_numbers: Literal["error", "null", "allow"] = "error"
    """How to treat NaN and infinities, which JSON lacks: an error, null, or the words that Python's json writes."""

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ValueError: an option has an invalid value.
        """
        _check(self, _ENCODE_CHOICES)


def _check(options: DecodeOptions | EncodeOptions, all_choices: dict[str, tuple[str | None, ...]]) -> None:
    for name, choices in all_choices.items():
        value = getattr(options, name)
        if value not in choices:
            listed = " or ".join(repr(each) for each in choices)
            raise ValueError(f"{name} must be {listed}, got {value!r}")


_DECODE_CHOICES: dict[str, tuple[str | None, ...]] = {
    "unknown_fields": ("ignore", "error"),
    "duplicate_keys": ("error", "last"),
    "null_document": ("error", "null"),
    "non_finite_numbers": ("error", "allow"),
    "lone_surrogates": ("error", "replace"),
    "epoch_unit": (None, *UNITS),
}
_ENCODE_CHOICES: dict[str, tuple[str | None, ...]] = {
    "nulls": ("write", "omit"),
    "non_finite_numbers": ("error", "null", "allow"),
}
