"""Checks of queries: sources, columns, and the columns of the result."""

from __future__ import annotations

import pyarrow as pa
import pytest

from kafka.pipelines import Pipeline, kafka_sink, kafka_source
from kafka.pipelines.checks.columns import Columns, columns_of_source
from kafka.pipelines.checks.problem import Findings, Places
from kafka.pipelines.checks.queries import check_query
from kafka.pipelines.checks.state import keeps_state

FLIGHTS = columns_of_source(
    pa.struct(
        [
            ("carrier", pa.string()),
            ("origin", pa.string()),
            ("dep_delay", pa.float64()),
            ("stops", pa.list_(pa.string())),
            ("at", pa.struct([("lat", pa.float64())])),
            ("ts", pa.timestamp("us", "UTC")),
        ]
    ),
    None,
)
CARRIERS = columns_of_source(pa.struct([("carrier", pa.string()), ("name", pa.string())]), None)


def checked(text: str, unknown: bool = False) -> tuple[list[str], Columns | None]:
    """Return the problems of a query, and the columns of its result."""
    findings = Findings(Places())
    sources: dict[str, Columns | None] = {"flights": None if unknown else FLIGHTS}
    if "carriers" in text:
        sources["carriers"] = CARRIERS
    result = check_query(findings, text, sources)
    return [str(each) for each in findings.problems], result


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("select origin, dep_delay from flights where dep_delay > 0", "origin dep_delay"),
        ("SELECT f.* FROM Flights AS f", "carrier origin dep_delay stops at ts"),
        ("select * except (stops, at) from flights", "carrier origin dep_delay ts"),
        ("from flights select origin", "origin"),
        ("select dep_delay + 1 as d, d * 2 as e from flights order by e", "d e"),
        ("select origin, count(*) as n from flights group by origin having n > 3 order by n", "origin n"),
        ("select origin o from flights group by o", "o"),
        ("select window.start, count(*) as n from flights group by window(ts, '5 minutes')", "start n"),
        ("select window(ts, '5 minutes'), count(*) as n from flights group by 1", "window n"),
        ("select f.carrier, c.name from flights f join carriers c on f.carrier = c.carrier", "carrier name"),
        ("select carrier, name from flights join carriers using (carrier)", "carrier name"),
        ("select origin from flights where carrier in (select carrier from carriers)", "origin"),
        ("select origin from flights f where exists (select 1 from carriers c where c.carrier = f.carrier)", "origin"),
        ("with t as (select origin as o from flights) select o from t where o is not null", "o"),
        ("select o from (select origin as o from flights) where o > 'a'", "o"),
        ("select origin as o from flights union all select name from carriers", "o"),
        ("select stop from flights lateral view explode(stops) t as stop", "stop"),
        ("select explode(stops) as stop from flights", "stop"),
        ("select at.lat, flights.at.lat as b, kafka.offset from flights", "lat b offset"),
        ("select transform(stops, s -> upper(s)) as u from flights", "u"),
        (
            "select * from (select *, rank() over (partition by origin order by ts) as rn from flights) where rn = 1",
            "carrier origin dep_delay stops at ts rn",
        ),
        ("select /*+ broadcast(carriers) */ name from flights join carriers using (carrier)", "name"),
    ],
)
def test_good_queries_have_no_problem(text: str, names: str) -> None:
    found, result = checked(text)
    assert found == []
    assert result is not None
    assert result.names == names.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select orgin from flights", "query: there is no column 'orgin'; did you mean 'origin'?"),
        ("select origin from flights where d > 1", "query: there is no column 'd'; the columns are carrier"),
        ("select dep_delay as d from flights where d > 1", "query: there is no column 'd'; the columns are carrier"),
        ("select at.lot from flights", "query: 'at' has no field 'lot'; did you mean 'lat'?"),
        ("with t as (select origin as o from flights) select origin from t", "query: there is no column 'origin'"),
        ("select origin from flights union all select name, carrier from carriers", "query: union needs the same"),
        ("select carrier from flights f join carriers c on f.carrier = c.carrier", "query: column 'carrier' is ambig"),
        ("select count(*) from flights", "query: warning: the column COUNT(*) has no name: add 'as NAME'"),
        ("select lenght(origin) as n from flights", "query: warning: Spark has no function 'lenght'"),
        ("select from flights", "query: expected columns after select, got none"),
        ("delete from flights", "query: expected a query that begins with select or with"),
        ("select origin from flights where", "query: not valid SQL"),
        ("select 1 as one", "sources.flights: the query does not use the source 'flights'"),
    ],
)
def test_problems_are_described(text: str, expected: str) -> None:
    found, _ = checked(text)
    assert len(found) == 1
    assert found[0].startswith(expected)


