"""How long fetches wait, and when they are cut short."""

from __future__ import annotations

import pytest

from kafka.consumer.fetch.broker_fetcher import CHANNELS, LongPolls


def test_a_fetch_is_cut_short_once_its_answer_is_late() -> None:
    polls = LongPolls(500)
    polls.opened(0.004)
    assert polls.send(10.0, 500) == 500
    polls.answered(10.01)
    polls.send(11.0, 500)
    assert polls.cut_at() == pytest.approx(11.004)
    polls.answered(11.0001)
    polls.send(12.0, 500)
    assert polls.cut_at() == pytest.approx(12.003)


def test_a_slow_broker_gets_a_limited_extra_time() -> None:
    polls = LongPolls(500)
    polls.opened(3.0)
    polls.send(1.0, 500)
    assert polls.cut_at() == pytest.approx(1.05)


def test_polls_are_short_until_the_one_that_was_cut_short_is_over() -> None:
    polls = LongPolls(500)
    polls.send(1.0, 500)
    polls.cut()
    assert polls.channel == CHANNELS[1]
    assert polls.spare(1.1) is None
    assert polls.spare(1.5049) is None  # a broker may be a little late
    assert polls.spare(1.5051) == CHANNELS[0]
    assert polls.send(1.1, 500) == 5
    assert polls.cut_at() is None
    assert polls.send(1.4, 3) == 3
    assert polls.spare(1.6) == CHANNELS[0]
    assert polls.send(1.6, 500) == 500
    assert polls.cut_at() is not None


def test_short_polls_are_a_part_of_long_ones() -> None:
    polls = LongPolls(20_000)
    polls.send(1.0, 20_000)
    polls.cut()
    assert polls.send(1.1, 20_000) == 200


def test_the_other_connection_is_free_from_the_moment_in_which_the_poll_is_over() -> None:
    polls = LongPolls(500)
    polls.send(1.0, 500)
    polls.cut()
    over = 1.0 + 0.5 + 0.005
    assert polls.spare(over) == CHANNELS[0]
    assert polls.send(over, 500) == 500
    polls.cut()
    assert polls.channel == CHANNELS[0]
    assert polls.spare(over) is None


def test_a_short_poll_is_not_cut_short() -> None:
    polls = LongPolls(500)
    polls.send(1.0, 5)
    assert polls.cut_at() is None
    polls.send(1.0, 6)
    assert polls.cut_at() is not None


def test_opening_a_connection_takes_two_exchanges() -> None:
    polls = LongPolls(500)
    polls.opened(0.02)
    polls.send(1.0, 500)
    assert polls.cut_at() == pytest.approx(1.02)
