"""How a notebook shows the result of `kafka.read`: a table of the first rows, with the types of its columns.

The table is small whatever the topics contain: at most `MOST_ROWS` rows, with long values shortened. `kafka.display`
escapes the texts; it uses the notebook's own colours, so the table fits light and dark themes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kafka.display.html_tables import MOST_ROWS, Html, html, table, text, time, titled, value
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    import pyarrow

    from kafka.consumer.bounds import OffsetRange

PREVIEW_MS = 5_000
"""Milliseconds after which the table is shown without rows if no record arrives."""
SMALL_FETCHES: Mapping[str, Any] = {
    "bootstrap_timeout_ms": PREVIEW_MS,
    "fetch_max_bytes": 1 << 20,
    "max_partition_fetch_bytes": 64 << 10,
    "max_poll_records": 500,
}
"""Options of the consumer that reads the rows, so that a large topic does not fill the memory."""
_FIELDS = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
_TYPES = {"topic": "str", "partition": "int", "offset": "int", "timestamp": "time", "headers": "list"}
_IN_ORDER = ("topic", "partition", "offset")


def read_html(kind: str, ranges: Mapping[TopicPartition, OffsetRange], first_rows: Callable[[int], Any]) -> Html:
    """Return the HTML of a bounded read.

    Arguments:
        kind: the name of the class.
        ranges: the offsets to read.
        first_rows: returns the first rows; or a coroutine, which is not run, as a notebook cannot wait for it.
    """
    total = sum(each.end - each.start for each in ranges.values())
    title = f"{kind}: at most {total:,} record(s) of {len(ranges):,} partition(s)"
    if not total:
        return titled(title)
    try:
        found = first_rows(MOST_ROWS)
    except Exception as error:  # a table must not fail: the broker may be gone, and deserializers may raise anything
        return titled(title, _ranges(ranges), _note(f"The rows cannot be shown: {type(error).__name__}: {error}"))
    if inspect.iscoroutine(found):
        found.close()
        return titled(title, _ranges(ranges), _note("To see rows: await .to_arrow(), or iterate with async for."))
    rows = sorted(found, key=lambda row: [row[name] for name in _IN_ORDER])[:MOST_ROWS]
    if not rows:
        return titled(title, _ranges(ranges), _note("None of these offsets has a record."))
    names = list(rows[0])
    types = _types(rows)
    cells = [[_cell(name, row[name]) for name in names] for row in rows]
    shown = f"{len(rows):,} of at most {total:,} shown" if total > len(rows) else f"all {total:,} shown"
    return titled(title, table([f"{name}: {types[name]}" for name in names], cells, len(rows)), _note(shown))


def first_ranges(ranges: Mapping[TopicPartition, OffsetRange], most: int) -> dict[TopicPartition, OffsetRange]:
    """Return the ranges of the first partitions that together have at least ``most`` offsets."""
    chosen: dict[TopicPartition, OffsetRange] = {}
    count = 0
    for tp in sorted(ranges):
        if ranges[tp].start < ranges[tp].end and count < most:
            chosen[tp] = ranges[tp]
            count += ranges[tp].end - ranges[tp].start
    return chosen


def record_rows(records: Iterable[Any]) -> list[Mapping[str, Any]]:
    """Return records as mappings of the fields to show."""
    return [{name: getattr(record, name) for name in _FIELDS} for record in records]


class ArrowRow(dict[str, Any]):
    """A row of an Arrow batch.

    Arguments:
        row: the values by column.
        types: the types of the columns.
    """

    def __init__(self, row: Mapping[str, Any], types: Mapping[str, str]) -> None:
        super().__init__(row)
        self.types = types


def arrow_rows(batch: pyarrow.RecordBatch) -> list[Mapping[str, Any]]:
    """Return the rows of an Arrow batch with the types of its columns."""
    types = {field.name: str(field.type) for field in batch.schema if field.name != "timestamp_type"}
    return [ArrowRow({name: row[name] for name in types}, types) for row in batch.to_pylist()]


def _types(rows: list[Mapping[str, Any]]) -> Mapping[str, str]:
    """Return the type of each column: Arrow's, or the classes of the values shown."""
    if isinstance(rows[0], ArrowRow):
        return rows[0].types
    found = dict(_TYPES)
    for name in ("key", "value"):
        classes = dict.fromkeys(type(row[name]).__name__ for row in rows if row[name] is not None)
        found[name] = " or ".join(classes) or "null"
    return found


def _cell(name: str, shown: Any) -> str:
    if name == "timestamp":
        return time(shown) if isinstance(shown, int) or shown is None else text(shown)
    return text(shown) if name in _IN_ORDER else value(shown)


def _ranges(ranges: Mapping[TopicPartition, OffsetRange]) -> Html:
    rows = ((tp.topic, tp.partition, f"{each.start:,}", f"{each.end:,}") for tp, each in sorted(ranges.items()))
    return table(("topic", "partition", "from offset", "to offset, exclusive"), rows, len(ranges))


def _note(shown: str) -> Html:
    return html("<p>{}</p>", text(shown))
