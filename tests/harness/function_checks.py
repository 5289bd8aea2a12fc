"""Checks of the functions of `kafka.spark.functions` that run with each PySpark, whatever UDFs it has."""

from __future__ import annotations

from typing import Any

from harness.function_values import (
    AVRO,
    JSON,
    ORDER,
    PROTOBUF,
    WIDER,
    avro_values,
    json_values,
    protobuf_values,
)
from kafka.formats import Avro
from kafka.schema_registry import Schema, SchemaRegistryClient
from kafka.spark import functions

BAD = b"\xff"


def check_all_types(spark: Any) -> None:
    """Values of all types, null and bad ones come to Spark's columns and back as the same bytes."""
    good = list(zip(avro_values(), protobuf_values(), json_values(), strict=True))
    rows = [
        (number, *(None if each is None else bytearray(each) for each in row))
        for number, row in enumerate([*good, (None, None, None), (BAD, BAD, BAD)])
    ]
    frame = spark.createDataFrame(rows, "n int, avro binary, proto binary, json binary")
    frame = frame.coalesce(1)  # one task, as each starts Python processes of its own
    read = frame.select(
        "*",
        functions.from_avro("avro", AVRO, errors="null").alias("a"),
        functions.from_protobuf("proto", PROTOBUF, errors="null").alias("p"),
        functions.from_json("json", JSON, errors="null").alias("j"),
    )
    # Spark has no whole numbers without a sign: those of 64 bits are decimals, which Protobuf does not write.
    written = read.select(
        "n",
        "avro",
        functions.to_avro("a", AVRO).alias("avro_again"),
        functions.to_protobuf(read["p"].dropFields("huge"), PROTOBUF).alias("proto_again"),
        functions.to_json("j").alias("json_again"),
        "a.big",
        "p.took",
        "j.at",
    )
    found = {row["n"]: row for row in written.collect()}
    assert [bytes(found[number]["avro_again"]) for number in range(3)] == avro_values()
    assert [bytes(found[number]["proto_again"]) for number in (1, 2)] == protobuf_values()[1:]
    assert b'"big":9007199254740993,' in bytes(found[0]["json_again"])
    assert b'"at":"2015-10-25T00:30:00.123456Z"' in bytes(found[0]["json_again"])
    assert [found[number]["big"] for number in range(5)] == [9_007_199_254_740_993, -(2**63), None, None, None]
    assert [found[number]["took"] is None for number in range(5)] == [False, False, True, True, True]
    for number in (3, 4):  # a null and a bad value: no struct of nulls, which would be written
        assert [found[number][f"{each}_again"] for each in ("avro", "proto", "json")] == [None, None, None]


def check_registry(spark: Any, url: str) -> None:
    """Values of two writers are read by the latest schema, and are written with its id."""
    framed = []
    with SchemaRegistryClient({"url": url}) as client:
        for text, value in ((ORDER, {"id": 1, "item": "a"}), (WIDER, {"id": 2, "item": "b", "note": "new"})):
            prefix = b"\0" + client.register_schema("checked-value", Schema(text)).to_bytes(4, "big")
            framed.append(Avro(text).encode(value, prefix=prefix))
    frame = spark.createDataFrame([(bytearray(each),) for each in framed], "value binary")
    conf = {"url": url}
    read = frame.select(functions.from_avro("value", registry=conf, subject="checked-value").alias("order"))
    written = read.select("order.*", functions.to_avro("order", registry=conf, subject="checked-value").alias("value"))
    rows = sorted(tuple(row) for row in written.collect())
    assert [row[:3] for row in rows] == [(1, "a", None), (2, "b", "new")]
    assert bytes(rows[1][3]) == framed[1]


def check_beside_sparks_connector(spark: Any, servers: str, topic: str) -> None:
    """Orders are written and read by Spark's own connector, as Avro of these functions."""
    orders = spark.range(100).selectExpr("named_struct('id', id, 'item', concat('item ', id % 10)) as value")
    kafka = {"kafka.bootstrap.servers": servers}
    orders.select(functions.to_avro("value", ORDER).alias("value")).write.format("kafka").options(
        **kafka, topic=topic
    ).save()
    read = spark.read.format("kafka").options(**kafka, subscribe=topic).load()
    items = read.select(functions.from_avro("value", ORDER).alias("order")).select("order.id", "order.item").collect()
    assert sorted(tuple(row) for row in items) == [(number, f"item {number % 10}") for number in range(100)]
