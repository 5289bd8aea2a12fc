"""The page for producing a message, also as a copy of a displayed one.

Keys and values are null, text, JSON, hexadecimal, or, with a registry, JSON that is encoded with the newest Avro,
JSON or Protobuf schema of the topic's subject (`registry_values.py`). The audit log has the position and sizes, not the
content.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kafka.display.page_elements import Html, html, joined, link, sent_back
from kafka.errors import BrokerResponseError, KafkaError, error_text
from kafka.producer.async_producer import AsyncKafkaProducer
from kafka.ui.access.audit_log import DONE, FAILED
from kafka.ui.changes import UNANSWERED, attempted, takes_effect_once
from kafka.ui.merged_scan import Found
from kafka.ui.message_fields import number_field, options
from kafka.ui.message_page import one_record
from kafka.ui.page_frame import page, trouble
from kafka.ui.registry_values import encoded
from kafka.ui.search import text_to_bytes
from kafka.ui.shared_state import Ui

LARGEST = 4 << 20
"""Maximum size of the form in bytes."""
_WAYS = (("text", "text"), ("json", "JSON"), ("hex", "hexadecimal"), ("null", "null"))
_WITH_SCHEMA = ("schema", "JSON, with the newest schema")
_MOST_HEADERS = 100
_TITLE = "Produce a message"
_TIMEOUT_MS = 20_000


async def produce_page(ui: Ui, given: Mapping[str, str]) -> Html:
    """Return the form; with ``from_partition`` and ``from_offset``, it contains that message.

    Raises `ValueError`, `KafkaError` and `TimeoutError`.
    """
    fields = dict(given)
    if given.get("from_offset"):
        place = {"partition": given.get("from_partition", ""), "offset": given["from_offset"]}
        record = await one_record(ui, {"topic": given.get("topic", ""), **place})
        if record is None:
            raise ValueError("there is no message at this offset to copy; it was deleted, or has not been written yet")
        fields |= await _fields_of(ui, given.get("topic", ""), record)
    return page(ui, _TITLE, "/messages", _form(ui, fields))


async def _fields_of(ui: Ui, topic: str, record: Found) -> dict[str, str]:
    """Return the fields of the form for a copy of a message. Bytes that are not text are hexadecimal."""
    fields = {"headers": "\n".join(_header_line(*each) for each in record.headers), "partition": ""}
    texts: Any = (None, None)
    if ui.registry is not None:
        (texts,) = await ui.registry.decoded(topic, [record])
    for part, data, decoded in (("key", record.key, texts[0]), ("value", record.value, texts[1])):
        if data is None:
            fields |= {part: "", f"{part}_as": "null"}
        elif ui.registry is not None and decoded is not None and decoded.text is not None:
            fields |= {part: decoded.text, f"{part}_as": "schema"}
            if decoded.schema.startswith("PROTOBUF"):
                fields[f"{part}_message"] = await ui.registry.message_name(topic, record, part)
        else:
            text = _as_text(data)
            fields |= {part: data.hex(" ") if text is None else text, f"{part}_as": "hex" if text is None else "text"}
    return fields


def _as_text(data: bytes) -> str | None:
    """Return bytes as text, if a form sends it back unchanged: browsers change line breaks."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if "\r" in text or "\0" in text or text.startswith("\n") else text


def _header_line(name: str, value: bytes | None) -> str:
    text = None if value is None else _as_text(value)
    if value is None or text is None or "\n" in text:
        return f"{name}: {'null' if value is None else 'hex ' + value.hex()}"
    return f"{name}: {text}" if text not in ("null",) and not text.startswith("hex ") else f"{name}: hex {value.hex()}"


def _form(ui: Ui, given: Mapping[str, str], told: Html | str = "") -> Html:
    ways = (*_WAYS, _WITH_SCHEMA) if ui.registry is not None else _WAYS
    parts = [
        html(
            '<fieldset><legend>{}</legend><label>{} as<select name="{}_as">{}</select></label>{}'
            '<label class="grows">{}<textarea name="{}" rows="{}" class="code" spellcheck="false">\n{}</textarea>'
            "</label></fieldset>",
            *(title, title, name, options(ways, given.get(f"{name}_as", "text")), _message(ui, name, given)),
            *(title, name, rows),
            sent_back(given.get(name, "")),
        )
        for title, name, rows in (("Key", "key", 2), ("Value", "value", 12))
    ]
    return html(
        '{}<form method="post" action="produce" class="produce"><input type="hidden" name="token" value="{}">{}'
        '<div class="row"><label>Topic<input name="topic" required value="{}"></label>'
        '<label>Partition<input name="partition" inputmode="numeric" placeholder="by key" value="{}"></label></div>'
        '{}<fieldset><legend>Headers</legend><label class="grows">One per line, such as trace: 1a2b. Write '
        'null for a null value, and hex 00ff for bytes.<textarea name="headers" rows="3" class="code" '
        'spellcheck="false">\n{}</textarea></label></fieldset>'
        '<button class="main">Produce</button></form>',
        told,
        ui.forms.token,
        ui.submissions.field(),
        *(sent_back(given.get(name)) for name in ("topic", "partition")),
        joined(parts),
        sent_back(given.get("headers", "")),
    )


