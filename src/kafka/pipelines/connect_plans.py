"""Finds out what kind of query a frame of Spark Connect is.

With Spark Connect, a program has no access to the plan, which is on the server, but only to Spark's description of it:
the tree that `DataFrame.explain` prints. This module reads the optimized plan. Unlike the analyzed one, it has common
table expressions in their places. A query with a node that this module does not know counts as stateful, which is
always correct.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STATELESS = frozenset(
    {
        "ArrowEvalPython",
        "BatchEvalPython",
        "DeserializeToObject",
        "Expand",
        "Filter",
        "Generate",
        "MapElements",
        "MapInArrow",
        "MapInPandas",
        "MapPartitions",
        "Project",
        "PythonMapInArrow",
        "Repartition",
        "RepartitionByExpression",
        "SerializeFromObject",
        "TypedFilter",
    }
)
"""Nodes with one input, whose result for a batch depends on this batch alone; `row_plans` knows more of them."""
_SOURCES = frozenset({"RelationV2", "InMemoryRelation"})
"""Nodes that read records: from Kafka, or from a persisted frame."""
_OPTIMIZED = re.compile(r"^== Optimized Logical Plan ==\n(.*?)^== Physical Plan ==", re.DOTALL | re.MULTILINE)
_NODE = re.compile(r"[\s:]*(?:[+:]- )?(\w+)")


def is_connect(spark: SparkSession) -> bool:
    """Return whether a session is one of Spark Connect, which has no JVM in this process."""
    return not hasattr(spark, "_jsparkSession")


def is_stateless(result: DataFrame) -> bool:
    """Return whether the result of a query for a batch depends on this batch alone.

    Arguments:
        result: the result, a batch frame of Spark Connect.
    """
    return describes_stateless(str(result._explain_string(mode="extended")))


def describes_stateless(text: str) -> bool:
    """Return whether an optimized plan is a chain of stateless nodes that ends in a source.

    Arguments:
        text: Spark's description of a frame, in the mode extended.
    """
    found = _OPTIMIZED.search(text)
    for line in found[1].splitlines() if found is not None else ():
        node = _NODE.match(line)
        name = node[1] if node is not None else ""
        if name in _SOURCES:
            return True
        if name not in STATELESS:
            return False
    return False
