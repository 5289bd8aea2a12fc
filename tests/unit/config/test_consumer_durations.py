"""Durations, parsed like `java.time.Duration.parse`, and the reset policy that contains one."""

from __future__ import annotations

import pytest

from kafka.config import parse_consumer
from kafka.config.consumer import milliseconds
from kafka.consumer.position.special_timestamps import EARLIEST, LATEST, reset_timestamp
from kafka.errors import KafkaConfigurationError

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PT1H", 3_600_000),
        ("P7D", 604_800_000),
        ("P2DT3H4M5.678S", 183_845_678),
        ("pt0.0019s", 1),
        ("PT1,5S", 1_500),
        ("PT0S", 0),
        ("PT-6H+3M", -21_420_000),
        ("-PT6H", -21_600_000),
        ("PT-0.5S", -500),
        ("+P1D", 86_400_000),
    ],
)
def test_durations_are_parsed(text: str, expected: int) -> None:
    assert milliseconds(text) == expected


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1DT", "1H", "PT1", "P1H", "P1M", "PT1H ", "PT1.5H", "P1W", "PT1S1M", "PTS"]
)
def test_other_text_is_not_a_duration(text: str) -> None:
    assert milliseconds(text) is None


def test_a_duration_policy_is_relative_to_now() -> None:
    assert reset_timestamp("by_duration:PT1H", 10_000_000) == 6_400_000
    assert reset_timestamp("by_duration:P30D", 10_000_000) == 0
    strategies = {name: reset_timestamp(name, 1) for name in ("earliest", "latest", "none")}
    assert strategies == {"earliest": EARLIEST, "latest": LATEST, "none": None}


def test_policies_ignore_case() -> None:
    given = ("BY_DURATION:pt1h", "by_duration:P1D", "Earliest", "largest")
    taken = [parse_consumer({"auto_offset_reset": each}).fetch.auto_offset_reset for each in given]
    assert taken == ["by_duration:pt1h", "by_duration:P1D", "earliest", "latest"]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("by_duration:1h", "an ISO 8601 duration after 'by_duration:', such as PT1H"),
        ("by_duration:", "an ISO 8601 duration"),
        ("by_duration", "or 'by_duration:' and a duration"),
        ("by_duration:-PT1H", "not negative"),
        ("sometimes", "one of 'latest', 'earliest', 'none'"),
        (3, "one of 'latest', 'earliest', 'none'"),
    ],
)
def test_invalid_policies_are_rejected(value: object, says: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=says) as refused:
        parse_consumer({"auto_offset_reset": value})
    assert repr(value) in str(refused.value)
