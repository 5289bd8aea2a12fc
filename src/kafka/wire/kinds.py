"""The numbers of the wire types.

`kinds.pxd` defines the same numbers as C constants for compiled modules. A test compares the two.
"""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """The wire types."""

    INT8 = 0
    INT16 = 1
    UINT16 = 2
    INT32 = 3
    INT64 = 4
    FLOAT64 = 5
    BOOL = 6
    STRING = 7
    BYTES = 8
    RECORDS = 9
    UUID = 10
    ARRAY = 11
    STRUCT = 12


INT8 = int(Kind.INT8)
INT16 = int(Kind.INT16)
UINT16 = int(Kind.UINT16)
INT32 = int(Kind.INT32)
INT64 = int(Kind.INT64)
FLOAT64 = int(Kind.FLOAT64)
BOOL = int(Kind.BOOL)
STRING = int(Kind.STRING)
BYTES = int(Kind.BYTES)
RECORDS = int(Kind.RECORDS)
UUID = int(Kind.UUID)
ARRAY = int(Kind.ARRAY)
STRUCT = int(Kind.STRUCT)
