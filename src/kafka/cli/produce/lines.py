"""Sends records from lines: one value per line, sent as soon as it is typed, or one JSON object per line.

The JSON has the form that ``kafka consume --json`` writes.
"""

import base64
import json
import os
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import IO, Any

from kafka.cli.command_output import note
from kafka.cli.json_text import members
from kafka.cli.produce.sending import CONVERT, UTF_16, BadInputError, Sending
from kafka.cli.typed_fields import Given, Json
from kafka.errors import KafkaError

_CHUNK = 1 << 20
_MOST = 1 << 30


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield data as soon as some is available."""
    try:
        number = file.fileno()
    except (OSError, AttributeError, ValueError):
        while data := file.read(_CHUNK):
            yield data
        return
    while data := os.read(number, _CHUNK):
        yield data


def split(file: IO[bytes], delimiter: bytes) -> Iterator[list[bytes]]:
    """Yield lists of complete lines as they become available. The last line may lack its delimiter."""
    begun: list[bytes] = []  # the pieces of an unfinished line, joined only once
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
    """Send each line as a value, or as a key and a value.

    Arguments:
        separator: bytes between key and value; a line without it has no key.
        null: text of null values; None: no value is null.
        encoding: target encoding of values, for lines in UTF-8; None: values are sent unchanged.
    """
    send, without_key, is_begun = sending.send, 0, False
    for found in split(file, delimiter):
        if not is_begun and found[0].startswith(UTF_16):
            note(f"the input looks like UTF-16, but its bytes are sent unchanged; {CONVERT.format('UTF-16')}")
        is_begun = True
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


_KNOWN = ("key", "value", "headers", "partition", "timestamp", "topic", "offset", "key_base64", "value_base64")


def send_documents(sending: Sending, file: IO[bytes], keep_partitions: bool) -> None:
    """Send each line as a record, from a JSON object with "value" or "value_base64".

    The object may also have a key, headers and a timestamp. Raises `BadInputError`.

    Arguments:
        keep_partitions: send each record to the partition that it names.
    """
    number = 0
    parse_float = Decimal if sending.has_json("value") or sending.has_json("key") else float
    for found in split(file, b"\n"):
        for line in found:
            number += 1
            if number == 1 and line.startswith(UTF_16):
                raise BadInputError(f"expected JSON in UTF-8, found UTF-16: {CONVERT.format('UTF-16')}")
            if line.strip():
                try:
                    _send(sending, _document(sending, line, parse_float), keep_partitions)
                except KafkaError:  # the error concerns the topic or the settings, not this line
                    raise
                except json.JSONDecodeError as error:
                    raise BadInputError(f"line {number} is not a record: {error.msg} at column {error.colno}") from None
                except UnicodeDecodeError:
                    raise BadInputError(f"line {number} is not text in UTF-8: {CONVERT.format('LATIN1')}") from None
                except (ValueError, TypeError, RecursionError) as error:
                    raise BadInputError(f"line {number} is not a record: {error}") from None


def _document(sending: Sending, line: bytes, parse_float: Callable[[str], Any]) -> Any:
    """Parse a line. Keys and values that are nested JSON become their text in the line, unless their format is JSON."""
    document = json.loads(line, parse_float=parse_float)
    if isinstance(document, dict):
        nested = [
            name
            for name in ("key", "value")
            if isinstance(document.get(name), dict | list) and not sending.has_json(name)
        ]
        if nested:
            texts = members(line.decode(json.detect_encoding(line)))
            document |= {name: texts[name] for name in nested}
    return document


def _send(sending: Sending, document: Any, keep_partitions: bool) -> None:
    if not isinstance(document, dict):
        raise ValueError(
            f"expected an object, got {type(document).__name__}; use --format lines to send any line unchanged"
        )
    strangers = [name for name in document if name not in _KNOWN]
    if strangers or not {"value", "value_base64"} & document.keys():
        raise ValueError(
            "expected an object with 'value' and optionally 'key', 'headers', 'partition', 'timestamp', got "
            f"{', '.join(strangers or document) or 'none of them'}; use --format lines to send any line unchanged"
        )
    sending.send(
        _part(sending, document, "value"),
        _part(sending, document, "key"),
        _headers(document.get("headers")),
        document.get("partition") if keep_partitions else None,
        document.get("timestamp"),
    )


def _part(sending: Sending, document: Mapping[str, Any], name: str) -> Given | None:
    """Return a key or value: as parsed JSON if its format is based on JSON, otherwise as bytes."""
    if sending.has_json(name) and f"{name}_base64" not in document:
        return None if document.get(name) is None else Json(document[name])
    return _field(document, name)


def _field(document: Mapping[str, Any], name: str) -> bytes | None:
    """Return a key or value as bytes; anything but a string is encoded as JSON. Raises `ValueError`."""
    if f"{name}_base64" in document:
        return base64.b64decode(document[f"{name}_base64"], validate=True)
    value = document.get(name)
    if value is None:
        return None
    text = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=float)
    )
    return text.encode()


def _headers(given: Any) -> list[tuple[str, bytes | None]] | None:
    """Return headers, given as a list of objects with "key" and "value", as a list of pairs, or as an object."""
    if not given:
        return None
    if isinstance(given, dict):
        given = [{"key": name, "value": value} for name, value in given.items()]
    found = []
    for each in given:
        if isinstance(each, list) and len(each) == 2:
            each = {"key": each[0], "value": each[1]}
        if not isinstance(each, dict) or not isinstance(each.get("key"), str):
            raise ValueError(
                f"expected headers as objects with 'key' and 'value', got {json.dumps(each, default=float)[:80]}"
            )
        found.append((each["key"], _field(each, "value")))
    return found
