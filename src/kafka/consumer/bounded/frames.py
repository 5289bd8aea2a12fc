"""Bounded reads as pandas and polars data frames: required packages, and exact integer columns."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import pyarrow

_INSTALL = {
    "pyarrow": "pip install 'kafka-columnar[arrow]'",
    "pandas": "pip install pandas",
    "polars": "pip install polars",
}


def check_installed(caller: str, *packages: str) -> None:
    """Raise `ImportError`, which says what to install, before anything is read.

    Arguments:
        caller: the method, as its user calls it.
        packages: what it needs: "pyarrow", "pandas", "polars".
    """
    for name in packages:
        try:
            import_module(name)
        except ImportError as error:
            raise ImportError(f"{caller} needs {name} ({error}): {_INSTALL[name]}") from error


def exact_frame(table: pyarrow.Table) -> pandas.DataFrame:
    """Make a data frame that keeps integers in columns with nulls; floats would have only 53 bits.

    Args:
        table: any.

    Returns:
        The frame. Integers with nulls have pandas' nullable types; within structs they are Python's.
    """
    import pyarrow as pa

    frame: pandas.DataFrame = table.to_pandas(integer_object_nulls=True)
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_integer(field.type) and column.null_count:
            nullable: Any = str(field.type).replace("uint", "UInt").replace("int", "Int", 1)
            frame[field.name] = frame[field.name].astype(nullable)
    return frame
