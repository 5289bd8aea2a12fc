# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Columns in Arrow's layout, checked for what `row_encoder` needs. Compiled by Cython, equal when it runs plain.

The memory may be somebody else's, who may write to it meanwhile: what is said of lengths holds for good, as buffers
keep theirs; positions are to be checked whenever they are read.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython


@cython.final
@cython.cclass
class ByteColumn:
    """A column of byte strings to be encoded: 64-bit end positions, which may begin anywhere in the data."""

    def __init__(self, ends: Any, data: Any, valid: Any, valid_at: cython.Py_ssize_t) -> None:
        """Take the buffers of an Arrow large_binary array; `valid_at` is the first row's bit, no `valid` no nulls.

        Raises:
            ValueError: the bitmap is too short.
        """
        self.ends = ends
        self.data = data
        self.size = len(self.data)
        self.rows = len(self.ends) - 1
        self.has_nulls = valid is not None
        self.valid_at = valid_at
        if valid is not None:
            self.valid = valid
            if valid_at < 0 or len(self.valid) * 8 < valid_at + self.rows:
                raise ValueError(f"Expected a validity bitmap for {self.rows} rows, got {len(self.valid)} bytes")


@cython.final
@cython.cclass
class RowColumns:
    """The columns of rows to be encoded, all of one length."""

    def __init__(
        self,
        keys: ByteColumn,
        values: ByteColumn,
        timestamps: Any,
        header_ends: Any,
        header_keys: ByteColumn | None,
        header_values: ByteColumn | None,
    ) -> None:
        """Take columns of one length: int64 timestamps (milliseconds, -1 for the default) and positions of headers.

        Raises:
            ValueError: the lengths differ, or the positions of headers don't grow within the headers.
        """
        self.keys = keys
        self.values = values
        self.timestamps = timestamps
        self.rows = len(self.timestamps)
        self.has_headers = header_keys is not None and header_values is not None
        if keys.rows != self.rows or values.rows != self.rows:
            raise ValueError(f"Expected columns of {self.rows} rows, got {keys.rows} keys and {values.rows} values")
        if header_keys is not None and header_values is not None:
            self.header_keys = header_keys
            self.header_values = header_values
            self.header_ends = header_ends
            self._check_headers()

    def _check_headers(self) -> None:
        """Check what the constructor says of headers."""
        row: cython.Py_ssize_t
        fits: cython.bint = len(self.header_ends) == self.rows + 1 and self.header_ends[0] >= 0
        if fits:
            for row in range(self.rows):
                fits = fits and self.header_ends[row] <= self.header_ends[row + 1]
            fits = fits and self.header_ends[self.rows] <= min(self.header_keys.rows, self.header_values.rows)
        if not fits:
            raise ValueError(f"Expected growing positions of {self.header_keys.rows} headers for {self.rows} rows")
