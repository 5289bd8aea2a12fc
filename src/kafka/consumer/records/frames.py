"""Arrow tables as pandas data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import pyarrow


def exact_frame(table: pyarrow.Table) -> pandas.DataFrame:
    """Make a data frame in which whole numbers beside nulls are not floats, which have 53 bits only.

    Args:
        table: any.

    Returns:
        The frame; whole numbers with nulls are of pandas' nullable types, and within structs Python's.
    """
    import pyarrow as pa

    frame: pandas.DataFrame = table.to_pandas(integer_object_nulls=True)
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_integer(field.type) and column.null_count:
            nullable: Any = str(field.type).replace("uint", "UInt").replace("int", "Int", 1)
            frame[field.name] = frame[field.name].astype(nullable)
    return frame
