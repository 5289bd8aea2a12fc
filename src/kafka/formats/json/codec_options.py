"""Options for what JSON, or its writers, leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
"""Units of time in Arrow, and how many of them are a second."""


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """How values are read. The defaults refuse everything that would have to be guessed, except unknown fields."""

    unknown_fields: Literal["ignore", "error"] = "ignore"
    """Fields of an object that its type lacks."""
    duplicate_keys: Literal["error", "last"] = "error"
    """A key that occurs twice in an object: an error, or the last one counts, as in Spark and Python's json."""
    null_document: Literal["error", "null"] = "error"
    """The document `null`; a record without a value is always null."""
    non_finite_numbers: Literal["error", "allow"] = "error"
    """NaN, Infinity and -Infinity in columns of floating-point numbers, as words or as strings."""
    lone_surrogates: Literal["error", "replace"] = "error"
    """Half a pair of surrogates in a string: UTF-8 has none. `"replace"` puts U+FFFD in its place."""
    epoch_unit: Literal["s", "ms", "us", "ns"] | None = None
    """For timestamps, also read whole numbers, in this unit since 1970."""

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ValueError: an option has a value that is not allowed.
        """
        _check(self, _DECODE_CHOICES)


@dataclass(frozen=True, slots=True)
class EncodeOptions:
    """How values are written."""

    nulls: Literal["write", "omit"] = "write"
    """Fields of an object that are null: `"omit"` leaves them out, as Spark's `to_json` does."""
    non_finite_numbers: Literal["error", "null", "allow"] = "error"
    """NaN and infinities, which JSON lacks: an error, null, or the words of Python's json."""

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ValueError: an option has a value that is not allowed.
        """
        _check(self, _ENCODE_CHOICES)


def _check(options: DecodeOptions | EncodeOptions, all_choices: dict[str, tuple[str | None, ...]]) -> None:
    for name, choices in all_choices.items():
        value = getattr(options, name)
        if value not in choices:
            listed = " or ".join(repr(each) for each in choices)
            raise ValueError(f"{name} is {listed}, got {value!r}")


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
