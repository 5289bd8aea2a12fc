"""The differences that `migrate` reports for a query's options."""

import pytest

from kafka.spark import migrate

BROKERS = {"kafka.bootstrap.servers": "localhost:9092"}


def said(**options: str) -> str:
    return "\n".join(migrate({**BROKERS, **options}))


def test_a_plain_read_has_few_differences():
    plain = migrate({**BROKERS, "subscribe": "t"})
    assert [each.partition(" ")[0] for each in plain] == ["A", "A", "Partitions", "A"]
    assert "snapshot" in plain[1]
    assert "recreated topic ends the query" in plain[0]


def test_rejected_options_come_first_and_are_named():
    found = migrate(
        {**BROKERS, "subscribe": "t", "startngOffsets": "earliest", "kafka.group.id": "g", "minPartitions": "x"}
    )
    assert found[0].startswith("Refused: option 'startngoffsets' is unknown to kafka_columnar; did you mean")
    assert found[0].endswith("Spark's connector ignores it.")
    assert "'minPartitions' expects a whole number" in found[1]
    assert found[2] == "Option 'kafka.group.id' has no effect: reading does not use a consumer group."


def test_an_error_about_several_options_is_reported_once():
    found = migrate({**BROKERS, "subscribe": "t", "assign": '{"t":[0]}'})
    assert sum("exactly one of the options" in each for each in found) == 1
    assert "'kafka.bootstrap.servers' is missing" in migrate({"subscribe": "t"})[0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"subscribePattern": "a.*"}, "translated from Java's regular expressions"),
        ({"subscribe": "t", "failOnDataLoss": "FALSE"}, "it leaves the checkpoint and the other topics continue"),
        ({"subscribe": "t"}, "A deleted and recreated topic ends the query"),
        ({"subscribe": "t"}, "So does a log truncated by an unclean leader election"),
        ({"subscribe": "t", "failOnDataLoss": "false"}, "by an unclean leader election from the truncated offset"),
        ({"subscribe": "t", "groupIdPrefix": "p"}, "No consumer group is used"),
        ({"subscribe": "t", "minPartitions": "4"}, "minPartitions also applies"),
        ({"subscribe": "t", "endingOffsets": "latest"}, "snapshot"),
        ({"subscribe": "t", "kafka.ssl.truststore.location": __file__}, "Key and trust stores"),
    ],
)
def test_the_differences_of_a_read(options, expected):
    assert expected in said(**options)


def test_differences_that_do_not_affect_a_read_are_omitted():
    plain = said(subscribe="t")
    for absent in (
        "regular expressions",
        "consumer group is used",
        "minPartitions also",
        "Key and trust stores",
        "failOnDataLoss=false",
    ):
        assert absent not in plain


def test_a_write_is_recognized_by_its_options():
    assert ".mode('append')" in said(topic="t")
    assert "kafka.spark.upsert" in said()
    assert "Option 'kafka.group.id' has no effect: it does not apply to writes." in said(
        topic="t", **{"kafka.group.id": "g"}
    )
    assert "'subscribe' cannot be used for a write" in "\n".join(migrate({**BROKERS, "subscribe": "t"}, writing=True))


def test_no_secret_is_shown():
    jaas = 'a.PlainLoginModule required username="u" password="hush" extra;'
    assert "hush" not in said(subscribe="t", **{"kafka.sasl.jaas.config": jaas, "kafka.sasl.mechanism": "PLAIN"})
