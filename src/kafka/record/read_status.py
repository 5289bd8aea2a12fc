"""The status codes of `reader` and `legacy_reader`: whether records could be read, and if not, why.

Their loops run without the GIL and compare every length with the available bytes before reading. Invalid bytes end the
loops with a status instead of an exception. The caller adds the information about the batch.

`read_status.pxd` provides the same numbers to compiled modules, as C constants; a test compares the two.
"""

from __future__ import annotations

OK = 0
BAD_LENGTH = 1
BAD_VARINT = 2
BAD_DELTA = 3
BAD_HEADER = 4
BAD_SIZE = 5
BAD_MAGIC = 6
NEED_HEADER_ROOM = 7
"""More room for headers is needed. Never returned to a caller, because the loop continues once there is room."""

STATUS_TEXT = {
    BAD_LENGTH: "a length points outside the batch",
    BAD_VARINT: "a variable-length number is too long or cut off",
    BAD_DELTA: "an offset or a timestamp is out of range",
    BAD_HEADER: "a header's key is null, or the number of headers is not possible",
    BAD_SIZE: "the records do not fill their batch exactly",
    BAD_MAGIC: "an inner message has another magic than its wrapper, or is compressed itself",
}
"""Descriptions of the status codes, for error messages."""
