"""Converts Protobuf values to Arrow columns and back with the library ptars.

ptars accepts some values that cannot be read back: enum numbers without a name, unknown enum names, null in lists,
several fields of a oneof, and times beyond its range. This module checks for these, and halves a batch that ptars
rejects until it finds the bad values. It finds values with several fields of a oneof in the same way: only the last
field counts, but ptars returns all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute

from kafka.formats.arrow_arrays import check_kind, check_valid
from kafka.formats.protobuf.damage import damage
from kafka.formats.protobuf.descriptors import descriptor_proto
from kafka.formats.protobuf.errors import ProtobufEncodeError, ProtobufSchemaError, library

pc: Any = pyarrow.compute
_TIMES = (-62_135_596_800_000_000, 253_402_300_799_999_999)
"""The range of a Timestamp in microseconds: years 1 to 9999."""
_SPANS = (-315_576_000_000_000_000, 315_576_000_000_000_000)
"""The range of a Duration in microseconds: 10,000 years."""
_SEVERAL = "a oneof has several fields"
_OUT_OF_RANGE = "At {path}: expected a time within the range of Protobuf"


class ProtobufColumns:
    """Decodes and encodes values of one message type.

    Args:
        descriptor: the message's descriptor.

    Raises:
        ProtobufSchemaError: the schema has no column type.
    """

    def __init__(self, descriptor: Any) -> None:
        ptars = library("ptars")
        for file in _files(descriptor.file, {}):
            if descriptor_proto(file).syntax == "editions":
                raise ProtobufSchemaError(f"{file.name} uses an edition: its values can be objects, but not columns")
        config = ptars.PtarsConfig(enum_repr="string", timestamp_unit="us", duration_unit="us", time_unit="us")
        self._handler = ptars.HandlerPool([descriptor.file], config).get_for_message(descriptor)
        self._descriptor = descriptor
        schema = self._handler.schema()
        self.type: pa.DataType = pa.struct(list(schema))
        self._schema: pa.Schema = schema
        self._leaves = list(_leaves(descriptor, self.type, "", ()))
        self._oneofs = list(_oneofs(descriptor, self.type, ()))

    # -- bytes to columns ---------------------------------------------------------------------------------------------

    def decode(self, values: Any, fail: Callable[[int, str, str], None]) -> Any:
        """Decode a binary array into a column; `fail` is called with the row, cause and field of each bad value."""
        if len(values) == 0:
            return pa.array([], self.type)
        valid = None if not values.null_count else pc.is_valid(values)
        bad: list[int] = []

        def failed(row: int, why: str, field: str) -> None:
            bad.append(row)
            fail(row, why, field)

        batches = list(self._decoded(values, 0, failed))
        columns = [
            pa.concat_arrays([each.column(at) for each in batches]) if len(batches) > 1 else batches[0].column(at)
            for at in range(len(self._schema))
        ]
        mask = None if valid is None else pc.invert(valid)
        if bad:
            flags = [False] * len(values)
            for row in bad:
                flags[row] = True
            mask = pa.array(flags) if mask is None else pc.or_(mask, pa.array(flags))
        if not columns:
            return pa.array(
                [None if mask is not None and mask[at].as_py() else {} for at in range(len(values))], self.type
            )
        return pa.StructArray.from_arrays(columns, fields=list(self._schema), mask=mask)

    def _decoded(self, values: Any, start: int, fail: Callable[[int, str, str], None]) -> Iterator[Any]:
        """Decode values, halving the batch if one is bad; a bad value is decoded as if it were empty."""
        why: str | None = None
        field = ""
        try:
            batch = self._handler.array_to_record_batch(values)
            if self._has_several_of_a_oneof(batch):
                why = _SEVERAL
            elif (out_of_range := self._out_of_range(batch)) is not None:
                why, field = _OUT_OF_RANGE.format(path=out_of_range), out_of_range
        except BaseException as error:
            if not isinstance(error, ValueError) and not _is_panic(error):
                raise
            batch, why = None, str(error).removeprefix("failed to decode Protobuf message: ")
        if why is None:
            yield batch
        elif len(values) == 1 and why is _SEVERAL:
            yield from self._decoded(pa.array([self._rewritten(values[0].as_py())], pa.binary()), start, fail)
        elif len(values) == 1:
            found = damage(self._descriptor, values[0].as_py())
            fail(start, str(found or why), found.path if found else field)
            yield self._handler.array_to_record_batch(pa.array([b""], pa.binary()))
        else:
            half = len(values) // 2
            yield from self._decoded(values.slice(0, half), start, fail)
            yield from self._decoded(values.slice(half), start + half, fail)

    def _has_several_of_a_oneof(self, batch: Any) -> bool:
        whole = batch.to_struct_array() if self._oneofs else None
        for steps, names in self._oneofs:
            message = _leaf(whole, steps)
            taken = None
            for name in names:
                flags = pc.is_valid(message.field(message.type.get_field_index(name)))
                if taken is not None and pc.any(pc.and_(taken, flags)).as_py():
                    return True
                taken = flags if taken is None else pc.or_(taken, flags)
        return False

    def _rewritten(self, data: bytes) -> bytes:
        """Re-encode a value with only the last field of each oneof, which is how the library protobuf reads it."""
        message = library("google.protobuf.message_factory").GetMessageClass(self._descriptor)()
        message.MergeFromString(data)
        message.DiscardUnknownFields()  # also discards unknown values of a closed enum
        rewritten: bytes = message.SerializePartialToString()
        return rewritten

    def _out_of_range(self, batch: Any) -> str | None:
        """Return the path of a time that is out of range, or None."""
        whole = batch.to_struct_array()
        for path, steps, descriptor in self._leaves:
            if descriptor.enum_type is None and not _is_in_range(_leaf(whole, steps)):
                return path
        return None

    # -- columns to bytes ---------------------------------------------------------------------------------------------

    def encode(self, rows: Any) -> Any:
        """Encode each row of a struct array or of a record batch as a value; null stays null.

        Raises:
            ProtobufEncodeError: a row is not a valid message.
            ArrowInvalid: the array is invalid, for example because a string is not UTF-8.
        """
        array = rows.to_struct_array() if isinstance(rows, pa.RecordBatch) else rows
        if not pa.types.is_struct(array.type):
            raise ProtobufEncodeError(f"expected rows of a struct, got {array.type}")
        check_valid(array)
        for field in array.type:
            if self._schema.get_field_index(field.name) < 0:
                raise ProtobufEncodeError(f"{self._descriptor.full_name} has no field {field.name!r}")
        given = {field.name: each for field, each in zip(array.type, array.flatten(), strict=True)}
        columns = []
        for field in self._schema:
            if field.name not in given:
                continue
            try:
                check_kind(given[field.name].type, field.type, field.name)
            except ValueError as error:
                raise ProtobufEncodeError(f"{self._descriptor.full_name}: {error}") from error
            try:
                columns.append((field, _of_type(given[field.name], field)))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, KeyError) as error:
                raise ProtobufEncodeError(f"At {field.name}: expected {field.type}: {error}") from error
        _check_oneofs(array, self._descriptor, "")
        if not columns:
            empty = pa.array([b""] * len(array), pa.binary())
            return pc.if_else(array.is_valid(), empty, None) if array.null_count else empty
        self._check_written(columns)
        batch = pa.RecordBatch.from_arrays([each for _, each in columns], names=[field.name for field, _ in columns])
        self._check_leaves(batch)
        try:
            values = self._handler.record_batch_to_array(batch)
        except BaseException as error:
            if isinstance(error, (ValueError, TypeError)) or _is_panic(error):
                raise ProtobufEncodeError(str(error)) from error
            raise
        return pc.if_else(array.is_valid(), values, None) if array.null_count else values

    def _check_written(self, columns: list[tuple[Any, Any]]) -> None:
        """Reject recursive messages: in columns they are bytes, which ptars omits."""
        for field, column in columns:
            for path, steps in _nested_bytes(self._descriptor.fields_by_name[field.name], field.type):
                found = _leaf(column, steps)
                if found.null_count < len(found):
                    raise ProtobufEncodeError(
                        f"At {path}: a recursive message cannot be written from a column: encode messages"
                    )

    def _check_leaves(self, batch: Any) -> None:
        whole = batch.to_struct_array()
        for path, steps, descriptor in self._leaves:
            if batch.schema.get_field_index(steps[0]) < 0:
                continue
            found = _leaf(whole, steps)
            if descriptor.enum_type is not None:
                names = pa.array([each.name for each in descriptor.enum_type.values])
                wrong = pc.and_(pc.is_valid(found), pc.invert(pc.is_in(found, names)))
                at = pc.index(pc.fill_null(wrong, False), True).as_py()
                if at >= 0:
                    raise ProtobufEncodeError(
                        f"At {path}: {found[at].as_py()!r} is not a value of the enum {descriptor.enum_type.full_name}"
                    )
            elif not _is_in_range(found):
                raise ProtobufEncodeError(_OUT_OF_RANGE.format(path=path))


def _is_in_range(times: Any) -> bool:
    lowest, highest = _TIMES if pa.types.is_timestamp(times.type) else _SPANS
    span = pc.min_max(times.cast(pa.int64())).as_py()
    return span["min"] is None or bool(span["min"] >= lowest and span["max"] <= highest)


def _check_oneofs(array: Any, descriptor: Any, path: str) -> None:
    """Raise `ProtobufEncodeError` if a message has several fields of a oneof."""
    for oneof in descriptor.oneofs:
        flags = [
            (each.name, array.field(at).is_valid()) for each in oneof.fields if (at := _position(array, each)) >= 0
        ]
        for count, (name, flag) in enumerate(flags):
            for other, others in flags[:count]:
                row = pc.index(pc.and_(pc.and_(flag, others), array.is_valid()), True).as_py()
                if row >= 0:
                    where = f"At {path}: " if path else f"row {row}: "
                    raise ProtobufEncodeError(
                        f"{where}expected one field of the oneof {oneof.name!r}, got {other} and {name}"
                    )
    for field in descriptor.fields:
        place = _position(array, field)
        if place < 0 or field.message_type is None:
            continue
        inner, target = pc.struct_field(array, [place]), field.message_type
        if pa.types.is_map(inner.type):
            target, inner = target.fields_by_name["value"].message_type, _leaf(inner, ("{}",))
        elif pa.types.is_list(inner.type):
            inner = pc.list_flatten(inner)
        if target is not None and pa.types.is_struct(inner.type):
            _check_oneofs(inner, target, f"{path}.{field.name}".strip("."))


def _position(array: Any, field: Any) -> int:
    return int(array.type.get_field_index(field.name))


def _of_type(column: Any, field: Any) -> Any:
    """Cast a column safely. Null means that a field is not set; it is rejected in lists and maps.

    Fields of nested messages are cast as nullable, because in Spark they are null if the message is not set.
    """
    made = column if column.type == field.type else column.cast(_nullable(field.type))
    _check_items(made, field.name)
    return made


def _nullable(type_: Any) -> Any:
    """Make all fields of a type nullable."""
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(each.name, _nullable(each.type)) for each in type_])
    if pa.types.is_map(type_):
        key, item = type_.key_field, type_.item_field
        return pa.map_(key, pa.field(item.name, _nullable(item.type)))
    if pa.types.is_list(type_):
        return pa.list_(pa.field(type_.value_field.name, _nullable(type_.value_type)))
    return type_


def _check_items(array: Any, path: str) -> None:
    """Raise `ProtobufEncodeError` for nulls in lists and maps."""
    type_ = array.type
    if pa.types.is_struct(type_):
        for field, inner in zip(type_, array.flatten(), strict=True):
            _check_items(inner, f"{path}.{field.name}")
    elif pa.types.is_map(type_):
        items = pc.list_flatten(array.cast(pa.list_(pa.struct([type_.key_field, type_.item_field]))))
        if items.field(1).null_count:
            raise ProtobufEncodeError(f"At {path}: expected no null in a map")
        _check_items(items.field(1), f"{path}[]")
    elif pa.types.is_list(type_):
        items = pc.list_flatten(array)
        if items.null_count:
            raise ProtobufEncodeError(f"At {path}: expected no null in a list")
        _check_items(items, f"{path}[]")


def _leaves(
    descriptor: Any, type_: Any, path: str, steps: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Yield the enums and times in a message, each with its path and the fields that lead to it."""
    for field in descriptor.fields:
        at = type_.get_field_index(field.name)
        if at < 0:
            continue
        inner, way, where = type_.field(at).type, (*steps, field.name), f"{path}.{field.name}".strip(".")
        target = field
        if pa.types.is_map(inner):
            target, inner, way = field.message_type.fields_by_name["value"], inner.item_type, (*way, "{}")
        elif pa.types.is_list(inner):
            inner, way = inner.value_type, (*way, "[]")
        if (target.enum_type is not None and pa.types.is_string(inner)) or (
            pa.types.is_timestamp(inner) or pa.types.is_duration(inner)
        ):
            yield where, way, target
        elif target.message_type is not None and pa.types.is_struct(inner):
            yield from _leaves(target.message_type, inner, where, way)


