"""Limits of numbers and offsets in options, and the description of many partitions."""

import logging

import pytest

from kafka.errors import KafkaConfigurationError
from kafka.spark.options.value_parsers import AtTime, latest_on_request, time_ms, times_ms, whole
from kafka.spark.planning.data_loss import DataLoss, DataLossError
from kafka.spark.planning.lookup import name_partitions
from kafka.structs import TopicPartition

LARGEST = 2**63 - 1


@pytest.mark.parametrize(("value", "low"), [("0", 0), ("1", 1), (str(LARGEST), 0), (" 7 ", 7)])
def test_the_smallest_and_the_largest_number_are_accepted(value: str, low: int) -> None:
    assert whole("n", value, low) == int(value)


@pytest.mark.parametrize(("value", "low"), [("-1", 0), ("0", 1), (str(LARGEST + 1), 0), ("1.5", 0), ("", 0), ("x", 1)])
def test_other_values_than_numbers_in_range_are_rejected(value: str, low: int) -> None:
    with pytest.raises(KafkaConfigurationError, match=f"a whole number of at least {low}"):
        whole("n", value, low)


def test_a_time_must_not_be_before_1970() -> None:
    """The numbers -1 and -2 stand for the end and the beginning of a log."""
    assert time_ms("startingTimestamp", "0") == AtTime("startingTimestamp", 0)
    found = times_ms("startingOffsetsByTimestamp", f'{{"t":{{"0":0,"1":{LARGEST}}}}}')
    assert found.timestamps_ms == {TopicPartition("t", 0): 0, TopicPartition("t", 1): LARGEST}
    for wrong in (-3, LARGEST + 1):
        with pytest.raises(KafkaConfigurationError, match="milliseconds since 1970"):
            times_ms("startingOffsetsByTimestamp", f'{{"t":{{"0":{wrong}}}}}')


def test_a_strategy_is_one_of_two_words() -> None:
    assert (latest_on_request("s", " Error "), latest_on_request("s", "LATEST")) == (False, True)
    with pytest.raises(KafkaConfigurationError, match="'error' or 'latest'"):
        latest_on_request("s", "earliest")


def test_the_first_eight_partitions_are_named_and_the_others_counted() -> None:
    partitions = [TopicPartition("t", number) for number in range(10)]
    eight = ", ".join(f"t-{number}" for number in range(8))
    assert name_partitions(reversed(partitions[:8])) == eight
    assert name_partitions(partitions[:9]) == eight + " and 1 more"
    assert name_partitions(partitions) == eight + " and 2 more"


def test_a_loss_is_an_error_or_one_warning_each(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(DataLossError, match=r"t-0 is gone\. Some records may have been deleted.*failOnDataLoss=false"):
        DataLoss(True).report("t-0 is gone")
    loss = DataLoss(False)
    with caplog.at_level(logging.WARNING):
        for what in ("t-0 is gone", "t-1 is gone", "t-0 is gone", "t-1 is gone"):
            loss.report(what)
    lines = [record.getMessage() for record in caplog.records]
    assert [line.split(";")[0] for line in lines] == ["t-0 is gone", "t-1 is gone"]
