"""The columns that rules and queries see, and the types that SQL expressions have.

Types are sqlglot's `DataType`; None stands for a type that is unknown. Names are compared as Spark does by default,
without regard to case.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from kafka.config.option import nearest

if TYPE_CHECKING:
    import pyarrow

Type = exp.DataType
KAFKA = "kafka"
"""The column with the topic, partition, offset, timestamp, key and headers of a record."""
_KAFKA_FIELDS = "topic:string,partition:int,offset:bigint,timestamp:timestamp,key:{},headers:{}"
_HEADERS = "array<struct<key:string,value:binary>>"


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Arguments:
        name: the name.
        type: the type; None if it is unknown.
    """

    name: str
    type: Type | None = None


class Columns:
    """The columns of a source, a subquery or a query, in their order.

    Arguments:
        columns: the columns.
    """

    def __init__(self, columns: Iterable[Column]) -> None:
        self._columns = list(columns)
        self._by_name = {each.name.lower(): each for each in reversed(self._columns)}

    def __iter__(self) -> Iterator[Column]:
        return iter(self._columns)

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._by_name

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name.lower()]

    @property
    def names(self) -> list[str]:
        """The names, in order."""
        return [each.name for each in self._columns]

    def repeated(self) -> list[str]:
        """Return the names that several columns have."""
        lowered = [each.lower() for each in self.names]
        return sorted({each for each in lowered if lowered.count(each) > 1})

    def problem(self, parts: Sequence[str]) -> str | None:
        """Return what is wrong with a reference to a column or to a field of it; None if nothing is known to be wrong.

        Arguments:
            parts: the name of the column, and the names of fields within it.
        """
        if parts[0] not in self:
            return f"there is no column {parts[0]!r}{one_of(parts[0], self.names, 'the columns are')}"
        type_, path = self[parts[0]].type, parts[0]
        for part in parts[1:]:
            type_ = _inside_lists(type_)
            if type_ is None or type_.this == exp.DataType.Type.MAP:
                return None
            if type_.this != exp.DataType.Type.STRUCT:
                return f"{path!r} is {article(type_)} and has no field {part!r}"
            fields = Columns(fields_of(type_))
            if part not in fields:
                return f"{path!r} has no field {part!r}{one_of(part, fields.names, 'its fields are')}"
            type_, path = fields[part].type, f"{path}.{part}"
        return None

    def type_of(self, parts: Sequence[str]) -> Type | None:
        """Return the type of a column or of a field of it; None if it is unknown."""
        type_ = self[parts[0]].type if parts[0] in self else None
        for part in parts[1:]:
            if type_ is None or type_.this != exp.DataType.Type.STRUCT:
                return None
            fields = Columns(fields_of(type_))
            type_ = fields[part].type if part in fields else None
        return type_


def columns_of_source(value: pyarrow.DataType, key: pyarrow.DataType | None) -> Columns:
    """Return the columns of a source.

    Arguments:
        value: the type of values in Spark, from `ReaderSchema.spark`.
        key: the type of keys; None if it is unknown.
    """
    import pyarrow as pa

    from kafka.spark.typed.spark_types import ddl_of

    fields = list(value) if pa.types.is_struct(value) else [pa.field("value", value)]
    columns = [Column(each.name, type_from_ddl(ddl_of(each.type))) for each in fields]
    if not any(each.name == KAFKA for each in columns):
        text = _KAFKA_FIELDS.format("binary" if key is None else ddl_of(key), _HEADERS)
        columns.append(Column(KAFKA, type_from_ddl(f"struct<{text}>")))
    return Columns(columns)


def type_from_ddl(text: str) -> Type | None:
    """Parse a type in Spark's notation; None if sqlglot does not know it."""
    try:
        found: Any = exp.DataType.build(text, dialect="spark")
    except ValueError:
        return None
    return found if isinstance(found, exp.DataType) else None


def fields_of(type_: Type) -> list[Column]:
    """Return the fields of a struct."""
    found = []
    for each in type_.expressions:
        inner = each.args.get("kind")
        found.append(Column(each.name, inner if isinstance(inner, exp.DataType) else None))
    return found


def _inside_lists(type_: Type | None) -> Type | None:
    """Return the type of the elements of a list, of whose fields Spark makes lists; other types unchanged."""
    while type_ is not None and type_.this in (exp.DataType.Type.ARRAY, exp.DataType.Type.LIST):
        inner = type_.expressions[0] if type_.expressions else None
        type_ = inner if isinstance(inner, exp.DataType) else None
    return type_


def article(type_: Type) -> str:
    """Return a type with its article, such as "a double"."""
    text = type_.sql("spark").lower()
    return f"{'an' if text[0] in 'aeiou' else 'a'} {text}"


def close(name: str, known: Iterable[str]) -> str:
    """Return the hint "; did you mean 'x'?" for a name; "" if no known name is similar."""
    lowered = {each.lower(): each for each in known}
    hint = nearest(name, lowered)
    for each, original in lowered.items():
        hint = hint.replace(repr(each), repr(original))
    return hint


def one_of(name: str, known: Sequence[str], what: str) -> str:
    """Return the hint of `close`; if no known name is similar, "; WHAT a, b, c"."""
    return close(name, known) or f"; {what} {listed(known)}"


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Return names separated by commas, or the first ones and the number of the others."""
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} and {len(names) - limit} more"
