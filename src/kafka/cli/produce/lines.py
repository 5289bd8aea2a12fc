"""Lines as records, as they come: what is typed is sent at once."""

import os
from collections.abc import Iterator
from typing import IO

from kafka.cli.output import note
from kafka.cli.produce.sending import BadInputError, Sending

_CHUNK = 1 << 20
_MOST = 1 << 30


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    """What there is to read, as soon as there is something."""
    try:
        number = file.fileno()
    except (OSError, AttributeError, ValueError):
        while data := file.read(_CHUNK):
            yield data
        return
    while data := os.read(number, _CHUNK):
        yield data


def split(file: IO[bytes], delimiter: bytes) -> Iterator[list[bytes]]:
    """The lines, as many at a time as there are; the last one may lack its delimiter."""
    begun: list[bytes] = []  # a line of which no end has come: joined once, however many pieces it comes in
    size, overlap = 0, len(delimiter) - 1
    for data in chunks(file):
        while begun and len(begun[-1]) < overlap:
            size -= len(begun[-1])
            data = begun.pop() + data
        before = begun[-1][-overlap:] if begun and overlap else b""
        if delimiter in before + data:
            *found, rest = (b"".join(begun) + data).split(delimiter)
            yield found
            begun, size = [rest], len(rest)
        else:
            begun.append(data)
            size += len(data)
        if size > _MOST:
            raise BadInputError("a line is longer than 1 GiB: is --delimiter right?")
    if any(begun):
        yield [b"".join(begun)]


def send_lines(
    sending: Sending,
    file: IO[bytes],
    delimiter: bytes,
    separator: bytes | None,
    null: bytes | None,
    encoding: str | None = None,
) -> None:
    """Each line is a value, or a key and a value.

    Arguments:
        separator: stands between a key and a value; a line without it has no key.
        null: a value of this text is null; None: no value is.
        encoding: what values are sent in, where the lines are UTF-8; None: as they are.
    """
    send, without_key = sending.send, 0
    for found in split(file, delimiter):
        for line in found:
            key: bytes | None = None
            text = line
            if separator is not None:
                before, between, after = line.partition(separator)
                if between:
                    key, text = before, after
                else:
                    without_key += 1
            if encoding is not None:
                text = _encoded(text, encoding)
            send(None if text == null else text, key)
    if without_key:
        note(f"lines without the separator, sent as values without a key: {without_key:,}")


def _encoded(text: bytes, encoding: str) -> bytes:
    try:
        return text.decode().encode(encoding)
    except UnicodeError as error:
        raise BadInputError(f"cannot encode a line in {encoding}: {error}") from None