def _message(ui: Ui, name: str, given: Mapping[str, str]) -> Html:
    """Return the field for the message type of a Protobuf schema."""
    if ui.registry is None:
        return Html("")
    return html(
        '<label class="with-schema">Protobuf message'
        '<input name="{}_message" placeholder="first of the schema" value="{}"></label>',
        *(name, sent_back(given.get(f"{name}_message"))),
    )


@takes_effect_once("/produce")
async def produce(ui: Ui, given: Mapping[str, str]) -> tuple[Html, bool]:
    """Produce the message of the form; return a page with its position, or the form with the error.

    Also returns whether the message was produced. A form that is submitted twice produces one message.
    """
    topic = given.get("topic", "").strip()
    what: dict[str, Any] = {"topic": topic}
    failed = "Not produced"
    try:
        partition = number_field("partition", given.get("partition", ""), None, 0, 2**31 - 1)
        key, value = [await _bytes_of(ui, topic, part, given) for part in ("key", "value")]
        headers = parse_headers(given.get("headers", ""))
        what |= {"key_bytes": _length(key), "value_bytes": _length(value), "headers": len(headers)}
        limits = {"delivery_timeout_ms": _TIMEOUT_MS, "request_timeout_ms": _TIMEOUT_MS // 2, "linger_ms": 0}
        configs: Any = {**ui.settings.producer, **limits, "max_block_ms": _TIMEOUT_MS // 2}
        async with AsyncKafkaProducer(**configs) as producer:
            future = await producer.send(topic, value, key, headers, partition)
            failed = "The cluster did not confirm the message, which may have been written"
            sent = await attempted(ui, "produce", what, future)
    except (KafkaError, ValueError, TypeError, OverflowError, TimeoutError) as error:
        ui.record("produce", what, FAILED, error_text(error))
        if isinstance(error, BrokerResponseError) and not isinstance(error, UNANSWERED):
            failed = "Not produced"
        return page(ui, _TITLE, "/messages", _form(ui, given, trouble(f"{failed}: {error_text(error)}"))), False
    ui.record("produce", {**what, "partition": sent.partition, "offset": sent.offset}, DONE)
    place = {"topic": topic, "partition": sent.partition, "offset": sent.offset}
    told = page(
        ui,
        "The message was produced",
        "/messages",
        html(
            '<p role="status">{} in partition {} of {}.</p><p class="actions"><span>{}</span> <span>{}</span></p>'
            '<p class="quiet">Sending the same form again produces nothing more.</p>',
            *(link(f"Offset {sent.offset}", "/message", **place), sent.partition, topic),
            link("Newest messages", "/messages", topic=topic),
            link("Produce another", "/produce", topic=topic),
        ),
    )
    return told, True


async def _bytes_of(ui: Ui, topic: str, part: str, given: Mapping[str, str]) -> bytes | None:
    """Return the bytes of the key or value. Raises `ValueError` if the text does not fit."""
    text, way = given.get(part, "").replace("\r\n", "\n"), given.get(f"{part}_as", "text")
    if way == "null" or (way == "text" and part == "key" and not text):
        return None
    if way == "hex":
        return text_to_bytes(text, as_hex=True) or b""
    if way == "schema":
        return await encoded(ui.registry, topic, part, text, given.get(f"{part}_message", "").strip())
    if way == "json":
        try:
            json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"the {part} is not JSON: {error}") from None
    elif way != "text":
        raise ValueError(f"expected text, json, hex, null or schema as {part}_as, got {way!r:.60}")
    return text.encode("utf-8", "surrogateescape")


def parse_headers(text: str) -> list[tuple[str, bytes | None]]:
    """Parse headers, one per line. Raises `ValueError` with the number of the wrong line."""
    found: list[tuple[str, bytes | None]] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise ValueError(f"line {number} of the headers: expected name: value, got {line!r:.60}")
        value = value.removeprefix(" ")
        data = None if value == "null" else value.encode("utf-8", "surrogateescape")
        found.append((name.strip(), text_to_bytes(value[4:], True) or b"" if value.startswith("hex ") else data))
    if len(found) > _MOST_HEADERS:
        raise ValueError(f"expected at most {_MOST_HEADERS} headers, got {len(found)}")
    return found


def _length(data: bytes | None) -> int | None:
    return None if data is None else len(data)
