"""The functions of `kafka.spark.functions` as pandas UDFs, for PySpark before 4.1, which has no Arrow UDFs.

pandas can represent neither a long next to a null nor a null struct, and Spark shifts its timestamps to the session's
time zone. So values are not converted to pandas:

- A function returns an Arrow array in a pandas object, which Spark converts back to the same array. A struct is wrapped
  in another one, because a pandas UDF cannot return a null struct.
- Spark passes a column as JSON, with the name of its type. The text is parsed into an Arrow array.
"""

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import pandas as pd
import pyarrow as pa

from kafka.spark.typed.spark_json import SparkJson
from kafka.spark.typed.spark_types import ddl_of

if TYPE_CHECKING:
    from pyspark.sql import Column

_FIELD = "value"
_PLAIN = re.compile(r"[\w.]+")
_JSON_OPTIONS = {
    "ignoreNullFields": "false",  # includes null fields, because the name of the type may not list every field
    "timeZone": "UTC",
    "dateFormat": "yyyy-MM-dd",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


class _ArrowSeries(pd.Series):
    """A series with an Arrow array. It ignores the conversions that Spark applies to values of nested types."""

    @property
    def _constructor(self) -> type["_ArrowSeries"]:
        return _ArrowSeries

    def apply(self, *args: Any, **kwargs: Any) -> Self:  # type: ignore[override]  # overloaded in pandas
        """Return the series unchanged."""
        return self


class _ArrowFrame(pd.DataFrame):
    """A frame whose columns are `_ArrowSeries`."""

    @property
    def _constructor(self) -> type["_ArrowFrame"]:
        return _ArrowFrame

    @property
    def _constructor_sliced(self) -> type[_ArrowSeries]:
        return _ArrowSeries


def _series(column: Any) -> _ArrowSeries:
    return _ArrowSeries(pd.arrays.ArrowExtensionArray(column))


def decoded(column: "Column | str", function: Callable[[Any], Any], type_: Any) -> "Column":
    """Apply a function to a column of bytes or strings.

    Arguments:
        column: the column.
        function: converts an array to an array.
        type_: the type of the result, from `spark_arrow`.
    """
    from pyspark.sql.functions import pandas_udf

    made: Column
    if not pa.types.is_struct(type_):
        made = pandas_udf(_values_of(function), ddl_of(type_))(column)
        return made
    made = pandas_udf(_structs_of(function), f"struct<{_FIELD}:{ddl_of(type_)}>")(column)
    return _named(made.getField(_FIELD), "decode", column)


def _values_of(function: Callable[[Any], Any]) -> Any:
    def decode(values: pd.Series) -> pd.Series:  # Spark inspects these types
        return _series(function(pa.array(values, from_pandas=True)))

    return decode


def _structs_of(function: Callable[[Any], Any]) -> Any:
    def decode(values: pd.Series) -> pd.DataFrame:
        return _ArrowFrame({_FIELD: _series(function(pa.array(values, from_pandas=True)))})

    return decode


def encoded(column: "Column | str", function: Callable[[Any], Any]) -> "Column":
    """Apply a function that returns bytes to a column.

    Arguments:
        column: the column, of any type.
        function: converts an array to an array of binary.
    """
    from pyspark.sql import functions

    def encode(texts: pd.Series, types: pd.Series) -> pd.Series:
        if not len(texts):
            return _series(pa.array([], pa.binary()))
        rows = _spark_json(types.iloc[0]).read(pa.array(texts, pa.string(), from_pandas=True))
        return _series(function(rows.field(0)))

    given = functions.col(column) if isinstance(column, str) else column
    row = functions.struct(given.alias(_FIELD))
    made: Column = functions.pandas_udf(encode, "binary")(functions.to_json(row, _JSON_OPTIONS), functions.typeof(row))
    return _named(made, "encode", column)


@functools.lru_cache(32)
def _spark_json(type_name: str) -> SparkJson:
    return SparkJson(type_name)


def _named(made: "Column", function: str, given: "Column | str") -> "Column":
    """Name the result as an Arrow UDF would if the input is a plain column; otherwise, keep Spark's name."""
    name = given if isinstance(given, str) else str(given).removeprefix("Column<'").removesuffix("'>")
    return made.alias(f"{function}({name})") if _PLAIN.fullmatch(name) else made
