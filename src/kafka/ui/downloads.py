"""Downloads of the messages of a search: JSON Lines, CSV and, if pyarrow is installed, Parquet.

JSON Lines and CSV are sent while the search runs. Parquet is complete only at its end, and is built in memory. To add a
format, add it to `FORMATS`.
"""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from starlette.responses import Response

from kafka.display.page_elements import time
from kafka.errors import KafkaError, error_text
from kafka.ui.merged_scan import Found
from kafka.ui.message_fields import parse_search
from kafka.ui.message_rows import decoded
from kafka.ui.page_registry import RecordText
from kafka.ui.search import Progress, Search
from kafka.ui.shared_state import Ui
from kafka.ui.streams import StreamedResponse

_MOST_PARQUET_BYTES = 256 << 20
_COLUMNS = ("topic", "partition", "offset", "timestamp", "time", "key", "value", "headers")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Characters with which a formula begins in a spreadsheet."""


async def download(ui: Ui, given: Mapping[str, str]) -> Response:
    """Return the messages of a search as a file. Raises `ValueError` for a wrong form or format."""
    kind = given.get("format", "")
    if kind not in FORMATS:
        raise ValueError(f"expected a format ({', '.join(FORMATS)}), got {kind!r:.60}")
    search = parse_search(ui, {**given, "topic": given.get("topic", "")}, ui.settings.search_records)
    made, media_type = FORMATS[kind]
    stem = "".join(each if each.isalnum() and each.isascii() else "-" for each in search.topic)[:100]
    headers = {"Content-Disposition": f'attachment; filename="{stem or "messages"}.{kind}"'}
    if kind == "parquet":
        return Response(await _parquet(ui, search), media_type=media_type, headers=headers)
    return StreamedResponse(made(ui, search), media_type=media_type, headers=headers)


async def _batches(ui: Ui, search: Search) -> AsyncIterator[tuple[list[Found], list[RecordText]]]:
    async with aclosing(ui.searches.run(search, Progress(), ui.registry)) as batches:
        async for records in batches:
            yield records, await decoded(ui, search.topic, records, "auto")


async def _json_lines(ui: Ui, search: Search) -> AsyncIterator[bytes]:
    try:
        async for records, texts in _batches(ui, search):
            lines = [json.dumps(_fields(search.topic, *pair)) for pair in zip(records, texts, strict=True)]
            yield "".join(f"{line}\n" for line in lines).encode()
    except KafkaError as error:  # the status has been sent; a line says that the file is not complete
        yield (json.dumps({"error": error_text(error)}) + "\n").encode()


def _fields(topic: str, record: Found, text: RecordText) -> dict[str, Any]:
    found: dict[str, Any] = {"topic": topic, "partition": record.partition, "offset": record.offset}
    found |= {"timestamp": record.timestamp, "time": time(record.timestamp) if record.timestamp >= 0 else None}
    for name, data, schema in (("key", record.key, text.key), ("value", record.value, text.value)):
        content, is_base64 = _content(data, schema.text if schema is not None else None)
        found[name] = content
        if is_base64:
            found[f"{name}_encoding"] = "base64"
    found["headers"] = [_header(*each) for each in record.headers]
    return found


def _header(name: str, value: bytes | None) -> dict[str, Any]:
    content, is_base64 = _content(value, None)
    return {"name": name, "value": content, **({"value_encoding": "base64"} if is_base64 else {})}


def _content(data: bytes | None, decoded_text: str | None) -> tuple[Any, bool]:
    """Return a key or value for JSON, and whether it is base64: JSON itself, text, or base64 for other bytes."""
    if data is None:
        return None, False
    try:
        text = decoded_text if decoded_text is not None else data.decode()
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), True
    if decoded_text is not None or text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text), False
        except (ValueError, RecursionError):
            pass
    return text, False


async def _csv(ui: Ui, search: Search) -> AsyncIterator[bytes]:
    yield _csv_lines([_COLUMNS])
    try:
        async for records, texts in _batches(ui, search):
            yield _csv_lines(_cells(search.topic, *pair) for pair in zip(records, texts, strict=True))
    except KafkaError as error:
        yield _csv_lines([["error", error_text(error)]])


def _cells(topic: str, record: Found, text: RecordText) -> list[Any]:
    fields = _fields(topic, record, text)
    return [_cell(fields[name]) for name in _COLUMNS]


def _cell(value: Any) -> Any:
    """Return a cell. Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    if isinstance(value, dict | list):
        value = json.dumps(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _csv_lines(rows: Any) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue().encode("utf-8", "backslashreplace")


async def _parquet(ui: Ui, search: Search) -> bytes:
    """Return the records as a Parquet file with their bytes. Raises `ValueError` if pyarrow is missing."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ValueError("Parquet requires pyarrow: pip install 'kafka-columnar[arrow]'") from None
    header = pyarrow.struct([("name", pyarrow.string()), ("value", pyarrow.binary())])
    fields: list[tuple[str, pyarrow.DataType]] = [
        ("topic", pyarrow.string()),
        ("partition", pyarrow.int32()),
        ("offset", pyarrow.int64()),
        ("timestamp", pyarrow.timestamp("ms", "UTC")),
        ("key", pyarrow.binary()),
        ("value", pyarrow.binary()),
        ("headers", pyarrow.list_(header)),
    ]
    schema = pyarrow.schema(fields)
    out, taken = io.BytesIO(), 0
    with pyarrow.parquet.ParquetWriter(out, schema) as writer:
        async for records, _ in _batches(ui, search):
            taken += sum(each.size for each in records)
            if taken > _MOST_PARQUET_BYTES:
                raise ValueError(
                    f"these messages take more than {_MOST_PARQUET_BYTES >> 20} MiB: download JSON Lines, or fewer "
                    "messages"
                )
            rows = [
                {
                    "topic": search.topic,
                    **{name: getattr(each, name) for name in ("partition", "offset", "key", "value")},
                    "timestamp": each.timestamp if each.timestamp >= 0 else None,
                    "headers": [{"name": name, "value": value} for name, value in each.headers],
                }
                for each in records
            ]
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))
    return out.getvalue()


FORMATS: Mapping[str, tuple[Callable[[Ui, Search], Any], str]] = {
    "jsonl": (_json_lines, "application/jsonl"),
    "csv": (_csv, "text/csv; charset=utf-8"),
    "parquet": (_parquet, "application/vnd.apache.parquet"),
}
