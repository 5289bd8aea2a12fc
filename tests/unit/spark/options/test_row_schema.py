"""The columns of a write."""

import pytest

from kafka.errors import KafkaConfigurationError
from kafka.spark.options.row_schema import check_sink_schema

HEADERS = "array<struct<key:string,value:binary>>"


def test_columns_that_the_sink_does_not_know_are_ignored():
    fields = [
        ("offset", "bigint"),
        ("value", "string"),
        ("key", "binary"),
        ("partition", "int"),
        ("headers", HEADERS),
        ("timestamp", "timestamp"),
        ("topic", "string"),
    ]
    assert check_sink_schema(fields, None, timestamps=True) == (
        "value",
        "key",
        "partition",
        "headers",
        "timestamp",
        "topic",
    )
    assert check_sink_schema(fields, "t", timestamps=True) == ("value", "key", "partition", "headers", "timestamp")


def test_the_option_topic_takes_precedence_over_the_column():
    assert check_sink_schema([("value", "string"), ("topic", "int")], "t") == ("value",)


@pytest.mark.parametrize(
    ("fields", "topic", "said"),
    [
        ([("valu", "string")], "t", "requires a column 'value' .* are valu; create it"),
        ([("value", "string")], None, "requires the option 'topic' or a column 'topic'"),
        ([("value", "int")], "t", "column 'value' must be string or binary .* not int"),
        ([("value", "string"), ("key", "struct<a:int>")], "t", "column 'key' must be string or binary"),
        ([("value", "string"), ("partition", "bigint")], "t", "column 'partition' must be int"),
        ([("value", "string"), ("headers", "map<string,string>")], "t", "column 'headers' must be array"),
        ([("value", "string"), ("topic", "binary")], None, "column 'topic' must be string"),
    ],
)
def test_a_frame_that_cannot_be_written_is_rejected(fields, topic, said):
    with pytest.raises(KafkaConfigurationError, match=said):
        check_sink_schema(fields, topic)


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ({}, "(string or binary)|to_json(struct(*)) AS value"),
        ({"value": "avro"}, "(for avro), but the columns are id; |('struct(*) AS value')"),
    ],
)
def test_the_advice_for_a_frame_without_values_fits_the_format(typed, advice):
    with pytest.raises(KafkaConfigurationError) as caught:
        check_sink_schema([("id", "int")], "t", typed=typed)
    for part in advice.split("|"):
        assert part in str(caught.value)


def test_a_timestamp_column_is_written_on_request():
    fields = [("value", "binary"), ("timestamp", "timestamp")]
    assert check_sink_schema(fields, "t", timestamps=True) == ("value", "timestamp")
    assert check_sink_schema(fields, "t") == ("value",)
    assert check_sink_schema([("value", "binary"), ("timestamp", "bigint")], "t", timestamps=True) == ("value",)
