"""Checks that columns have everything that a JSON Schema requires."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute

pc: Any = pyarrow.compute


def check_required(column: Any, wanted: pa.DataType) -> None:
    """Check that each row has everything that the schema requires, also in nested objects, arrays and maps.

    Args:
        column: the column to be written.
        wanted: the type of the schema, see `arrow_type`; required fields are not nullable.

    Raises:
        ValueError: something is missing. Names the field, and the row if it is null there.
    """
    found = _missing(column, wanted, "")
    if found is not None:
        row, path = found
        raise ValueError(f"Row {row}: {path or 'the value'} is null, and the schema requires it")


def _missing(column: Any, wanted: Any, path: str) -> tuple[int, str] | None:
    """Return the first row in which a required value is null, and the value's path."""
    if pa.types.is_struct(wanted) and pa.types.is_struct(column.type):
        return _missing_of_struct(column, wanted, path)
    if pa.types.is_map(wanted) and pa.types.is_map(column.type):
        pairs = pa.struct([("key", column.type.key_type), ("value", column.type.item_type)])
        column = column.cast(pa.list_(pairs))
        return _missing_of_list(column, column.flatten().field("value"), wanted.item_field, path)
    if _is_list(wanted) and _is_list(column.type):
        return _missing_of_list(column, column.flatten(), wanted.value_field, path)
    return None


def _missing_of_struct(column: Any, wanted: Any, path: str) -> tuple[int, str] | None:
    children = column.flatten()
    for field in wanted:
        here = f"{path}.{field.name}" if path else field.name
        at = column.type.get_field_index(field.name)
        if at < 0:
            if not field.nullable:
                raise ValueError(f"{here} is required by the schema, and there is no such column")
            continue
        found = _first_null(column, children[at], field, here)
        if found is not None:
            return found
    return None


def _missing_of_list(column: Any, items: Any, field: Any, path: str) -> tuple[int, str] | None:
    found = _first_null(None, items, field, f"{path}[]")
    return None if found is None else (pc.list_parent_indices(column)[found[0]].as_py(), found[1])


def _first_null(parents: Any, child: Any, field: Any, path: str) -> tuple[int, str] | None:
    if not field.nullable and child.null_count:
        lacking = child.is_null() if parents is None else pc.and_(parents.is_valid(), child.is_null())
        row = pc.index(lacking, True).as_py()
        if row >= 0:
            return row, path
    return _missing(child, field.type, path)


def _is_list(type_: Any) -> bool:
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_))