def _oneofs(descriptor: Any, type_: Any, steps: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield the oneofs in a message: the path to the enclosing message, and the names of the oneof's fields."""
    for oneof in descriptor.oneofs:
        names = [each.name for each in oneof.fields if type_.get_field_index(each.name) >= 0]
        if len(names) > 1:
            yield steps, names
    for field in descriptor.fields:
        at = type_.get_field_index(field.name)
        if at < 0 or field.message_type is None:
            continue
        inner, way, target = type_.field(at).type, (*steps, field.name), field.message_type
        if pa.types.is_map(inner):
            target, inner, way = target.fields_by_name["value"].message_type, inner.item_type, (*way, "{}")
        elif pa.types.is_list(inner):
            inner, way = inner.value_type, (*way, "[]")
        if target is not None and pa.types.is_struct(inner):
            yield from _oneofs(target, inner, way)


def _nested_bytes(field: Any, type_: Any, path: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the messages that are bytes in columns, each with its path and the steps to it from the field's column."""
    path, target = f"{path}.{field.name}".strip("."), field
    steps: tuple[str, ...] = ()
    if pa.types.is_map(type_):
        target, type_, steps = field.message_type.fields_by_name["value"], type_.item_type, ("{}",)
    elif pa.types.is_list(type_):
        type_, steps = type_.value_type, ("[]",)
    message = target.message_type
    if message is None:
        return
    if pa.types.is_binary(type_) and message.full_name != "google.protobuf.BytesValue":
        yield path, steps
    elif pa.types.is_struct(type_):
        for inner in message.fields:
            at = type_.get_field_index(inner.name)
            if at >= 0:
                for where, way in _nested_bytes(inner, type_.field(at).type, path):
                    yield where, (*steps, inner.name, *way)


def _is_panic(error: BaseException) -> bool:
    """Return whether an error is a panic in ptars. Panics are not subclasses of `Exception`."""
    return type(error).__name__ == "PanicException"


def _leaf(array: Any, steps: tuple[str, ...]) -> Any:
    """Return the values at a path in all rows, which are null where an enclosing value is null."""
    for step in steps:
        if step == "[]":
            array = pc.list_flatten(array)
        elif step == "{}":
            type_ = array.type
            array = pc.list_flatten(array.cast(pa.list_(pa.struct([type_.key_field, type_.item_field])))).field(1)
        else:
            array = pc.struct_field(array, [array.type.get_field_index(step)])
    return array


def _files(file: Any, found: dict[str, Any]) -> list[Any]:
    if file.name not in found:
        found[file.name] = file
        for each in file.dependencies:
            _files(each, found)
    return list(found.values())