def test_an_unknown_source_is_reported_with_the_closest_name() -> None:
    found, _ = checked("select anything from flight")
    assert found == [
        "query: there is no source 'flight'; did you mean 'flights'?",
        "sources.flights: the query does not use the source 'flights': use it in the query, or remove it",
    ]


def test_columns_of_unknown_tables_are_not_judged() -> None:
    assert checked("select anything from flights", unknown=True)[0] == []
    assert checked("select origin, other from flights join main.dim.airports on true")[0] == []


def test_types_of_the_result_are_known_where_sql_defines_them() -> None:
    _, result = checked(
        "select upper(f.origin) as u, cast(dep_delay as int) as d, sum(dep_delay) as s, f.at.lat as l, ts "
        "from flights f"
    )
    assert result is not None
    assert [(each.name, each.type and each.type.sql("spark")) for each in result] == [
        ("u", "STRING"),
        ("d", "INT"),
        ("s", "DOUBLE"),
        ("l", "DOUBLE"),
        ("ts", "TIMESTAMP"),
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select a from t where b > 1", False),
        ("select explode(array(a, b)) as c from t", False),
        ("select array_distinct(array(a)), aggregate(array(a), 0, (x, y) -> x + y) as s from t", False),
        ("select a from (select a, b from t) where b = 1", False),
        ("select a, count(*) from t group by a", True),
        ("select window.start, sum(a) from t group by window(ts, '1 hour')", True),
        ("select distinct a from t", True),
        ("select count_if(a > 1) as n from t", True),
        ("select x.a from t x join t y on x.a = y.a", True),
        ("with n as (select max(a) as a from t) select a from n", True),
        ("select from from", False),
    ],
)
def test_queries_that_keep_state(query: str, expected: bool) -> None:
    pipeline = Pipeline("p", kafka={"bootstrap.servers": "localhost:9092"})
    pipeline.source(kafka_source("t", value_format="json", value_schema="a int, b int, ts timestamp"))
    pipeline.sink(kafka_sink("s"), query)
    assert keeps_state(pipeline.declaration) is expected


def test_several_sources_and_unique_rows_keep_state() -> None:
    servers = {"bootstrap.servers": "localhost:9092"}
    one = Pipeline("p", kafka=servers)
    unique = {"by": ["a"], "within": "10 minutes", "time": "ts"}
    one.source(kafka_source("t", value_format="json", value_schema="a int, ts timestamp", dedupe=unique))
    one.sink(kafka_sink("s"))
    assert keeps_state(one.declaration)
    two = Pipeline("p", kafka=servers)
    for name in ("t", "u"):
        two.source(kafka_source(name, value_format="json", value_schema="a int"))
    two.sink(kafka_sink("s"))(lambda t, u: t.union(u))
    assert keeps_state(two.declaration)
    function = Pipeline("p", kafka=servers)
    function.source(kafka_source("t", value_format="json", value_schema="a int"))
    function.sink(kafka_sink("s"))(lambda t: t)
    assert not keeps_state(function.declaration), "nobody knows without Spark"
