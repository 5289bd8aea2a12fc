# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads JSON strings, and converts JSON from encodings other than UTF-8. Compiled by Cython; the plain variant behaves
the same.

Like Python's json, this module accepts UTF-16, UTF-32, byte order marks, and surrogates in UTF-8. A lone surrogate is
half a character; JSON escapes, and strings in other languages, can contain one.
"""

from __future__ import annotations

import json
import re

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.record.batch_types import Buffer

if cython.compiled:
    from cython.cimports.kafka.formats.byte_operations import is_utf8
    from cython.cimports.kafka.formats.json.cursor import Cursor
    from cython.cimports.kafka.formats.json.scan import text_end
    from cython.cimports.libc.string import memcpy
else:
    from kafka.formats.byte_operations import is_utf8
    from kafka.formats.json.cursor import Cursor
    from kafka.formats.json.scan import text_end

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _hex4(data: cython.const[cython.uchar][::1], at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:  # type: ignore[valid-type]
    """Return the value of four hexadecimal digits; -1 if they are invalid."""
    index: cython.Py_ssize_t
    digit: cython.uchar
    value: cython.int = 0
    if end - at < 4:
        return -1
    for index in range(4):
        digit = data[at + index]
        if 48 <= digit <= 57:
            value = value * 16 + digit - 48
        elif 97 <= digit <= 102:
            value = value * 16 + digit - 87
        elif 65 <= digit <= 70:
            value = value * 16 + digit - 55
        else:
            return -1
    return value


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _simple_escape(byte: cython.uchar) -> cython.int:
    """Return the character for an escape letter; -1 for any other byte."""
    if byte == 34 or byte == 92 or byte == 47:
        return byte
    if byte == 110:
        return 10
    if byte == 116:
        return 9
    if byte == 114:
        return 13
    if byte == 98:
        return 8
    if byte == 102:
        return 12
    return -1


@cython.cfunc
@cython.exceptval(-1)
def _bad_end(cursor: Cursor, at: cython.Py_ssize_t) -> cython.int:
    """Report that a string is unterminated or contains an unescaped control character."""
    if at >= cursor.end:
        return cursor.fail(at, "expected the closing quote of a string, got the end of the value")
    return cursor.fail(
        at, f"expected a control character in a string to be escaped, got the byte 0x{cursor.data[at]:02x}"
    )


@cython.cfunc
@cython.exceptval(-1)
def skip_text(cursor: Cursor) -> cython.int:
    """Skip a string that begins at the cursor, without checking surrogates. Returns 0 or `BAD`."""
    start: cython.Py_ssize_t = cursor.at + 1
    at: cython.Py_ssize_t = start
    stop: cython.Py_ssize_t
    others: cython.bint = False
    while True:
        stop = text_end(cursor.data, at, cursor.end)
        if stop & 1:
            others = True
        at = stop >> 1
        if at >= cursor.end or cursor.data[at] < 32:
            return _bad_end(cursor, at)
        if cursor.data[at] == 34:
            break
        if at + 1 >= cursor.end:
            return _bad_end(cursor, at + 1)
        if cursor.data[at + 1] == 117:
            if _hex4(cursor.data, at + 2, cursor.end) < 0:
                return cursor.fail(at, "expected four hexadecimal digits behind \\u")
            at += 6
        elif _simple_escape(cursor.data[at + 1]) >= 0:
            at += 2
        else:
            return cursor.fail(at, 'expected one of "\\/bfnrtu behind a backslash')
    if (
        others
        and not is_utf8(cursor.data, start, at - start)
        and not is_utf8_but_surrogates(cursor.data, start, at - start)
    ):
        return cursor.fail(start, "expected a string in UTF-8")
    cursor.at = at + 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def read_text(cursor: Cursor) -> cython.int:
    """Read a string that begins at the cursor, as UTF-8; returns 0 or `BAD`.

    `cursor.text_size` is its size. Its bytes begin at `cursor.text_at` in the value, or are in `cursor.text` if
    `cursor.text_at` is -1.
    """
    start: cython.Py_ssize_t = cursor.at + 1
    stop: cython.Py_ssize_t = text_end(cursor.data, start, cursor.end)
    others: cython.bint = stop & 1
    stop >>= 1
    if stop < cursor.end and cursor.data[stop] == 34 and (not others or is_utf8(cursor.data, start, stop - start)):
        cursor.text_at, cursor.text_size = start, stop - start
        cursor.at = stop + 1
        return 0
    cursor.text_at = start - 1
    if skip_text(cursor):
        return BAD
    return _decode_text(cursor, cursor.text_at + 1, cursor.at - 1)


@cython.cfunc
@cython.exceptval(-1)
def _decode_text(cursor: Cursor, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
    """Decode a syntax-checked string into `cursor.text`."""
    at: cython.Py_ssize_t = start
    stop: cython.Py_ssize_t
    size: cython.Py_ssize_t = 0
    code: cython.int
    low: cython.int
    lone: cython.Py_ssize_t = -1
    others: cython.bint = False
    if len(cursor.text) < end - start:
        cursor.text = bytearray(2 * (end - start))
    while True:
        stop = text_end(cursor.data, at, end)
        if stop & 1:
            others = True
        stop >>= 1
        if cython.compiled:
            if stop > at:
                memcpy(cython.address(cursor.text[size]), cython.address(cursor.data[at]), stop - at)
        else:
            cursor.text[size : size + stop - at] = cursor.data[at:stop]
        size += stop - at
        if stop >= end:
            break
        if cursor.data[stop + 1] != 117:
            cursor.text[size] = _simple_escape(cursor.data[stop + 1])
            size += 1
            at = stop + 2
            continue
        code = _hex4(cursor.data, stop + 2, end)
        at = stop + 6
        if 0xD800 <= code <= 0xDFFF:
            low = -1
            if code < 0xDC00 and end - at >= 6 and cursor.data[at] == 92 and cursor.data[at + 1] == 117:
                low = _hex4(cursor.data, at + 2, end)
            if 0xDC00 <= low <= 0xDFFF:
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                at += 6
            elif lone < 0:
                lone = stop
        size = _put_character(cursor, size, code)
    cursor.text_at, cursor.text_size = -1, size
    if others and lone < 0 and not is_utf8(cursor.text, 0, size):
        lone = start  # surrogates are the only accepted bytes that are not UTF-8
    if lone >= 0:
        return _lone_surrogate(cursor, lone)
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _put_character(cursor: Cursor, size: cython.Py_ssize_t, code: cython.int) -> cython.Py_ssize_t:
    """Append a character in UTF-8 to `cursor.text`, which has room for it; returns the new size."""
    if code < 0x80:
        cursor.text[size] = code
        return size + 1
    if code < 0x800:
        cursor.text[size] = 0xC0 | (code >> 6)
        cursor.text[size + 1] = 0x80 | (code & 0x3F)
        return size + 2
    if code < 0x10000:
        cursor.text[size] = 0xE0 | (code >> 12)
        cursor.text[size + 1] = 0x80 | ((code >> 6) & 0x3F)
        cursor.text[size + 2] = 0x80 | (code & 0x3F)
        return size + 3
    cursor.text[size] = 0xF0 | (code >> 18)
    cursor.text[size + 1] = 0x80 | ((code >> 12) & 0x3F)
    cursor.text[size + 2] = 0x80 | ((code >> 6) & 0x3F)
    cursor.text[size + 3] = 0x80 | (code & 0x3F)
    return size + 4


@cython.cfunc
@cython.exceptval(-1)
def _lone_surrogate(cursor: Cursor, at: cython.Py_ssize_t) -> cython.int:
    """Replace a lone surrogate with U+FFFD, or report it as the reason for failure."""
    index: cython.Py_ssize_t
    replaced: bytes
    if not cursor.replaces_surrogates:
        return cursor.fail(at, "expected a string of characters, got half of a pair of surrogates")
    replaced = without_surrogates(bytes(cursor.text[: cursor.text_size]))
    for index in range(cursor.text_size):
        cursor.text[index] = replaced[index]
    return 0


def in_utf8(value: bytes) -> bytes | None:
    """Convert a value to UTF-8 without a byte order mark; None if it already is, or cannot be decoded."""
    encoding = json.detect_encoding(value)
    if encoding == "utf-8":
        return None
    try:
        return value.decode(encoding, "surrogatepass").encode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def is_utf8_but_surrogates(data: Buffer, start: int, size: int) -> bool:
    """Return whether bytes are valid UTF-8 except for encoded surrogates, which Python's json module also accepts."""
    try:
        str(data[start : start + size], "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def without_surrogates(text: bytes) -> bytes:
    """Replace each surrogate with U+FFFD; the size stays the same."""
    return _SURROGATE.sub("\ufffd", text.decode("utf-8", "surrogatepass")).encode()
