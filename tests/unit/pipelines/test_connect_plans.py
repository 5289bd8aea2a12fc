"""Spark Connect: whether a described plan is stateless, and how a query in SQL is sent with its sources.

`tests/integration/spark/test_pipeline_connect_plans.py` does the same with descriptions that Spark writes.
"""

from __future__ import annotations

from typing import Any

import pytest

from kafka.pipelines.connect_plans import describes_stateless, is_connect
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.queries import query_of
from kafka.pipelines.yaml_file import parse

PLAN = """== Parsed Logical Plan ==
Aggregate [carrier]
+- Project [id]

== Analyzed Logical Plan ==
id: int
WithCTE
:- CTERelationDef 0, false
+- Project [id]

== Optimized Logical Plan ==
{}

== Physical Plan ==
*(1) Project [id#1]
+- BatchScan kafka_columnar
"""
SOURCE = "RelationV2[key#0, value#1] class org.apache.spark.sql.execution.datasources.v2.python.PythonTable"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["Project [id#1]", "+- Filter (id#1 > 5)", f"   +- {SOURCE}"], True),
        (["Project [id#1]", "+- Generate explode(ids#2), false", f"   +- {SOURCE}"], True),
        (["Project [id#1]", "+- InMemoryRelation [id#1], StorageLevel(disk, memory)", "      +- Sort [id#1]"], True),
        ([SOURCE], True),
        (["Aggregate [carrier#2], [count(1) AS n#3]", f"+- {SOURCE}"], False),
        (["Project [id#1]", "+- Aggregate [carrier#2], [count(1) AS n#3]", f"   +- {SOURCE}"], False),
        (["Join Inner, (id#1 = id#2)", f":- {SOURCE}", f"+- {SOURCE}"], False),
        (["Project [scalar-subquery#1 [] AS n#2]", ":  +- Aggregate [count(1)]", f"+- {SOURCE}"], False),
        (["GlobalLimit 5", "+- LocalLimit 5", f"   +- {SOURCE}"], False),
        (["Project [id#1]", "+- SomethingNew [id#1]", f"   +- {SOURCE}"], False),
        (["Project [a", "line of a string AS text#1]", f"+- {SOURCE}"], False),
        (["Project [id#1]", "+- LocalRelation <empty>, [id#1]"], False),
    ],
)
def test_a_plan_is_stateless_if_all_its_nodes_are_known_to_be(lines: list[str], expected: bool) -> None:
    assert describes_stateless(PLAN.format("\n".join(lines))) is expected


def test_a_description_without_an_optimized_plan_is_not_stateless() -> None:
    assert not describes_stateless("== Physical Plan ==\nProject")


class _Session:
    """A session that keeps the queries that it gets."""

    def __init__(self) -> None:
        self.given: list[tuple[str, dict[str, Any]]] = []

    def sql(self, text: str, **frames: Any) -> str:
        self.given.append((text.format(**dict.fromkeys(frames, "VIEW")), frames))
        return "result"


class _Frame:
    def __init__(self, session: Any) -> None:
        self.sparkSession = session


def declared(query: str, *sources: str) -> Declaration:
    lines = [f"  {name}: {{topic: {name}, value: {{format: json, schema: id int}}}}" for name in sources]
    text = "\n".join(lines)
    return parse(
        f"pipeline: p\nkafka: {{bootstrap.servers: x}}\nsources:\n{text}\nquery: |\n  {query}\nsink: {{topic: t}}"
    )


def test_the_sources_are_sent_with_the_query() -> None:
    session = _Session()
    frames: Any = {"flights": _Frame(session), "airports": _Frame(session)}
    query = query_of(declared("select '{id}' from flights -- all of them", "flights", "airports"))
    assert query(frames) == "result"
    ((text, given),) = session.given
    assert list(given.values()) == list(frames.values())
    assert text == (
        "with `flights` as (select * from VIEW), `airports` as (select * from VIEW) select * from (\n"
        "select '{id}' from flights -- all of them\n)"
    )


def test_a_semicolon_at_the_end_of_a_query_is_left_out() -> None:
    session = _Session()
    query_of(declared("select * from source ;", "source"))({"source": _Frame(session)})  # type: ignore[dict-item]
    assert session.given[0][0].endswith("select * from (\nselect * from source \n)")


def test_a_session_with_a_jvm_is_not_one_of_connect() -> None:
    classic: Any = type("Classic", (), {"_jsparkSession": None})()
    assert (is_connect(classic), is_connect(_Session())) == (False, True)  # type: ignore[arg-type]
