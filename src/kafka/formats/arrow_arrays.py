"""Makes Arrow arrays from column memory, and checks Arrow types and arrays passed by users."""

from __future__ import annotations

import difflib
from typing import Any

import pyarrow as pa

from kafka.formats.column_builders import Column, Taken


def array_of(column: Column, type_: pa.DataType) -> Any:
    """Move a column's memory to an array of the given type, without copying it. The column is empty afterwards."""
    return array_of_taken(column.take(), type_)


def array_of_taken(taken: Taken, type_: pa.DataType) -> Any:
    """Make an array of the given type from memory taken from a column."""
    if pa.types.is_null(type_):
        return pa.nulls(taken.rows)
    buffers = [None if each is None else pa.py_buffer(each) for each in taken.buffers]
    children = [array_of_taken(child, each) for child, each in zip(taken.children, _children(type_), strict=True)]
    return pa.Array.from_buffers(type_, taken.rows, buffers, taken.nulls, children=children)


def _children(type_: pa.DataType) -> list[pa.DataType]:
    """Return the types of the child columns of a type."""
    if pa.types.is_map(type_):
        return [pa.struct([type_.key_field, type_.item_field])]
    return [type_.field(at).type for at in range(type_.num_fields)]


def binary_buffers(values: Any) -> tuple[memoryview, memoryview, memoryview, bool]:
    """Return the data, int32 end positions and bitmap of a binary or string array, and whether it has nulls."""
    if values.offset or len(values.buffers()[1] or b"") < 4:
        values = pa.concat_arrays([values, values.slice(0, 0)]) if len(values) else values
    valid, ends, data = values.buffers()
    has_nulls = valid is not None and values.null_count > 0
    return (
        memoryview(data if data is not None else b"").cast("B"),
        memoryview(ends if ends is not None and len(ends) >= 4 else bytes(4)).cast("B").cast("i")[: len(values) + 1],
        memoryview(valid if valid is not None else b"\0").cast("B"),
        has_nulls,
    )


_PLAIN = (
    (pa.types.is_boolean,),
    (pa.types.is_integer,),
    (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
    (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    (
        *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
        pa.types.is_fixed_size_binary,
    ),
    (pa.types.is_date,),
    (pa.types.is_time,),
    (pa.types.is_timestamp,),
    (pa.types.is_duration,),
)
"""Groups of types. A value of one type can be written as any other type in the group if it is in range."""


def check_valid(array: Any) -> None:
    """Check a user's array: offsets must be within the data, and strings must be UTF-8.

    Raises:
        pyarrow.ArrowInvalid: the array is invalid.
    """
    array.validate()
    for each in array.flatten() if pa.types.is_struct(array.type) else [array]:  # flatten() slices the children
        each.validate(full=True)


def check_kind(given: Any, wanted: Any, path: str = "", *, allows_more: bool = False) -> None:
    """Check that columns of one type can be written as another type without changing their values.

    Args:
        given: the `pyarrow.DataType` to write.
        wanted: the schema's type.
        path: the column's path, for the error message.
        allows_more: allow fields that the schema lacks.

    Raises `ValueError` with the field's name for an incompatible type or a field that the schema lacks.
    """
    types = pa.types
    if types.is_dictionary(given):
        given = given.value_type
    if types.is_null(given) or given == wanted:
        return
    if types.is_struct(given) and types.is_struct(wanted):
        known = [field.name for field in wanted]
        for field in given:
            where = f"{path}.{field.name}".strip(".")
            at = wanted.get_field_index(field.name)
            if at < 0:
                if allows_more:
                    continue
                near = difflib.get_close_matches(field.name, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, known)) or 'none'}"
                raise ValueError(f"the schema has no field for the column {where!r}; {hint}")
            check_kind(field.type, wanted.field(at).type, where, allows_more=allows_more)
    elif _is_list(given) and _is_list(wanted):
        check_kind(given.value_type, wanted.value_type, f"{path}[]", allows_more=allows_more)
    elif types.is_map(given) and types.is_map(wanted):
        check_kind(given.key_type, wanted.key_type, path, allows_more=allows_more)
        check_kind(given.item_type, wanted.item_type, f"{path}[]", allows_more=allows_more)
    elif not _is_kept(given, wanted):
        where = f"the column {path!r} is" if path else "the values are"
        raise ValueError(f"{where} of the type {given}, but the schema's is {wanted}: convert it first")


def _is_list(type_: Any) -> bool:
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_))


def _is_kept(given: Any, wanted: Any) -> bool:
    if pa.types.is_floating(given) and not pa.types.is_floating(wanted):
        return False
    if pa.types.is_decimal(given) and not pa.types.is_decimal(wanted):
        return False
    return any(any(is_(given) for is_ in kind) and any(is_(wanted) for is_ in kind) for kind in _PLAIN)


def first_misfit(array: Any, wanted: pa.DataType) -> str:
    """Describe the first value that makes a safe cast fail: its row, field and value."""
    start, size = 0, len(array)
    while size > 1:
        half = size // 2
        if _fits(array.slice(start, half), wanted):
            start, size = start + half, size - half
        else:
            size = half
    value, path, type_ = array.slice(start, 1), "", wanted
    while pa.types.is_struct(type_) and pa.types.is_struct(value.type):
        for field, child in zip(value.type, value.flatten(), strict=True):
            inner = type_.field(type_.get_field_index(field.name)).type
            if not _fits(child, inner):
                value, path, type_ = child, f"{path}.{field.name}".strip("."), inner
                break
        else:
            break
    where = f"{path} is" if path else "the value is"
    return f"Row {start}: {where} {value[0].as_py()!r:.60}, which is no value of {type_}"


def _fits(array: Any, wanted: Any) -> bool:
    try:
        array.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return False
    return True
