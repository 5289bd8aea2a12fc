"""Whether a query is stateless, as found in Spark's description of its plan, which is all that Spark Connect gives.

The descriptions are those of a session with a JVM, which are the same.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.topics import create_topic, new_topic_name
from kafka.pipelines import row_plans
from kafka.pipelines.connect_plans import describes_stateless
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.queries import query_of
from kafka.pipelines.source_rows import SourceRows, read_options, topic_options, visible
from kafka.pipelines.yaml_file import parse

from .spark_support import FORMAT, spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

QUERIES = {
    "select id, delay from source where delay > 0": True,
    "with late as (select * from source where delay > 0) select id, kafka.offset from late": True,
    "select id, d from source lateral view explode(array(delay)) t as d": True,
    "select /*+ repartition(3) */ * from source": True,
    "select carrier, count(*) as n from source group by carrier": False,
    "select distinct carrier from source": False,
    "select id, row_number() over (partition by carrier order by id) as n from source": False,
    "select a.id from source a join source b on a.id = b.id": False,
    "select id from source union all select id from source": False,
    "select id from source limit 3": False,
    "select id from source order by id": False,
    "select id, (select max(id) from source) as m from source": False,
}


def declared(servers: str, topic: str, query: str) -> Declaration:
    return parse(
        f"""
pipeline: described
kafka: {{bootstrap.servers: "{servers}"}}
source: {{topic: {topic}, value: {{format: json, schema: "id int, carrier string, delay double"}}}}
query: "{query}"
sink: {{topic: described}}
dead_letters: {{topic: described.dead}}
"""
    )


def test_descriptions_of_plans_tell_stateless_queries(spark: Any, embedded_broker: Any) -> None:
    servers = embedded_broker.bootstrap_servers
    topic = new_topic_name()
    create_topic(servers, topic, 1)
    explained = spark._jvm.PythonSQLUtils.explainString
    found, by_plan = {}, {}
    for query in QUERIES:
        declaration = declared(servers, topic, query)
        source = declaration.all_sources["source"]
        options = read_options(declaration, source) | topic_options(source) | {"startingOffsets": "earliest"}
        checked = SourceRows(declaration, "source").checked(spark.read.format(FORMAT).options(**options).load(), None)
        result = query_of(declaration)({"source": visible(checked)})
        found[query] = describes_stateless(explained(result._jdf.queryExecution(), "extended"))
        by_plan[query] = row_plans.is_stateless(result)
    assert found == QUERIES
    assert all(by_plan[query] for query, expected in QUERIES.items() if expected)
