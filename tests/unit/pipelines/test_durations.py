"""Durations: what users may write, and what Spark gets."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.errors import IllegalArgumentError
from kafka.pipelines.durations import MAX_US, UNITS_US, microseconds, shown, spark_text

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("10 minutes", 600_000_000),
        ("1 hour 30 minutes", 5_400_000_000),
        ("  INTERVAL 2 Days ", 172_800_000_000),
        ("1week", 604_800_000_000),
        ("0 seconds", 0),
        (datetime.timedelta(seconds=1.5), 1_500_000),
    ],
)
def test_durations_are_converted(given_text: str | datetime.timedelta, expected: int) -> None:
    assert microseconds("within", given_text) == expected


@pytest.mark.parametrize(
    "wrong",
    [
        *("", "soon", "10", "-1 minutes", "1 month", "1.5 hours", "10 minutes,", "1 week 100 years", "5300 weeks"),
        *(datetime.timedelta(microseconds=1), datetime.timedelta(seconds=-1), None, 5),
    ],
)
def test_what_is_no_duration_is_rejected(wrong: object) -> None:
    with pytest.raises(IllegalArgumentError, match="dedupe: within: expected a duration such as '10 minutes'"):
        microseconds("dedupe: within", wrong)  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(0, 999), st.sampled_from(sorted(UNITS_US))), min_size=1, max_size=4))
def test_parts_are_added(parts: list[tuple[int, str]]) -> None:
    text = " ".join(f"{number} {unit}{'s' * (number != 1)}" for number, unit in parts)
    total = sum(number * UNITS_US[unit] for number, unit in parts)
    assert microseconds("delay", text) == total <= MAX_US
    assert spark_text(total) == f"{total // 1_000} milliseconds"


def test_they_are_shown_like_times() -> None:
    assert shown(5_400_000_000) == "1:30:00"
