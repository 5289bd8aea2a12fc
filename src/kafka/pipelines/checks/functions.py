"""The names of Spark's functions, to find misspelt ones without starting Spark.

The names are read from the text of the installed PySpark, which is not imported. Functions that exist only in SQL are
known to sqlglot, or listed here.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path
from typing import Any

from sqlglot import exp

from kafka.pipelines.checks.columns import close

_DEFINITION = re.compile(r"^def ([a-z]\w*)\(", re.MULTILINE)
_SQL_ONLY = frozenset(
    [
        "bigint",
        "binary",
        "boolean",
        "cardinality",
        "char_length",
        "character_length",
        "cube",
        "date",
        "decimal",
        "div",
        "double",
        "extract",
        "float",
        "grouping",
        "grouping_id",
        "int",
        "mod",
        "now",
        "overlay",
        "posexplode_outer",
        "position",
        "smallint",
        "std",
        "string",
        "timestamp",
        "tinyint",
        "variance",
    ]
)


@functools.cache
def spark_functions() -> frozenset[str]:
    """Return the names of Spark's functions in lower case; an empty set if PySpark is not installed."""
    spec = importlib.util.find_spec("pyspark")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / "sql" / "functions" / "builtin.py"
        if path.is_file():
            return frozenset(_DEFINITION.findall(path.read_text(encoding="utf-8"))) | _SQL_ONLY
    return frozenset()


def unknown_functions(expression: Any) -> list[str]:
    """Return a text for each function in an expression that is probably misspelt.

    A function whose name is not similar to that of a function of Spark is ignored, because programs can register
    functions.
    """
    found = []
    for each in expression.find_all(exp.Anonymous):
        name = each.name.lower()
        known = spark_functions()
        if known and name and name not in known and (hint := close(name, known)):
            found.append(f"Spark has no function {each.name!r}{hint}")
    return found
