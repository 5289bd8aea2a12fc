"""The functions of `kafka.spark.functions` by Arrow UDFs and by the pandas UDFs that older versions of PySpark take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyspark.sql.functions as sql
import pytest
from pyspark.sql.types import IntegerType, StructField, StructType

from conftest import missing, topic_maker
from harness.function_checks import check_beside_sparks_connector
from harness.function_values import AVRO, JSON, ORDER, PROTOBUF, WIDER, avro_values, json_values, protobuf_values
from kafka.broker import EmbeddedBroker
from kafka.formats import Avro
from kafka.schema_registry import Schema, SchemaRegistryClient
from kafka.spark import functions

from .spark_support import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
needs_both = pytest.mark.skipif(not hasattr(sql, "arrow_udf"), reason="PySpark before 4.1 has no Arrow UDFs")
BAD = b"\xff"


@pytest.fixture
def by_both(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], tuple[Any, Any]]:
    """Runs something by Arrow UDFs and then by pandas UDFs, and gives both results."""

    def run(action: Callable[[], Any]) -> tuple[Any, Any]:
        by_arrow = action()
        with monkeypatch.context() as changed:
            changed.setattr(functions, "_has_arrow_udfs", lambda: False)
            return by_arrow, action()

    return run


@pytest.fixture(scope="module")
def registry() -> Iterator[str]:
    with EmbeddedBroker(registry=True) as broker:
        yield str(broker.registry_url)


def seen(frame: Any) -> Any:
    """The columns, their types and the rows of a frame; NaN is written, as it is not equal to itself."""
    return frame.columns, frame.schema.simpleString(), sorted(map(repr, frame.collect()))


def values(spark: Any) -> Any:
    """Values of Avro, Protobuf and JSON, a null and a bad one, in more partitions than rows."""
    good = list(zip(avro_values(), protobuf_values(), json_values(), strict=True))
    rows = [
        (number, *(None if each is None else bytearray(each) for each in row))
        for number, row in enumerate([*good, (None, None, None), (BAD, BAD, BAD)])
    ]
    return spark.createDataFrame(rows, "n int, avro binary, proto binary, json binary").repartition(8, "n")


@needs_both
def test_columns_of_all_types_are_read_and_written_alike(
    spark: Any, by_both: Callable[[Callable[[], Any]], tuple[Any, Any]]
) -> None:
    frame = values(spark)

    def read() -> Any:
        return frame.select(
            "n",
            functions.from_avro("avro", AVRO, errors="null").alias("a"),
            functions.from_protobuf("proto", PROTOBUF, errors="null").alias("p"),
            functions.from_json(sql.col("json"), JSON, errors="null").alias("j"),
            functions.from_avro("avro", AVRO, errors="null"),  # its name is Spark's
        )

    by_arrow, by_pandas = by_both(lambda: seen(read()))
    assert by_arrow == by_pandas
    assert sum("a=None, p=None, j=None" in row for row in by_arrow[2]) == 2

    def written() -> Any:
        return read().select(
            "n",
            functions.to_avro("a", AVRO).alias("avro"),
            functions.to_protobuf(sql.col("p").dropFields("huge"), PROTOBUF).alias("proto"),
            functions.to_json("j").alias("json"),
            functions.to_json(sql.col("n") + 1).alias("next"),
            functions.to_json("j"),  # its name is Spark's
        )

    by_arrow, by_pandas = by_both(lambda: (written().columns, sorted(written().collect(), key=lambda row: row["n"])))
    assert by_arrow == by_pandas
    found = {row["n"]: row for row in by_arrow[1]}
    assert [bytes(found[number]["avro"]) for number in range(3)] == avro_values()
    assert [found[number]["avro"] for number in (3, 4)] == [None, None]


@needs_both
def test_columns_that_are_no_structs_texts_and_frames_without_rows(
    spark: Any, by_both: Callable[[Callable[[], Any]], tuple[Any, Any]]
) -> None:
    rows = [(1, "7", '["a",null]', '{"k":1}'), (2, "x", None, "{}"), (3, None, "[]", '{"k":null}')]
    frame = spark.createDataFrame(rows, "n int, number string, list string, map string")

    def read(given: Any) -> Any:
        return given.select(
            "n",
            functions.from_json("number", "bigint", errors="null").alias("number"),
            functions.from_json("list", "array<string>").alias("list"),
            functions.from_json("map", "map<string,bigint>").alias("map"),
        )

    by_arrow, by_pandas = by_both(lambda: seen(read(frame)))
    assert by_arrow == by_pandas
    assert by_arrow[2][0] == "Row(n=1, number=7, list=['a', None], map={'k': 1})"
    empty = read(frame.where("n > 3")).select("n", functions.to_json(sql.struct("number", "map")).alias("json"))
    assert by_both(lambda: seen(empty))[1] == (["n", "json"], "struct<n:int,json:binary>", [])


@needs_both
def test_values_of_several_writers_are_read_by_the_registry(
    spark: Any, registry: str, by_both: Callable[[Callable[[], Any]], tuple[Any, Any]]
) -> None:
    framed = []
    with SchemaRegistryClient({"url": registry}) as client:
        for text, value in ((ORDER, {"id": 1, "item": "a"}), (WIDER, {"id": 2, "item": "b", "note": "new"})):
            prefix = b"\0" + client.register_schema("several-value", Schema(text)).to_bytes(4, "big")
            framed.append(bytearray(Avro(text).encode(value, prefix=prefix)))
    unknown = bytearray(b"\0\x00\x0f\xff\xff" + BAD)
    rows = [(number, each) for number, each in enumerate([*framed, None, unknown])]
    frame = spark.createDataFrame(rows, "n int, value binary")
    conf = {"url": registry}

    def read(errors: str) -> Any:
        order = functions.from_avro("value", registry=conf, subject="several-value", errors=errors)
        return frame.select("n", order.alias("order"))

    by_arrow, by_pandas = by_both(lambda: seen(read("null")))
    assert by_arrow == by_pandas
    assert [row.split("order=")[1] for row in by_arrow[2]] == [
        "Row(id=1, item='a', note=None))",
        "Row(id=2, item='b', note='new'))",
        "None)",
        "None)",
    ]

    def written() -> Any:
        orders = read("null").where("order is not null")
        return orders.select("n", functions.to_avro("order", registry=conf, subject="several-value").alias("bytes"))

    by_arrow, by_pandas = by_both(lambda: sorted((row["n"], bytes(row["bytes"])) for row in written().collect()))
    assert by_arrow == by_pandas
    assert by_arrow[1] == (1, bytes(framed[1]))


@needs_both
def test_errors_have_the_same_cause(spark: Any, by_both: Callable[[Callable[[], Any]], tuple[Any, Any]]) -> None:
    frame = spark.createDataFrame([(1, bytearray(BAD))], "n int, value binary")

    def cause(column: Callable[[], Any]) -> Callable[[], str]:
        def run() -> str:
            with pytest.raises(Exception, match="Error: ") as caught:
                frame.select(column()).collect()
            return [line for line in str(caught.value).splitlines() if line.startswith("kafka.spark.")][-1]

        return run

    for column, expected in (
        (lambda: functions.from_avro("value", ORDER), "cannot read a value as avro: "),
        (lambda: functions.from_avro("n", ORDER), "from_avro expects a column of type binary or string, got one of"),
        (lambda: functions.to_avro("n", ORDER), "column 'value' cannot be written as avro: "),
        (lambda: functions.to_json(sql.lit(float("nan"))), "JSON has no number NaN"),
    ):
        by_arrow, by_pandas = by_both(cause(column))
        assert by_arrow == by_pandas
        assert expected in by_arrow


def test_what_cannot_be_taken_over_from_spark_is_named(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_has_arrow_udfs", lambda: False)
    for expression, expected in (
        ("map(1.5D, 1)", "the type map<double,int> cannot be converted"),
        ("timestamp'-0005-01-01 00:00:00Z'", "value: expected a timestamp such as .*, got the string"),
    ):
        with pytest.raises(Exception, match=expected):
            spark.range(1).select(functions.to_json(sql.expr(expression))).collect()
    odd = StructType([StructField("v", StructType([StructField("a:int,b", IntegerType())]))])
    with pytest.raises(Exception, match="a row cannot be converted from Spark"):
        spark.createDataFrame([((None,),)], odd).select(functions.to_json("v")).collect()


def test_pandas_functions_beside_sparks_connector(
    spark: Any, monkeypatch: pytest.MonkeyPatch, embedded_broker: EmbeddedBroker
) -> None:
    if not spark.conf.get("spark.jars", ""):
        missing("Spark's own connector cannot be fetched")
    monkeypatch.setattr(functions, "_has_arrow_udfs", lambda: False)
    check_beside_sparks_connector(spark, embedded_broker.bootstrap_servers, topic_maker(embedded_broker)(2))
