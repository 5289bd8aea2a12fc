"""The first rows of each key in a batch: what `steps.dedupe` keeps if a frame is not a stream.

A key's rows are sorted by time, position and content, so the result does not depend on the order in which Spark reads
them. A fold over them keeps a row if its time is far enough from the last row that was kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_POSITION = ("topic", "partition", "offset")
_ROW, _ORDER, _TIME, _KEY = "__row", "__order", "__time", "__key"


def first_rows(frame: DataFrame, by: Sequence[str], time: str, within_us: int, position: str) -> DataFrame:
    """Return the first row of each key, and each later one whose time is more than `within_us` after the last kept row.

    Arguments:
        frame: a batch of rows; no time is NULL.
        by: the columns, or fields of struct columns, that make up the key.
        time: the column with the time.
        within_us: microseconds.
        position: the struct column with topic, partition and offset, which orders rows with the same time. The frame
            need not have it.
    """
    from pyspark.sql import functions as f

    def reference(name: str) -> Column:
        return f.col("`" + name.replace("`", "``") + "`" if name in frame.columns else name)

    moment = f.unix_micros(reference(time))
    positions = [f.col(f"{position}.{name}") for name in _position_fields(frame, position)]
    contents = [reference(field.name) for field in frame.schema if _is_orderable(field.dataType)]
    rows = frame.select(
        *[reference(key).alias(f"{_KEY}_{i}") for i, key in enumerate(by)],
        f.struct(
            moment.alias(_TIME),
            f.struct(*[each.alias(f"o{i}") for i, each in enumerate([moment, *positions, *contents])]).alias(_ORDER),
            f.struct(*[reference(name).alias(name) for name in frame.columns]).alias(_ROW),
        ).alias(_ROW),
    )
    grouped = rows.groupBy(*[f"{_KEY}_{i}" for i in range(len(by))]).agg(f.collect_list(_ROW).alias(_ROW))
    kept = f.when(f.size(_ROW) == 1, f.col(_ROW)).otherwise(_kept(f.array_sort(_ROW, _compare), within_us))
    return grouped.select(f.explode(kept).alias(_ROW)).select(f"{_ROW}.{_ROW}.*")


def _kept(ordered: Column, within_us: int) -> Column:
    from pyspark.sql import functions as f

    def add(kept: Column, row: Column) -> Column:
        last = f.element_at(kept, -1)
        is_duplicate = (f.size(kept) > 0) & (row[_TIME] - last[_TIME] <= within_us)
        return f.when(is_duplicate, kept).otherwise(f.concat(kept, f.array(row)))

    return f.aggregate(ordered, f.slice(ordered, 1, 0), add)


def _compare(one: Column, other: Column) -> Column:
    from pyspark.sql import functions as f

    return f.when(one[_ORDER] < other[_ORDER], -1).when(one[_ORDER] > other[_ORDER], 1).otherwise(0)


def _position_fields(frame: DataFrame, position: str) -> list[str]:
    if position not in frame.columns or not hasattr(frame.schema[position].dataType, "fields"):
        return []
    found = frame.schema[position].dataType.fieldNames()
    return [name for name in _POSITION if name in found]


def _is_orderable(kind: DataType) -> bool:
    text = kind.simpleString()
    return "map<" not in text and "variant" not in text
