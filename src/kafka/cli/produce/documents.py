"""Records as JSON objects, one a line, in the form that ``kafka consume --json`` writes."""

import base64
import json
from collections.abc import Mapping
from typing import IO, Any

import click

from kafka.cli.produce.lines import split
from kafka.cli.produce.sending import Sending
from kafka.errors import KafkaError

_KNOWN = ("key", "value", "headers", "partition", "timestamp", "topic", "offset", "key_base64", "value_base64")


def send_documents(sending: Sending, file: IO[bytes], keep_partitions: bool) -> None:
    """Each line has "value" or "value_base64"; it may have key, headers and timestamp. Raises `click.UsageError`.

    Arguments:
        keep_partitions: each record goes to the partition that it names.
    """
    number = 0
    for found in split(file, b"\n"):
        for line in found:
            number += 1
            if line.strip():
                try:
                    _send(sending, json.loads(line), keep_partitions)
                except KafkaError:  # about the topic or the settings, not this line
                    raise
                except (ValueError, TypeError, RecursionError) as error:
                    raise click.UsageError(f"line {number} is no record: {error}") from None


def _send(sending: Sending, document: Any, keep_partitions: bool) -> None:
    if not isinstance(document, dict):
        raise ValueError(f"expected an object, got {type(document).__name__}; --format lines sends any line as it is")
    strangers = [name for name in document if name not in _KNOWN]
    if strangers or not {"value", "value_base64"} & document.keys():
        raise ValueError(
            f"expected an object with 'value' and perhaps 'key', 'headers', 'partition', 'timestamp', got "
            f"{', '.join(strangers or document) or 'none of them'}; --format lines sends any line as it is"
        )
    sending.send(
        field(document, "value"),
        field(document, "key"),
        _headers(document.get("headers")),
        document.get("partition") if keep_partitions else None,
        document.get("timestamp"),
    )


def field(document: Mapping[str, Any], name: str) -> bytes | None:
    """A key or a value: text, or any other JSON, which is sent as JSON. Raises `ValueError`."""
    if f"{name}_base64" in document:
        return base64.b64decode(document[f"{name}_base64"], validate=True)
    value = document.get(name)
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def _headers(given: Any) -> list[tuple[str, bytes | None]] | None:
    """A list of objects of "key" and "value", or of pairs, or an object."""
    if not given:
        return None
    if isinstance(given, dict):
        given = [{"key": name, "value": value} for name, value in given.items()]
    found = []
    for each in given:
        if isinstance(each, list) and len(each) == 2:
            each = {"key": each[0], "value": each[1]}
        if not isinstance(each, dict) or not isinstance(each.get("key"), str):
            raise ValueError(f"expected headers as objects with 'key' and 'value', got {json.dumps(each)[:80]}")
        found.append((each["key"], field(each, "value")))
    return found
